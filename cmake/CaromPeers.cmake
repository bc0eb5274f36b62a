# Other solvers of the same problems, measured next to carom where they are installed. Each found one
# becomes a target carom_peer_<name>; the others are reported as absent.
#   DART, BSD-2-Clause            libdart-dev              dart::lcpsolver::Lemke
#   Siconos, Apache-2.0           libsiconos-numerics-dev  lcp_lexicolemke
#   GLPK, GPL-3.0                 libglpk-dev              glp_simplex
#   CLP, EPL-2.0                  coinor-libclp-dev        ClpSimplex (and CoinUtils)
# Only headers and the shared library are looked for: the packages' own configuration files ask for
# every optional part of theirs.
set(CAROM_PEERS)

# carom_peer(name LIBRARY library HEADERS header...)
function(carom_peer name)
  cmake_parse_arguments(arg "" "LIBRARY" "HEADERS;SUFFIXES" ${ARGN})
  find_library(CAROM_PEER_${name}_LIBRARY ${arg_LIBRARY})
  set(folders)
  set(found ${CAROM_PEER_${name}_LIBRARY})
  foreach(header ${arg_HEADERS})
    string(MAKE_C_IDENTIFIER ${header} id)
    find_path(CAROM_PEER_${name}_${id} ${header} PATH_SUFFIXES ${arg_SUFFIXES})
    list(APPEND folders ${CAROM_PEER_${name}_${id}})
    if(NOT CAROM_PEER_${name}_${id})
      set(found FALSE)
    endif()
  endforeach()
  if(NOT found)
    message(STATUS "Peer ${name}: absent")
    return()
  endif()
  message(STATUS "Peer ${name}: ${CAROM_PEER_${name}_LIBRARY}")
  list(REMOVE_DUPLICATES folders)
  add_library(carom_peer_${name} INTERFACE)
  target_include_directories(carom_peer_${name} SYSTEM INTERFACE ${folders})
  target_link_libraries(carom_peer_${name} INTERFACE ${CAROM_PEER_${name}_LIBRARY})
  string(TOUPPER ${name} upper)
  target_compile_definitions(carom_peer_${name} INTERFACE CAROM_PEER_${upper})
  set(CAROM_PEERS ${CAROM_PEERS} carom_peer_${name} PARENT_SCOPE)
endfunction()

carom_peer(dart LIBRARY dart HEADERS dart/lcpsolver/Lemke.hpp)
carom_peer(siconos LIBRARY siconos_numerics HEADERS LCP_Solvers.h SiconosConfig.h
  SUFFIXES siconos siconos/numerics)
carom_peer(glpk LIBRARY glpk HEADERS glpk.h)
carom_peer(coinutils LIBRARY CoinUtils HEADERS CoinPackedMatrix.hpp SUFFIXES coin)
carom_peer(clp LIBRARY Clp HEADERS ClpSimplex.hpp SUFFIXES coin)
