/// Native forms of kernels (*_cuda.hpp and what they need) stand beside portable ones that do the same on the same device.
#pragma once

namespace weft {

/// Whether native forms are taken where there are some, each by itself. Benchmarks turn them off (--portable), to time both forms on one
/// device: before they make the first solver, as plans differ by it.
struct NativeForms {
  bool lines      = true; ///< line/methods, line/blocks
  bool relaxation = true; ///< line/relax
  bool sweeps     = true; ///< adi
  bool transforms = true; ///< bcr/transforms
  bool products   = true; ///< bcr/transforms: cuBLAS
  bool modes      = true; ///< bcr/modes
  bool fractions  = true; ///< bcr/shifted
  bool short_rows = true; ///< crout/elimination
  bool levels     = true; ///< boxmg
};
inline NativeForms native_forms;

} // namespace weft
