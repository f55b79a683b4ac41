#include "line/ranks/block_parts.hpp"

template class weft::DistributedSolver<double, weft::BlockLineSolver<double>>;
template class weft::DistributedBlockLineSolver<double>;
template void weft::DistributedSolver<double, weft::BlockLineSolver<double>>::read(const CsrMatrix<double, std::int32_t> &, const double *,
                                                                                   const double *);
template void weft::DistributedSolver<double, weft::BlockLineSolver<double>>::read(const CsrMatrix<double, std::int64_t> &, const double *,
                                                                                   const double *);
