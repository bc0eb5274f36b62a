#pragma once

/// Structs of results list their scalar members once, in `each_field`, as batches list their arrays
/// (batch.hpp) and settings their members (settings.hpp): it calls
///
///     visit(field, values...)
///
/// for every member, with what there is to say of it (a Field) and the members of that name of the
/// structs given. JSON, attributes of HDF5 files, docs/reference/files.md, Python and sums over
/// parts of a run come from that list.
namespace carom {

/// How the values of two parts of a run become that of both.
enum class Merge {
  none,   ///< the same in all parts, or not a matter of parts
  sum,    ///< added
  least,  ///< the smaller one, entry by entry
  most,   ///< the larger one, entry by entry
};

/// One member of a result.
struct Field {
  const char* name;             ///< as files and Python have it; a dot: within an object
  const char* kind = "number";  ///< what stands in a JSON document: its type, or its extents
  const char* unit = "";
  const char* meaning = "";  ///< one phrase
  Merge merge = Merge::none;
};

}  // namespace carom
