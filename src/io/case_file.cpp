#include "io/case_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <carom/error.hpp>
#include <carom/lcp.hpp>
#include <carom/lp.hpp>

#include "core/constants.hpp"
#include "core/words.hpp"
#include "io/boxed_case.hpp"
#include "io/case_sets.hpp"
#include "io/json_file.hpp"
#include "io/problem_file.hpp"

namespace carom::io {

namespace {

void require_square(const Matrix& matrix, const char* key, std::size_t order,
                    const std::string& where) {
  const int size = static_cast<int>(order);
  if (matrix.rows != size || (size > 0 && matrix.columns != size)) {
    throw InvalidInput(fmt::format("{}: {} is {} x {}: must be {} x {}, as q has {} numbers", where,
                                   key, matrix.rows, std::max(matrix.columns, 0), size, size,
                                   size));
  }
}

// A count that the file repeats must agree with the data.
void require_agreement(const nlohmann::json& object, const char* key, int actual,
                       const std::string& where) {
  if (!object.contains(key)) return;
  const int stated = read_count(object, key, where);
  if (stated != actual) {
    throw InvalidInput(
        fmt::format("{}: {} is {}, but the data say {}", where, key, stated, actual));
  }
}

// What the solvers take at most, told with the file.
void require_at_most(std::size_t count, const char* what, int most, const std::string& where) {
  if (count <= static_cast<std::size_t>(most)) return;
  throw InvalidInput(fmt::format("{}: {} {}: must be at most {}", where, what, count, most));
}

run::LcpProblem read_lcp(const nlohmann::json& object, const std::string& where) {
  run::LcpProblem problem;
  problem.vector = read_numbers(object, "q", where);
  if (problem.vector.empty()) throw InvalidInput(where + ": q is empty");
  require_at_most(problem.vector.size(), "the order, the length of q, is", kMaxLcpOrder, where);
  Matrix matrix = read_matrix(object, "M", where);
  require_square(matrix, "M", problem.vector.size(), where);
  problem.order = matrix.rows;
  require_agreement(object, "n", problem.order, where);
  problem.matrix = std::move(matrix.values);
  return problem;
}

CoulombProblem read_coulomb(const nlohmann::json& object, const std::string& where) {
  CoulombProblem problem;
  problem.dimension = read_count(object, "dim", where);
  if (problem.dimension != 2 && problem.dimension != 3) {
    throw InvalidInput(fmt::format("{}: dim is {}: must be 2 or 3", where, problem.dimension));
  }
  problem.vector = read_numbers(object, "q", where);
  const std::size_t contacts = problem.vector.size() / static_cast<std::size_t>(problem.dimension);
  problem.friction = object.contains("mu") && object["mu"].is_number()
                         ? read_numbers(object, "mu", contacts, "one per contact", where)
                         : read_numbers(object, "mu", where);
  problem.contacts = static_cast<int>(problem.friction.size());
  for (std::size_t i = 0; i < problem.friction.size(); ++i) {
    if (problem.friction[i] < 0.0) {
      throw InvalidInput(
          fmt::format("{}: mu[{}] is {}: must be >= 0", where, i, problem.friction[i]));
    }
  }
  require_agreement(object, "nc", problem.contacts, where);
  require_agreement(object, "n", static_cast<int>(problem.vector.size()), where);
  const std::size_t order = problem.friction.size() * static_cast<std::size_t>(problem.dimension);
  if (problem.vector.size() != order) {
    throw InvalidInput(fmt::format("{}: q has {} numbers: must have {}, dim x the number of mu",
                                   where, problem.vector.size(), order));
  }
  Matrix matrix = read_matrix(object, "W", where);
  require_square(matrix, "W", order, where);
  problem.matrix = std::move(matrix.values);
  return problem;
}

run::LpProblem read_lp(const nlohmann::json& object, const std::string& where) {
  run::LpProblem problem;
  problem.cost = read_numbers(object, "c", where);
  if (problem.cost.empty()) throw InvalidInput(where + ": c is empty");
  Matrix matrix = read_matrix(object, "A", where);
  require_at_most(problem.cost.size(), "the number of columns, the length of c, is", kMaxLpColumns,
                  where);
  require_at_most(static_cast<std::size_t>(matrix.rows), "the number of rows of A is", kMaxLpRows,
                  where);
  problem.rows = matrix.rows;
  problem.columns = static_cast<int>(problem.cost.size());
  if (matrix.rows > 0 && matrix.columns != problem.columns) {
    throw InvalidInput(fmt::format("{}: A has {} columns: must have {}, the length of c", where,
                                   matrix.columns, problem.columns));
  }
  require_agreement(object, "m", problem.rows, where);
  require_agreement(object, "n", problem.columns, where);
  problem.matrix = std::move(matrix.values);
  const auto bounds = [&](const char* key, int count, double absent) {
    return read_bounds(object, key, absent, static_cast<std::size_t>(count), where);
  };
  problem.row_lower = bounds("row_lower", problem.rows, -kInfinity);
  problem.row_upper = bounds("row_upper", problem.rows, kInfinity);
  // Other doors' names are understood as well.
  const auto column_bounds = [&](const char* side, double absent) {
    std::string given;
    for (const char* prefix : {"col_", "", "column_"}) {
      const std::string key = std::string(prefix) + side;
      if (!object.contains(key)) continue;
      if (!given.empty()) {
        throw InvalidInput(
            fmt::format("{}: {} and {} are both given: must be one of them", where, given, key));
      }
      given = key;
    }
    if (given.empty()) given = std::string("col_") + side;
    return bounds(given.c_str(), problem.columns, absent);
  };
  problem.column_lower = column_bounds("lower", -kInfinity);
  problem.column_upper = column_bounds("upper", kInfinity);
  if (object.contains("sense")) {
    const std::string sense = read_text(object, "sense", where);
    if (sense != "min" && sense != "max") {
      throw InvalidInput(fmt::format("{}: sense is \"{}\": must be min or max", where, sense));
    }
    problem.maximise = sense == "max";
  }
  if (object.contains("offset")) problem.offset = read_number(object, "offset", where);
  return problem;
}

void read_cones(const nlohmann::json& object, const std::string& where, run::QpProblem& problem) {
  const nlohmann::json& cones = required(object, "cones", where);
  if (!cones.is_array()) throw InvalidInput(where + ": cones must be an array");
  for (std::size_t c = 0; c < cones.size(); ++c) {
    const nlohmann::json& entry = cones[c];
    const std::string name = fmt::format("{}: cones[{}]", where, c);
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() ||
        !entry[1].is_number_integer()) {
      throw InvalidInput(fmt::format("{} is {}: must be [kind, size]", name, shown(entry)));
    }
    const std::string kind = entry[0];
    Cone cone;
    // Python's word is understood as well.
    const auto known = value_of<ConeKind>(kind == "soc" ? "second_order" : kind);
    if (!known) {
      throw InvalidInput(
          fmt::format("{} is \"{}\": must be {}", name, kind, listed<ConeKind>(" or ")));
    }
    cone.kind = *known;
    const double size = entry[1].get<double>();  // 2^64 - 1 is no std::int64_t
    if (!(size >= 1.0 && size <= kMaxQpRows)) {
      throw InvalidInput(
          fmt::format("{} has size {}: must be in 1..{}", name, entry[1].dump(), kMaxQpRows));
    }
    cone.size = entry[1].get<int>();
    problem.cones.push_back(cone);
  }
}

void require_symmetric(const std::vector<double>& matrix, int order, const std::string& where) {
  const auto size = static_cast<std::size_t>(order);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double a = matrix[i * size + j], b = matrix[j * size + i];
      if (std::abs(a - b) > 1e-9 * std::max(std::abs(a), std::abs(b))) {
        throw InvalidInput(fmt::format("{}: P[{}][{}] is {}, but P[{}][{}] is {}: must be equal",
                                       where, i, j, a, j, i, b));
      }
    }
  }
}

