#include "io/case_hdf5.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "core/words.hpp"
#include "io/boxed_case.hpp"
#include "io/fields.hpp"
#include "io/hdf5_file.hpp"
#include "io/hdf5_output.hpp"
#include "io/problem_file.hpp"
#include "io/setting_attributes.hpp"

namespace carom::io {

namespace {

// Arrays by the keys of the files; null: files of this kind have none.
const char* key_of(std::string_view kind, std::string_view array) {
  struct Key {
    const char* kind;
    const char* array;
    const char* key;
  };
  static constexpr Key kKeys[] = {
      {"lcp", "matrix", "M"},
      {"lcp", "vector", "q"},
      {"boxed_lcp", "matrix", "M"},
      {"boxed_lcp", "vector", "q"},
      {"boxed_lcp", "lower", "lo"},
      {"boxed_lcp", "upper", "hi"},
      {"lp", "matrix", "A"},
      {"lp", "cost", "c"},
      {"lp", "row_lower", "row_lower"},
      {"lp", "row_upper", "row_upper"},
      {"lp", "column_lower", "col_lower"},
      {"lp", "column_upper", "col_upper"},
      {"qp", "hessian", "P"},
      {"qp", "vector", "q"},
      {"qp", "matrix", "A"},
      {"qp", "lower", "l"},
      {"qp", "upper", "u"},
      {"socp", "hessian", "P"},
      {"socp", "vector", "q"},
      {"socp", "cone_matrix", "A"},
      {"socp", "cone_vector", "b"},
  };
  for (const Key& entry : kKeys) {
    if (entry.kind == kind && entry.array == array) return entry.key;
  }
  return nullptr;
}

// What the problems of one group share.
using CaseShape = std::tuple<std::string, int, int, std::vector<std::pair<ConeKind, int>>>;

CaseShape kind_and_sizes(const run::CaseProblem& problem) {
  CaseShape shape{problem.kind, 0, 0, {}};
  auto& [kind, n, m, cones] = shape;
  if (const auto* lcp = std::get_if<run::LcpProblem>(&problem.problem)) n = lcp->order;
  if (const auto* box = std::get_if<run::BoxedLcpProblem>(&problem.problem)) {
    n = box->order;
    m = box->findex.empty() ? -box->equations : 1 + static_cast<int>(box->law);
  }
  if (const auto* coulomb = std::get_if<CoulombProblem>(&problem.problem)) {
    n = coulomb->dimension;
    m = coulomb->contacts;
  }
  if (const auto* lp = std::get_if<run::LpProblem>(&problem.problem)) {
    n = lp->columns;
    m = lp->rows;
  }
  if (const auto* qp = std::get_if<run::QpProblem>(&problem.problem)) {
    n = qp->variables;
    m = qp->rows;
    for (const Cone& cone : qp->cones) cones.emplace_back(cone.kind, cone.size);
  }
  return shape;
}

class CaseGroup {
 public:
  CaseGroup(Hdf5Writer& writer, std::string group, const run::Cases& cases,
            const run::CaseAnswers& answers, const std::vector<std::size_t>& members)
      : writer_(writer),
        group_(std::move(group)),
        cases_(cases),
        answers_(answers),
        members_(members),
        count_(members.size()) {}

  void write() const {
    const run::CaseProblem& first = cases_[members_.front()];
    writer_.group(group_);
    writer_.attribute(group_, "kind", std::string_view(first.kind));
    std::vector<std::string> names;
    std::vector<std::int64_t> places;
    for (const std::size_t i : members_) {
      names.push_back(cases_[i].name);
      places.push_back(static_cast<std::int64_t>(i));
    }
    writer_.dataset(at("index"), places, {count_});
    writer_.dataset(at("problem/name"), names);
    writer_.dataset(at("problem/kind"), std::vector<std::string>(count_, first.kind));
    if (std::holds_alternative<run::LcpProblem>(first.problem)) arrays<LcpBatch, run::LcpProblem>();
    if (std::holds_alternative<run::BoxedLcpProblem>(first.problem)) boxed_problems();
    if (std::holds_alternative<run::LpProblem>(first.problem)) linear_programs();
    if (std::holds_alternative<run::QpProblem>(first.problem)) quadratic_programs();
    if (std::holds_alternative<CoulombProblem>(first.problem)) friction_problems();
    answers();
  }

 private:
  [[nodiscard]] std::string at(std::string_view path) const {
    return fmt::format("{}/{}", group_, path);
  }

