# Finds Kokkos. If PETSc has one it must be that very library, or there would be two runtimes in one process; else any private one will do
# that is static, so that none of its symbols meets another Kokkos (Debian's PETSc brings 3.4 along), or a shared one that WEFT_SHARED_KOKKOS
# allows. Defines WEFT_KOKKOS_SHARED.

if(WEFT_PETSC_HAS_KOKKOS)
  list(APPEND CMAKE_PREFIX_PATH ${WEFT_PETSC_PREFIX} ${PETSC_DIR} ${PETSC_DIR}/${PETSC_ARCH})
  # PETSc's pkg-config file names the folders of the packages it was configured with.
  foreach(folder ${PETSC_STATIC_LIBRARY_DIRS})
    list(APPEND CMAKE_PREFIX_PATH ${folder}/..)
  endforeach()
endif()
option(WEFT_SHARED_KOKKOS "Take a shared Kokkos that is not PETSc's, a distribution's say: where nothing else in a program brings another one" OFF)
find_package(Kokkos 4.5 QUIET)
if(NOT Kokkos_FOUND)
  if(WEFT_PETSC_HAS_KOKKOS)
    message(FATAL_ERROR "Weft: this PETSc was configured with Kokkos and its CMake package was not found: set Kokkos_ROOT to the prefix given to PETSc's --with-kokkos-dir (version 4.5 or newer).")
  endif()
  message(FATAL_ERROR "Weft: no Kokkos 4.5 or newer was found: set Kokkos_ROOT to one built static (BUILD_SHARED_LIBS=OFF, CMAKE_POSITION_INDEPENDENT_CODE=ON), or run ./weft build, which brings one.")
endif()
get_target_property(weft_kokkos_kind Kokkos::kokkoscore TYPE)
string(COMPARE EQUAL "${weft_kokkos_kind}" SHARED_LIBRARY WEFT_KOKKOS_SHARED)
if(WEFT_KOKKOS_SHARED AND NOT WEFT_PETSC_HAS_KOKKOS AND NOT WEFT_SHARED_KOKKOS)
  message(FATAL_ERROR "Weft: the Kokkos in ${Kokkos_DIR} is a shared library and this PETSc has no Kokkos of its own: set Kokkos_ROOT to a static one (BUILD_SHARED_LIBS=OFF, CMAKE_POSITION_INDEPENDENT_CODE=ON), whose symbols stay private; or, where nothing else in the program brings a Kokkos, allow this one with -DWEFT_SHARED_KOKKOS=ON.")
endif()

if(WEFT_PETSC_HAS_KOKKOS)
  # The folder of the Kokkos found must be one that this PETSc was linked with.
  get_filename_component(weft_kokkos_prefix ${Kokkos_DIR}/../../.. REALPATH)
  set(weft_petsc_folders ${WEFT_PETSC_PREFIX})
  foreach(folder ${PETSC_STATIC_LIBRARY_DIRS} ${PETSC_STATIC_INCLUDE_DIRS})
    get_filename_component(folder ${folder}/.. REALPATH)
    list(APPEND weft_petsc_folders ${folder})
  endforeach()
  if(NOT weft_kokkos_prefix IN_LIST weft_petsc_folders OR NOT WEFT_KOKKOS_SHARED)
    message(FATAL_ERROR "Weft: the Kokkos in ${Kokkos_DIR} is not the shared one that this PETSc was configured with, and two Kokkos in one process do not work: unset Kokkos_ROOT, or set it to the prefix given to PETSc's --with-kokkos-dir.")
  endif()
endif()

set(WEFT_CUDA OFF)
if(CUDA IN_LIST Kokkos_DEVICES)
  set(WEFT_CUDA ON)
  if(NOT WEFT_PETSC_HAS_KOKKOS)
    message(FATAL_ERROR "Weft: the Kokkos in ${Kokkos_DIR} has CUDA and this PETSc has no Kokkos: device kernels need a PETSc configured --with-kokkos; set Kokkos_ROOT to a host-only Kokkos otherwise.")
  endif()
  # CUDA 13 dropped signatures that Kokkos before 4.7 calls; see the header.
  if(Kokkos_VERSION VERSION_LESS 4.7)
    set(WEFT_KOKKOS_INCLUDE -include ${CMAKE_CURRENT_SOURCE_DIR}/cmake/kokkos_cuda13.h)
  endif()
  # Device code that asks std::numeric_limits: nvcc wants to be told, and a Kokkos built without Kokkos_ENABLE_CUDA_CONSTEXPR tells it nothing.
  get_target_property(weft_kokkos_options Kokkos::kokkoscore INTERFACE_COMPILE_OPTIONS)
  if(Kokkos_CXX_COMPILER_ID STREQUAL NVIDIA AND NOT weft_kokkos_options MATCHES relaxed-constexpr)
    set(WEFT_RELAXED_CONSTEXPR --expt-relaxed-constexpr)
  endif()
endif()

# What every target with kernels links: Kokkos, and what it needs from us.
add_library(weft_kokkos INTERFACE)
target_link_libraries(weft_kokkos INTERFACE Kokkos::kokkos)
target_compile_options(weft_kokkos INTERFACE $<$<COMPILE_LANGUAGE:CXX>:${WEFT_KOKKOS_INCLUDE}> $<$<COMPILE_LANGUAGE:CXX>:${WEFT_RELAXED_CONSTEXPR}>)
message(STATUS "Weft: Kokkos ${Kokkos_VERSION} in ${Kokkos_DIR} (${Kokkos_DEVICES}; shared: ${WEFT_KOKKOS_SHARED})")
