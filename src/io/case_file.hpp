#pragma once

#include <filesystem>

#include "run/cases.hpp"

namespace carom::io {

/// Problems of a file: a JSON object, an array of them, or an HDF5 file with the same names as
/// batched data sets. `kind` names what it is, or the keys tell: "lcp" (M, q), "coulomb_friction"
/// (W, q, mu, dim), "lp" (c, A, row_lower, row_upper, col_lower, col_upper, optionally sense "min"
/// or "max", offset), "qp" (P, q, A, l, u, optionally r) or "socp" (P, q, A, b and cones, a list of
/// ["zero" | "nonneg" | "second_order" or "soc", size], in HDF5 the data sets cone_kinds and
/// cone_sizes; optionally r). A bound that is absent is null, in HDF5 an infinity; one number
/// stands for all entries of a bound or of mu. Other keys (source, licence, reference answers) are
/// comments. Errors: InvalidInput naming file, problem, key, position and value, or the kind that
/// is not supported.
run::Cases read_cases(const std::filesystem::path& file);

}  // namespace carom::io
