#include <dlfcn.h>

#include <algorithm>
#include <iterator>

#include "bcr/transforms/products.hpp"

namespace weft::poisson {

bool host_blas_is_fast()
{
  // What only these libraries have. The linker's search starts with what this library stands on.
  static const char *const marks[] = {"openblas_get_config", "MKL_Get_Version",       "bli_info_get_version_str", "ATL_buildinfo",
                                      "armplversion",        "nvpl_blas_get_version", "essl_get_version",         "flexiblas_get_version"};
  static const bool fast = std::any_of(std::begin(marks), std::end(marks), [](const char *name) { return dlsym(RTLD_DEFAULT, name); });
  return fast;
}

} // namespace weft::poisson