run::QpProblem read_qp(const nlohmann::json& object, bool with_cones, const std::string& where) {
  run::QpProblem problem;
  problem.vector = read_numbers(object, "q", where);
  if (problem.vector.empty()) throw InvalidInput(where + ": q is empty");
  require_at_most(problem.vector.size(), "the number of variables, the length of q, is",
                  kMaxQpVariables, where);
  problem.variables = static_cast<int>(problem.vector.size());
  Matrix hessian = read_matrix(object, "P", where);
  require_square(hessian, "P", problem.vector.size(), where);
  problem.hessian = std::move(hessian.values);
  require_symmetric(problem.hessian, problem.variables, where);
  Matrix matrix = read_matrix(object, "A", where);
  require_at_most(static_cast<std::size_t>(matrix.rows), "the number of rows of A is", kMaxQpRows,
                  where);
  if (matrix.rows > 0 && matrix.columns != problem.variables) {
    throw InvalidInput(fmt::format("{}: A has {} columns: must have {}, the length of q", where,
                                   matrix.columns, problem.variables));
  }
  require_agreement(object, "m", matrix.rows, where);
  require_agreement(object, "n", problem.variables, where);
  const auto require_rows = [&](const char* key, std::size_t size) {
    if (size != static_cast<std::size_t>(matrix.rows)) {
      throw InvalidInput(fmt::format("{}: {} has {} numbers: must have {}, as A has rows", where,
                                     key, size, matrix.rows));
    }
  };
  if (with_cones) {
    read_cones(object, where, problem);
    std::size_t size = 0;
    for (const Cone& cone : problem.cones) size += static_cast<std::size_t>(cone.size);
    require_rows("cones", size);
    problem.cone_vector = read_numbers(object, "b", where);
    require_rows("b", problem.cone_vector.size());
    problem.cone_matrix = std::move(matrix.values);
  } else {
    problem.rows = matrix.rows;
    const auto rows = static_cast<std::size_t>(matrix.rows);
    problem.lower = read_bounds(object, "l", -kInfinity, rows, where);
    problem.upper = read_bounds(object, "u", kInfinity, rows, where);
    problem.matrix = std::move(matrix.values);
  }
  if (object.contains("r")) problem.offset = read_number(object, "r", where);
  return problem;
}

