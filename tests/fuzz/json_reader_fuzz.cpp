#include "fuzz/readers.hpp"
#include "fuzz/scratch_file.hpp"

// Any text under the name of a JSON file: problems, or a refusal that names it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const carom::fuzz::ScratchFile file(data, size);
  carom::fuzz::read_batches(file.path());
  carom::fuzz::read_or_refuse(file.path(), [&file] { (void)carom::io::read_cases(file.path()); });
  return 0;
}
