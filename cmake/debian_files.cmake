# Run by CPack before it packs the staged files: what Debian's policy asks for in addition.
foreach(part ${CPACK_COMPONENTS_ALL})
  set(stage ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${part})
  string(TOUPPER ${part} part_in_capitals)
  set(package ${CPACK_DEBIAN_${part_in_capitals}_PACKAGE_NAME})
  if(NOT EXISTS ${stage}/usr)
    message(FATAL_ERROR "no staged files in ${stage}")
  endif()
  set(doc ${stage}/usr/share/doc/${package})

  file(STRINGS ${CPACK_CAROM_SOURCE}/LICENSE lines)
  set(copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: carom\n\nFiles: *\n")
  set(text)
  foreach(line IN LISTS lines)
    if(line MATCHES "^Copyright \\(c\\) (.*)")
      string(APPEND copyright "Copyright: ${CMAKE_MATCH_1}\nLicense: BSD-3-Clause\n")
    elseif(line MATCHES "^BSD 3-Clause")
    else()
      string(APPEND text " ${line}\n")
    endif()
  endforeach()
  if(part STREQUAL "python")
    string(APPEND text "\nFiles: */cube_tosses/*\n"
      "Copyright: 2020, Dynamic Autonomy and Intelligent Robotics Lab\nLicense: BSD-3-Clause\n")
  endif()
  file(WRITE ${doc}/copyright "${copyright}${text}")

  # The date of packages that are made again is the source's.
  string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
  file(WRITE ${doc}/changelog.Debian
    "${package} (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium\n\n"
    "  * Packaged from version ${CPACK_PACKAGE_VERSION}; CHANGELOG.md of the source has what changed.\n\n"
    " -- ${CPACK_DEBIAN_PACKAGE_MAINTAINER}  ${date}\n")
  file(GLOB pages ${stage}/usr/share/man/man1/*.1)
  execute_process(COMMAND gzip -9nf ${doc}/changelog.Debian ${pages} COMMAND_ERROR_IS_FATAL ANY)

  if(EXISTS ${stage}/usr/share/zsh/site-functions)  # it is the administrator's there
    file(RENAME ${stage}/usr/share/zsh/site-functions ${stage}/usr/share/zsh/vendor-completions)
  endif()
  file(GLOB programs ${stage}/usr/bin/* ${stage}/usr/lib/*/libcarom.so.*.*.* ${stage}/usr/lib/python3/dist-packages/carom/*.so)
  if(programs)
    execute_process(COMMAND strip --strip-unneeded --remove-section=.comment --remove-section=.note ${programs}
      COMMAND_ERROR_IS_FATAL ANY)
  endif()
  file(GLOB_RECURSE archives ${stage}/usr/lib/*.a)
  if(archives)
    execute_process(COMMAND strip --strip-debug --enable-deterministic-archives ${archives}
      COMMAND_ERROR_IS_FATAL ANY)
  endif()
  execute_process(COMMAND chmod -R u=rwX,go=rX ${stage} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
