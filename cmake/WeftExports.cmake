# weft_exports(TARGET MAP): what a shared library exports, by MAP.in of this folder, under a version of its own: programs that link it find out at
# load time when it is not the one they were linked to. Its own Kokkos, where PETSc has none, stays inside.
function(weft_exports target map)
  configure_file(${map}.in ${map} @ONLY)
  set(script ${CMAKE_CURRENT_BINARY_DIR}/${map})
  target_link_options(${target} PRIVATE LINKER:-z,defs LINKER:-z,nodelete LINKER:--exclude-libs,ALL LINKER:--version-script=${script})
  # PETSc derives the name of the load hook from what is before ".so", so versions come after it.
  set_target_properties(${target} PROPERTIES VERSION ${weft_abi} SOVERSION ${weft_abi} LINK_DEPENDS ${script} INSTALL_RPATH_USE_LINK_PATH ON)
endfunction()
