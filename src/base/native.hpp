/// Which native forms of kernels (*_cuda.hpp and what they need) this build has. CMake's WEFT_NATIVE=OFF leaves all of them out: the portable
/// ones beside them, which any other device takes, are then CUDA's too.
#pragma once
#include <Kokkos_Macros.hpp>

#if defined(KOKKOS_ENABLE_CUDA) && !defined(WEFT_PORTABLE)
#define WEFT_NATIVE_CUDA
#if defined(KOKKOS_ARCH_HOPPER) || defined(KOKKOS_ARCH_BLACKWELL)
#define WEFT_NATIVE_HOPPER // the first chips with bulk copies and clusters
#endif
#endif
