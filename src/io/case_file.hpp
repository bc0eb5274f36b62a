#pragma once

#include <filesystem>

#include "run/cases.hpp"

namespace carom::io {

/// Reads the problems of a file: a JSON object, an array of objects, or an HDF5 file with the same
/// names as batched data sets. `kind`, or else the keys, say what it is: "lcp" (M, q),
/// "coulomb_friction" (W, q, mu, dim), "lp" (c, A, row_lower, row_upper, col_lower, col_upper,
/// optionally sense "min" or "max", offset), "qp" (P, q, A, l, u, optionally r) or "socp" (P, q, A,
/// b and cones, a list of
/// ["zero" | "nonneg" | "second_order" or "soc", size], in HDF5 the data sets cone_kinds and
/// cone_sizes; optionally r). An absent bound is null, in HDF5 infinite; one number stands for all
/// entries of a bound or of mu. source, licence and reference answers are comments. Errors:
/// InvalidInput names file, problem, key, position and value; also for unknown keys and kinds.
run::Cases read_cases(const std::filesystem::path& file);

}  // namespace carom::io
