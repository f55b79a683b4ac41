#include "bcr/modes/mode_lines.hpp"
#include "bcr/shifted/shifted_lines_host.hpp"
#include "bcr/transforms/fast_transform.hpp"

namespace weft::poisson {

template void FastTransform<HostBackend, double>::on_host(const HostBackend &, const Kernel &) const;
template class ModeLines<HostBackend, double>;
template void run_lines_on_host(const HostBackend &, const LineArguments<double> &, const OwnedArray<double, HostBackend> &);

} // namespace weft::poisson
