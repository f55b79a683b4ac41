# Builds that watch themselves, for ./weft check-faults: not for use. WEFT_SANITIZE is gcc's or clang's -fsanitize list, WEFT_COVERAGE counts
# lines. Both are told to every target of Weft, not to Kokkos and PETSc.
set(WEFT_SANITIZE "" CACHE STRING "Sanitizers to build with: address,undefined or thread")
option(WEFT_COVERAGE "Count the lines that run (gcov)" OFF)

if(WEFT_SANITIZE)
  add_compile_options(-fsanitize=${WEFT_SANITIZE} -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${WEFT_SANITIZE})
endif()
if(WEFT_COVERAGE)
  # Threads of kernels count side by side.
  add_compile_options(--coverage -fprofile-update=atomic -fprofile-abs-path)
  add_link_options(--coverage)
endif()