  template <class Batch, class Problem>
  void arrays() const {
    const auto& sizes = std::get<Problem>(cases_[members_.front()].problem);
    std::map<std::string, std::pair<Shape, std::vector<double>>> sets;
    for (const std::size_t i : members_) {
      const auto& problem = std::get<Problem>(cases_[i].problem);
      Batch::each_array(
          sizes,
          [&](const char* name, const Extents& extents, const auto& values) {
            const char* key = key_of(cases_[i].kind, name);
            if (key == nullptr) return;
            auto& [shape, all] = sets[key];
            shape = shape_of(extents);
            // a problem of several objectives is none of a file's
            if (std::string_view(key) == "c") shape = {count_, shape.back()};
            shape.front() = count_;
            all.insert(all.end(), values.begin(), values.end());
          },
          problem);
    }
    for (const auto& [key, set] : sets) {
      writer_.dataset(at("problem/" + key), set.second, set.first);
    }
  }

  void boxed_problems() const {
    const auto of = [this](std::size_t i) -> const run::BoxedLcpProblem& {
      return std::get<run::BoxedLcpProblem>(cases_[i].problem);
    };
    const run::BoxedLcpProblem& first = of(members_.front());
    if (first.equations > 0) return mixed_problems();
    arrays<BoxedLcpBatch, run::BoxedLcpProblem>();
    if (first.findex.empty()) return;
    std::vector<std::int32_t> index;
    std::vector<double> friction;
    for (const std::size_t i : members_) {
      index.insert(index.end(), of(i).findex.begin(), of(i).findex.end());
      friction.insert(friction.end(), of(i).friction.begin(), of(i).friction.end());
    }
    const std::uint64_t n = index.size() / count_;
    writer_.dataset(at("problem/findex"), index, {count_, n});
    writer_.dataset(at("problem/mu"), friction, {count_, n});
    writer_.dataset(at("problem/friction_law"),
                    std::vector<std::string>(count_, std::string(word_of(first.law))));
  }

  void mixed_problems() const {
    MixedBlocks all;
    std::uint64_t e = 0, k = 0;
    for (const std::size_t i : members_) {
      const MixedBlocks own = mixed_blocks(std::get<run::BoxedLcpProblem>(cases_[i].problem));
      e = own.a.size();
      k = own.b.size();
      const auto join = [](std::vector<double>& to, const std::vector<double>& from) {
        to.insert(to.end(), from.begin(), from.end());
      };
      join(all.A, own.A);
      join(all.B, own.B);
      join(all.C, own.C);
      join(all.D, own.D);
      join(all.a, own.a);
      join(all.b, own.b);
    }
    writer_.dataset(at("problem/A"), all.A, {count_, e, e});
    writer_.dataset(at("problem/B"), all.B, {count_, k, k});
    writer_.dataset(at("problem/C"), all.C, {count_, e, k});
    writer_.dataset(at("problem/D"), all.D, {count_, k, e});
    writer_.dataset(at("problem/a"), all.a, {count_, e});
    writer_.dataset(at("problem/b"), all.b, {count_, k});
  }

  void linear_programs() const {
    arrays<LpBatch, run::LpProblem>();
    std::vector<std::string> senses;
    std::vector<double> offsets;
    for (const std::size_t i : members_) {
      const auto& lp = std::get<run::LpProblem>(cases_[i].problem);
      senses.emplace_back(lp.maximise ? "max" : "min");
      offsets.push_back(lp.offset);
    }
    writer_.dataset(at("problem/sense"), senses);
    writer_.dataset(at("problem/offset"), offsets, {count_});
  }

  void quadratic_programs() const {
    arrays<QpBatch, run::QpProblem>();
    std::vector<double> offsets;
    for (const std::size_t i : members_) {
      offsets.push_back(std::get<run::QpProblem>(cases_[i].problem).offset);
    }
    writer_.dataset(at("problem/r"), offsets, {count_});
    std::vector<std::string> kinds;
    std::vector<std::int32_t> sizes;
    for (const Cone& cone : std::get<run::QpProblem>(cases_[members_.front()].problem).cones) {
      kinds.emplace_back(word_of(cone.kind));
      sizes.push_back(cone.size);
    }
    if (kinds.empty()) return;
    writer_.dataset(at("problem/cone_kinds"), kinds);
    writer_.dataset(at("problem/cone_sizes"), sizes, {sizes.size()});
  }

