# carom_not_compiled(BACKEND): writes generated/BACKEND_not_compiled.hpp, in which the entries of
# every family are those of a build without this backend. The families are the structs XEntries of
# the headers *backends.hpp.
function(carom_not_compiled backend)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/src
    ${PROJECT_SOURCE_DIR}/src/*backends.hpp)
  foreach(header IN LISTS headers)
    file(STRINGS ${PROJECT_SOURCE_DIR}/src/${header} entries REGEX "^struct [A-Za-z]+Entries {")
    foreach(line IN LISTS entries)
      string(REGEX REPLACE "struct ([A-Za-z]+) {" "\\1" name "${line}")
      string(APPEND functions
        "template <>\nconst ${name}& ${backend}::entries() {\n  return none<${name}>();\n}\n")
    endforeach()
    if(entries)
      string(APPEND includes "#include \"${header}\"\n")
      set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
        ${PROJECT_SOURCE_DIR}/src/${header})
    endif()
  endforeach()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/${backend}_not_compiled.hpp
    CONTENT "${includes}\nnamespace carom {\n\n${functions}\n}  // namespace carom\n" @ONLY)
endfunction()
