#include "bcr/modes/mode_lines.hpp"
#include "bcr/shifted/shifted_lines_host.hpp"
#include "bcr/transforms/fast_transform.hpp"

namespace weft::poisson {

template void FastTransform<HostBackend, float>::on_host(const HostBackend &, const Kernel &) const;
template class ModeLines<HostBackend, float>;
template void run_lines_on_host(const HostBackend &, const LineArguments<float> &, const OwnedArray<float, HostBackend> &);

} // namespace weft::poisson