// The keys of each kind, with the counts that files may repeat.
struct KindKeys {
  std::string_view kind;
  std::array<std::string_view, 16> keys;  ///< empty ones at the end
};
constexpr std::array<KindKeys, 8> kKindKeys = {
    {{"lcp", {"kind", "name", "M", "q", "n"}},
     {"boxed_lcp", {"kind", "name", "M", "q", "lo", "hi", "findex", "mu", "friction_law"}},
     {"mixed_lcp", {"kind", "name", "A", "B", "C", "D", "a", "b"}},
     {"affine_vi", {"kind", "name", "M", "q", "A", "l", "u", "col_lower", "col_upper"}},
     {"coulomb_friction", {"kind", "name", "dim", "W", "q", "mu", "n", "nc"}},
     {"lp",
      {"kind", "name", "c", "A", "row_lower", "row_upper", "col_lower", "col_upper", "lower",
       "upper", "column_lower", "column_upper", "sense", "offset", "m", "n"}},
     {"qp", {"kind", "name", "P", "q", "A", "l", "u", "r", "m", "n"}},
     {"socp", {"kind", "name", "P", "q", "A", "b", "cones", "r", "m", "n"}}}};
// Of an object that keeps the problem in `data`, as collections with provenance do.
constexpr std::array<std::string_view, 3> kWrapperKeys = {"kind", "name", "data"};

void require_keys_of(const nlohmann::json& object, const std::string& kind,
                     const std::string& where) {
  for (const KindKeys& entry : kKindKeys) {
    if (entry.kind != kind) continue;
    const auto end = std::find(entry.keys.begin(), entry.keys.end(), std::string_view());
    require_known_keys(object,
                       {entry.keys.data(), static_cast<std::size_t>(end - entry.keys.begin())},
                       where + ": kind " + kind);
    return;
  }
  throw InvalidInput(
      fmt::format("{}: kind \"{}\" is not supported: must be lcp, boxed_lcp, mixed_lcp, "
                  "affine_vi, coulomb_friction, lp, qp or "
                  "socp",
                  where, kind));
}

// The problem that `object` is or wraps.
nlohmann::json unwrapped(const nlohmann::json& object, std::string& where) {
  if (!object.contains("data")) return object;
  require_known_keys(object, kWrapperKeys, where);
  where += ": data";
  nlohmann::json inner = object["data"];
  if (!inner.is_object()) throw InvalidInput(where + ": must be an object");
  for (const char* key : {"kind", "name"}) {
    if (object.contains(key) && !inner.contains(key)) inner[key] = object[key];
  }
  return inner;
}

