#pragma once

#include <string>

#include <carom/error.hpp>

#include "io/file_kind.hpp"

/// Names the command for a model or a file that was given to a different command.
namespace carom::cli {

/// "two_contacts is a posture: carom equilibrium two_contacts"; empty where no command knows the
/// name.
std::string right_command(const std::string& name);

/// Errors: InvalidInput naming the right command where the file holds another kind of problems;
/// what is of no known kind passes.
void require_kind(const std::string& file, io::FileKind wanted);

/// read(); where it refuses the file, the right command for it comes first.
template <class Read>
auto read_as(const std::string& file, io::FileKind wanted, Read&& read) {
  try {
    return read();
  } catch (const InvalidInput&) {
    require_kind(file, wanted);
    throw;
  }
}

}  // namespace carom::cli
