# Writes STUBS: a definition of each of carom's functions that FILES call and do not define. Mangled
# names are valid C names, and no arguments are read, because such a function only throws.
list(FILTER FILES EXCLUDE REGEX "[.]gch$")
function(symbols result)  # what nm lists of carom's with these options
  execute_process(COMMAND ${NM} -P ${ARGN} ${FILES} OUTPUT_VARIABLE lines ERROR_QUIET
    COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "\n_Z[^ ]*5carom[^ ]*" names "${lines}")
  list(REMOVE_DUPLICATES names)
  set(${result} "${names}" PARENT_SCOPE)
endfunction()
symbols(called --undefined-only)
symbols(defined --defined-only --extern-only)
list(REMOVE_ITEM called ${defined})
set(text "#include \"core/left_out.hpp\"\n\nextern \"C\" {\n")
foreach(symbol IN LISTS called)
  string(STRIP ${symbol} symbol)
  if(symbol MATCHES "^_ZT")
    message(FATAL_ERROR "${symbol} is data, of which there can be no stub: do not leave its file out")
  endif()
  string(APPEND text "void ${symbol}() { carom::left_out(\"${symbol}\"); }\n")
endforeach()
file(WRITE ${STUBS} "${text}}\n")
