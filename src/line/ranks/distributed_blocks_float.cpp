#include "line/ranks/block_parts.hpp"

template class weft::DistributedSolver<float, weft::BlockLineSolver<float>>;
template class weft::DistributedBlockLineSolver<float>;
template void weft::DistributedSolver<float, weft::BlockLineSolver<float>>::read(const CsrMatrix<float, std::int32_t> &, const float *,
                                                                                 const float *);
template void weft::DistributedSolver<float, weft::BlockLineSolver<float>>::read(const CsrMatrix<float, std::int64_t> &, const float *,
                                                                                 const float *);
