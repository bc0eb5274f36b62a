# Every dependency comes from the system where it is installed, else from a source tree under
# .deps/<name> (scripts/vendor_deps.sh fills it, for machines without network), else it is fetched.
set(CAROM_DEPS_DIR ${PROJECT_SOURCE_DIR}/.deps CACHE PATH "Source trees for what the system lacks")
option(CAROM_SYSTEM_DEPS "Look for dependencies on the system first" ON)
option(CAROM_FETCH "Download what neither the system nor CAROM_DEPS_DIR has" ON)
option(CAROM_HDF5 "Read and write HDF5 files in the carom command" ON)
include(CaromFetch)

# The library
find_package(Threads REQUIRED)
carom_header_dependency(Eigen3 TARGET Eigen3::Eigen VERSION 3.4 TREE eigen PROBE Eigen/Core
  URL https://gitlab.com/libeigen/eigen.git TAG 3.4.0)
carom_header_dependency(Boost TARGET Boost::headers VERSION 1.70 TREE boost
  PROBE boost/random/sobol.hpp
  URL https://archives.boost.io/release/1.83.0/source/boost_1_83_0.tar.bz2
  HASH SHA256=6478edfe2f3305127cffe8caf73ea0176c53769f4bf1585be237eb30798c3b8e)
carom_header_dependency(Random123 TARGET carom_random123 TREE random123 PROBE Random123/philox.h
  URL https://github.com/DEShawResearch/random123.git TAG v1.14.0)
# Inside a wheel a library next to the module would not be found.
set(tbb_shared ON)
if(CAROM_BUILD_PYTHON)
  set(tbb_shared OFF)
endif()
carom_dependency(TBB TARGET TBB::tbb TREE tbb INSTALL
  URL https://github.com/uxlfoundation/oneTBB.git TAG v2021.8.0
  OPTIONS TBB_TEST=OFF TBB_STRICT=OFF TBB_ENABLE_IPO=OFF TBBMALLOC_BUILD=OFF BUILD_SHARED_LIBS=${tbb_shared})
# What the rooms include; no public header includes any of it.
set(CAROM_PRIVATE_DEPENDENCIES Eigen3::Eigen TBB::tbb Threads::Threads Boost::headers
  carom_random123)

# The command
if(CAROM_BUILD_CLI)
  carom_header_dependency(CLI11 TARGET CLI11::CLI11 VERSION 2.1 TREE cli11 PROBE CLI/CLI.hpp
    URL https://github.com/CLIUtils/CLI11.git TAG v2.3.2)
  carom_header_dependency(fmt TARGET fmt::fmt VERSION 8 TREE fmt PROBE fmt/format.h
    DEFINE FMT_HEADER_ONLY URL https://github.com/fmtlib/fmt.git TAG 9.1.0)
  carom_header_dependency(nlohmann_json TARGET nlohmann_json::nlohmann_json VERSION 3.10
    TREE nlohmann_json PROBE nlohmann/json.hpp
    URL https://github.com/nlohmann/json.git TAG v3.11.2)
  if(CAROM_HDF5)
    enable_language(C)  # FindHDF5 looks for the C library with it
    find_package(HDF5 QUIET COMPONENTS C)
    if(NOT HDF5_FOUND)
      message(FATAL_ERROR "HDF5's C library is missing: install it (libhdf5-dev), or build the "
        "command without HDF5 files (-DCAROM_HDF5=OFF) or not at all (-DCAROM_BUILD_CLI=OFF)")
    endif()
  endif()
endif()

# Tests and benchmarks
if(CAROM_BUILD_TESTS)
  carom_dependency(GTest TARGET GTest::gtest_main TREE googletest
    URL https://github.com/google/googletest.git TAG release-1.12.1
    OPTIONS INSTALL_GTEST=OFF BUILD_GMOCK=OFF)
endif()
if(CAROM_BUILD_BENCHMARKS)
  carom_dependency(benchmark TARGET benchmark::benchmark VERSION 1.6 TREE benchmark
    URL https://github.com/google/benchmark.git TAG v1.7.1
    OPTIONS BENCHMARK_ENABLE_TESTING=OFF BENCHMARK_ENABLE_WERROR=OFF BENCHMARK_ENABLE_INSTALL=OFF)
endif()
