// Opens cuBLAS and cuSOLVER as the CUDA backend does at their first use; needs no device.
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>

#include "cuda/libraries.hpp"

namespace {

bool mapped(const char* library) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(library) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

int main() {
  try {
    const bool early = mapped("libcublas.so") || mapped("libcusolver.so");
    const std::string word = carom::cuda::libraries().cublasGetStatusName(CUBLAS_STATUS_SUCCESS);
    const bool open = mapped("libcublas.so") && mapped("libcusolver.so");
    std::printf("loaded at start: %d, after the first use: %d, %s\n", early, open, word.c_str());
    return !early && open && word == "CUBLAS_STATUS_SUCCESS" ? 0 : 1;
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}