// What the keys say where there is no `kind`.
std::string kind_of(const nlohmann::json& object, const std::string& where) {
  if (object.contains("kind")) return read_text(object, "kind", where);
  if (object.contains("M")) return object.contains("lo") ? "boxed_lcp" : "lcp";
  if (object.contains("D")) return "mixed_lcp";
  if (object.contains("W")) return "coulomb_friction";
  if (object.contains("c")) return "lp";
  if (object.contains("cones")) return "socp";
  if (object.contains("P")) return "qp";
  throw InvalidInput(where +
                     ": kind is missing: must be lcp, boxed_lcp, mixed_lcp, affine_vi, "
                     "coulomb_friction, lp, qp or "
                     "socp");
}

// single: the only one in the file, whose name messages then use for it.
run::CaseProblem case_of(const nlohmann::json& given, const std::filesystem::path& file,
                         std::size_t index, bool single) {
  std::string where = file.string();
  if (!single) where += fmt::format(": problem {}", index);
  if (!given.is_object()) {
    throw InvalidInput(where + ": must be an object with the key \"kind\"");
  }
  const nlohmann::json object = unwrapped(given, where);
  run::CaseProblem result;
  result.name = single ? file.stem().string() : fmt::format("{} {}", file.stem().string(), index);
  if (object.contains("name")) {
    result.name = read_text(object, "name", where);
    if (!single) where += fmt::format(" (\"{}\")", result.name);
  }
  result.file = where;
  result.kind = kind_of(object, where);
  require_keys_of(object, result.kind, where);
  if (result.kind == "lcp") {
    result.problem = read_lcp(object, where);
  } else if (result.kind == "boxed_lcp") {
    result.problem = read_boxed_lcp(object, where);
  } else if (result.kind == "mixed_lcp") {
    result.problem = read_mixed_lcp(object, where);
  } else if (result.kind == "affine_vi") {
    result.problem = read_affine_vi(object, where);
    result.kind = "boxed_lcp";  // which it is from here on, in what is written too
  } else if (result.kind == "coulomb_friction") {
    result.problem = read_coulomb(object, where);
  } else if (result.kind == "lp") {
    result.problem = read_lp(object, where);
  } else {
    result.problem = read_qp(object, result.kind == "socp", where);
  }
  return result;
}

run::Cases cases_from_json(const std::filesystem::path& file) {
  const JsonDocument document(file);
  const nlohmann::json& root = document.root();
  run::Cases cases;
  if (!root.is_array()) {
    cases.push_back(case_of(root, file, 0, true));
    return cases;
  }
  if (root.empty()) throw InvalidInput(file.string() + ": holds no problem");
  for (std::size_t i = 0; i < root.size(); ++i) cases.push_back(case_of(root[i], file, i, false));
  return cases;
}

run::Cases cases_from_hdf5(const std::filesystem::path& file) {
  const Hdf5Reader reader(file);
  run::Cases cases;
  const auto read = [&](const CaseSets& sets) {
    for (std::size_t i = 0; i < sets.count(); ++i) {
      cases.push_back(case_of(sets.problem(i), file, i, false));
    }
  };
  if (!reader.has("/problems_0/problem")) {
    read(CaseSets(reader, file.string()));
    return cases;
  }
  // what `carom solve --output` wrote: groups of one shape, with the places of their problems
  std::vector<std::int64_t> places;
  for (int g = 0; reader.has(fmt::format("/problems_{}", g)); ++g) {
    const std::string group = fmt::format("/problems_{}", g);
    read(CaseSets(reader, file.string(), group + "/problem"));
    const std::vector<std::int64_t> own = reader.integers(group + "/index");
    places.insert(places.end(), own.begin(), own.end());
  }
  run::Cases ordered(cases.size());
  std::vector<bool> taken(cases.size(), false);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto place = i < places.size() ? static_cast<std::size_t>(places[i]) : cases.size();
    if (place >= cases.size() || taken[place]) {
      throw InvalidInput(file.string() + ": index does not number the problems");
    }
    taken[place] = true;
    ordered[place] = std::move(cases[i]);
  }
  return ordered;
}

}  // namespace

run::Cases read_cases(const std::filesystem::path& file) {
  return read_either(file, cases_from_hdf5, cases_from_json);
}

}  // namespace carom::io