  void friction_problems() const {
    std::vector<std::int32_t> dimensions;
    std::vector<double> matrix;
    std::vector<double> vector;
    std::vector<double> friction;
    for (const std::size_t i : members_) {
      const auto& problem = std::get<CoulombProblem>(cases_[i].problem);
      dimensions.push_back(problem.dimension);
      matrix.insert(matrix.end(), problem.matrix.begin(), problem.matrix.end());
      vector.insert(vector.end(), problem.vector.begin(), problem.vector.end());
      friction.insert(friction.end(), problem.friction.begin(), problem.friction.end());
    }
    const std::uint64_t n = vector.size() / count_;
    writer_.dataset(at("problem/dim"), dimensions, {count_});
    writer_.dataset(at("problem/W"), matrix, {count_, n, n});
    writer_.dataset(at("problem/q"), vector, {count_, n});
    writer_.dataset(at("problem/mu"), friction, {count_, friction.size() / count_});
  }

  // One row a problem, NaN where it has none; nothing where no problem has one.
  template <class RowOf>
  void rows(const std::string& name, RowOf&& row_of) const {
    std::size_t width = 0;
    for (const std::size_t i : members_) {
      if (const std::vector<double>* row = row_of(answers_[i]))
        width = std::max(width, row->size());
    }
    if (width == 0) return;
    std::vector<double> values(count_ * width, std::nan(""));
    for (std::size_t p = 0; p < count_; ++p) {
      const std::vector<double>* row = row_of(answers_[members_[p]]);
      if (row != nullptr) {  // a shorter one ends in NaN
        std::copy(row->begin(), row->end(),
                  values.begin() + static_cast<std::ptrdiff_t>(p * width));
      }
    }
    writer_.dataset(at("answer/" + name), values, {count_, width});
  }

  void answers() const {
    std::vector<Status> status;
    for (const std::size_t i : members_) status.push_back(answers_[i].status);
    write_array(writer_, at("answer/status"), status, {count_});
    std::vector<run::Numbers> numbers;
    for (const std::size_t i : members_) numbers.push_back(answers_[i].all_numbers());
    write_columns(writer_, at("answer"), numbers);
    rows("x", [](const run::CaseAnswer& answer) { return answer.x.empty() ? nullptr : &answer.x; });
    const auto of_tree = [this](const char* name, std::vector<double> run::ProofTree::*part) {
      rows(name, [part](const run::CaseAnswer& answer) {
        return answer.tree.nodes.empty() ? nullptr : &(answer.tree.*part);
      });
    };
    of_tree("tree", &run::ProofTree::nodes);
    of_tree("leaf_farkas", &run::ProofTree::leaves);
    std::vector<double> bounds;
    bool trees = false;
    for (const std::size_t i : members_) {
      const run::ProofTree& tree = answers_[i].tree;
      trees = trees || !tree.nodes.empty();
      bounds.push_back(tree.nodes.empty() ? std::nan("") : tree.bound);
    }
    if (trees) writer_.dataset(at("answer/bound"), bounds, {count_, 1});
    const run::CaseAnswer& first = answers_[members_.front()];
    for (std::size_t k = 0; k < first.proofs.size(); ++k) {
      rows(std::string(first.proofs[k].first), [k](const run::CaseAnswer& answer) {
        return k < answer.proofs.size() && answer.proofs[k].second ? &*answer.proofs[k].second
                                                                   : nullptr;
      });
    }
  }

  Hdf5Writer& writer_;
  std::string group_;
  const run::Cases& cases_;
  const run::CaseAnswers& answers_;
  const std::vector<std::size_t>& members_;
  std::uint64_t count_;
};

}  // namespace

void write_cases_hdf5(const std::filesystem::path& file, const run::Cases& cases,
                      const run::CaseAnswers& answers, const run::CaseSettings& settings,
                      const std::string& command_line) {
  std::map<CaseShape, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < cases.size(); ++i) groups[kind_and_sizes(cases[i])].push_back(i);
  write_hdf5(file, command_line, [&](Hdf5Writer& writer) {
    write_settings(writer, "/", settings);
    writer.attribute("/", "backend", carom::to_string(settings.backend));
    writer.attribute("/", "problems", static_cast<std::int64_t>(cases.size()));
    std::size_t group = 0;
    for (const auto& [shape, members] : groups) {
      CaseGroup(writer, fmt::format("/problems_{}", group++), cases, answers, members).write();
    }
  });
}

}  // namespace carom::io
