# What `cmake --install` lays down: the library with its headers, CMake package, pkg-config file, weft-config, manual pages, and the examples
# with their options files. Every path in it is relative to the file that holds it, so that the folder can be moved.

set(weft_headers ${CMAKE_INSTALL_INCLUDEDIR}/weft)
set(weft_package ${CMAKE_INSTALL_LIBDIR}/cmake/weft)
set(weft_pkgconfig ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set(weft_generated ${CMAKE_BINARY_DIR}/install)

if(SKBUILD) # a wheel holds the library, and the Python around it knows what this build knows
  install(TARGETS weft LIBRARY DESTINATION lib NAMELINK_SKIP COMPONENT wheel EXCLUDE_FROM_ALL)
  configure_file(${PROJECT_SOURCE_DIR}/packaging/python/built.py.in ${weft_generated}/built.py @ONLY)
  install(FILES ${weft_generated}/built.py DESTINATION . COMPONENT wheel EXCLUDE_FROM_ALL)
endif()

install(TARGETS weft EXPORT weft LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
# Programs include the setters' headers by the class that they set, <pc/line/line.h>, wherever a type's folder is.
set(weft_public ${CMAKE_BINARY_DIR}/include)
configure_file(plugins/weft.h ${weft_public}/weft.h COPYONLY)
foreach(type adi bcr boxmg crout line)
  configure_file(plugins/${type}/${type}.h ${weft_public}/pc/${type}/${type}.h COPYONLY)
endforeach()
configure_file(plugins/adi/ksp_adi.h ${weft_public}/ksp/adi/adi.h COPYONLY)
if(TARGET weft_compact)
  install(TARGETS weft_compact EXPORT weft LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  configure_file(${CMAKE_BINARY_DIR}/examples/compact/weft_compact.h ${weft_public}/weft_compact.h COPYONLY)
endif()
install(DIRECTORY ${weft_public}/ DESTINATION ${weft_headers})
target_include_directories(weft INTERFACE $<BUILD_INTERFACE:${weft_public}> $<INSTALL_INTERFACE:${weft_headers}>)

# find_package looks for these names under Weft and weft alike.
include(CMakePackageConfigHelpers)
string(REGEX MATCH "^[0-9]+[.][0-9]+" weft_petsc_minor ${WEFT_PETSC_VERSION})
set(weft_needs_mpi ON)
if(weft_mpiuni)
  set(weft_needs_mpi OFF)
endif()
install(EXPORT weft NAMESPACE Weft:: FILE weft-targets.cmake DESTINATION ${weft_package})
configure_package_config_file(cmake/weft-config.cmake.in ${weft_generated}/weft-config.cmake INSTALL_DESTINATION ${weft_package})
write_basic_package_version_file(${weft_generated}/weft-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${weft_generated}/weft-config.cmake ${weft_generated}/weft-config-version.cmake DESTINATION ${weft_package})

file(RELATIVE_PATH weft_prefix_from_pkgconfig /${weft_pkgconfig} /)
set(weft_pkgconfig_files weft)
if(TARGET weft_compact)
  list(APPEND weft_pkgconfig_files weft-compact)
endif()
foreach(file ${weft_pkgconfig_files})
  configure_file(cmake/${file}.pc.in ${weft_generated}/${file}.pc @ONLY)
  install(FILES ${weft_generated}/${file}.pc DESTINATION ${weft_pkgconfig})
endforeach()

file(RELATIVE_PATH weft_prefix_from_bin /${CMAKE_INSTALL_BINDIR} /)
configure_file(cmake/weft-config.in ${weft_generated}/weft-config @ONLY)
install(PROGRAMS ${weft_generated}/weft-config DESTINATION ${CMAKE_INSTALL_BINDIR})
configure_file(cmake/weft-config.1.in ${weft_generated}/man1/weft-config.1 @ONLY)
install(DIRECTORY ${weft_generated}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})

# Manual pages of types and setters, from the comments above them.
if(Python3_FOUND)
  file(GLOB_RECURSE weft_commented CONFIGURE_DEPENDS plugins/*.cxx)
  if(TARGET weft_compact)
    list(APPEND weft_commented ${PROJECT_SOURCE_DIR}/examples/compact/weft_compact.cxx)
  endif()
  add_custom_command(OUTPUT ${weft_generated}/man3.done
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/man_pages.py --version ${PROJECT_VERSION} --output ${weft_generated}/man3 ${weft_commented}
    COMMAND ${CMAKE_COMMAND} -E touch ${weft_generated}/man3.done
    DEPENDS ${PROJECT_SOURCE_DIR}/scripts/man_pages.py ${weft_commented})
  add_custom_target(man ALL DEPENDS ${weft_generated}/man3.done)
  install(DIRECTORY ${weft_generated}/man3 DESTINATION ${CMAKE_INSTALL_MANDIR})
else()
  message(STATUS "Weft: no Python 3 here, so the manual pages of types and setters are not made")
endif()

# Programs that know nothing of Weft, with the options that they were measured with.
install(FILES packaging/EXAMPLES.md DESTINATION ${CMAKE_INSTALL_DATADIR}/weft/examples RENAME README.md)
foreach(example channel diffusion heat helmholtz potential weft_mm)
  install(DIRECTORY examples/${example} DESTINATION ${CMAKE_INSTALL_DATADIR}/weft/examples FILES_MATCHING PATTERN *.c PATTERN *.h PATTERN *.opts
    PATTERN *.pgm)
endforeach()
if(TARGET weft_mm)
  install(TARGETS weft_mm RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  set_target_properties(weft_mm PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  install(FILES examples/weft_mm/weft_mm.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
