#include <carom/posture.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <carom/error.hpp>

#include "core/message.hpp"
#include "core/require.hpp"
#include "models/wrenches.hpp"

namespace carom {

namespace {

constexpr double kNormalTolerance = 1e-6;

Refusal of_posture(std::int64_t index, const std::string& name) {
  return {.kind = "posture", .problem = index, .name = name};
}

/// Refuses values that do not have the shape [rows, columns] or are not finite.
class Checker {
 public:
  Checker(const Posture& posture, std::int64_t index) : whose_(of_posture(index, posture.name)) {}

  void numbers(const char* field, const std::vector<double>& values, std::size_t rows,
               std::size_t columns) const {
    require::size(field, values.size(), rows * columns, whose_);
    require::finite(field, values.data(), values.size(),
                    columns > 1 ? static_cast<std::int64_t>(columns) : 0, whose_);
  }
  void at_least_zero(const char* field, const std::vector<double>& values) const {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] < 0.0) refuse(field, i, values[i], "must be >= 0");
    }
  }
  [[noreturn]] void refuse(const char* field, std::size_t i, double value, const char* rule) const {
    require::refuse(whose_, field, require::place(static_cast<std::int64_t>(i), 0),
                    message::number(value), rule);
  }
  /// what: "length 0.5", say.
  [[noreturn]] void refuse_what_has(const char* field, std::size_t i, const std::string& what,
                                    const char* rule) const {
    Refusal refused = whose_;
    refused.relation = "has";
    require::refuse(std::move(refused), field, require::place(static_cast<std::int64_t>(i), 0),
                    what, rule);
  }
  void count(const char* field, std::int64_t value, std::int64_t low, std::int64_t high) const {
    require::between(field, value, low, high, whose_);
  }

 private:
  Refusal whose_;
};

double length_of(const double* vector, std::size_t size) {
  double sum = 0.0;
  for (std::size_t i = 0; i < size; ++i) sum += vector[i] * vector[i];
  return std::sqrt(sum);
}

void check_wrenches(const Checker& check, const char* field, const std::vector<double>& wrenches,
                    std::size_t dimension) {
  const auto size = static_cast<std::size_t>(wrench_size(static_cast<int>(dimension)));
  for (std::size_t v = 0; v * size < wrenches.size(); ++v) {
    if (!(length_of(wrenches.data() + v * size, dimension) > 0.0)) {
      check.refuse_what_has(field, v, "force 0",
                            "a centre of mass is only found where a force acts on it");
    }
  }
}

}  // namespace

void validate(const Posture& posture, std::int64_t index) {
  const Checker check(posture, index);
  check.count("dimension", posture.dimension, 2, 3);
  check.count("contacts", posture.contacts, 1, kMaxPostureContacts);
  const auto d = static_cast<std::size_t>(posture.dimension);
  const auto k = static_cast<std::size_t>(posture.contacts);
  const auto w = static_cast<std::size_t>(wrench_size(posture.dimension));
  check.numbers("position", posture.position, k, d);
  check.numbers("normal", posture.normal, k, d);
  for (std::size_t i = 0; i < k; ++i) {
    const double size = length_of(posture.normal.data() + i * d, d);
    if (!(std::abs(size - 1.0) <= kNormalTolerance)) {
      check.refuse_what_has("normal", i, "length " + message::number(size),
                            "must be a unit vector");
    }
  }
  check.numbers("friction", posture.friction, k, 1);
  check.at_least_zero("friction", posture.friction);
  if (!posture.length.empty()) {
    check.numbers("length", posture.length, k, 1);
    check.at_least_zero("length", posture.length);
    for (std::size_t i = 0; i < k && posture.dimension == 3; ++i) {
      if (posture.length[i] > 0.0) {
        check.refuse("length", i, posture.length[i], "patches are planar; must be 0 in space");
      }
    }
  }
  if (!posture.wrench.empty()) check.numbers("wrench", posture.wrench, 1, w);
  check_wrenches(check, "wrench", posture.wrench, d);
  if (!posture.wrench_vertices.empty()) {
    const std::size_t vertices = posture.wrench_vertices.size() / w;
    check.count("wrench_vertices", static_cast<std::int64_t>(vertices), 1, kMaxWrenchVertices);
    check.numbers("wrench_vertices", posture.wrench_vertices, vertices, w);
    check_wrenches(check, "wrench_vertices", posture.wrench_vertices, d);
  }
}

std::vector<double> wrench_polygon(std::span<const double> pq, double f_y) {
  return wrenches::polygon(pq, f_y);
}

std::vector<double> wrench_rectangle(double p1, double p2, double q1, double q2, double f_y) {
  return wrenches::rectangle(p1, p2, q1, q2, f_y);
}

PostureBatch make_batch(std::span<const Posture> postures) {
  PostureBatch batch;
  batch.problems = static_cast<std::int64_t>(postures.size());
  if (postures.empty()) return batch;
  const Posture& first = postures.front();
  batch.dimension = first.dimension;
  batch.contacts = first.contacts;
  const auto d = static_cast<std::size_t>(first.dimension);
  const auto w = static_cast<std::size_t>(wrench_size(first.dimension));
  const bool patches = std::any_of(postures.begin(), postures.end(), [](const Posture& posture) {
    return std::any_of(posture.length.begin(), posture.length.end(),
                       [](double length) { return length != 0.0; });
  });
  std::vector<double> position, normal, friction, length, wrench, vertices;
  for (std::size_t p = 0; p < postures.size(); ++p) {
    const Posture& posture = postures[p];
    validate(posture, static_cast<std::int64_t>(p));
    const auto same = [&](const char* field, std::size_t value, std::size_t expected) {
      if (value == expected) return;
      require::refuse(of_posture(static_cast<std::int64_t>(p), posture.name), field, {},
                      std::to_string(value) + ", but " + std::to_string(expected) + " in posture 0",
                      "a batch has one shape");
    };
    same("dimension", static_cast<std::size_t>(posture.dimension), d);
    same("contacts", static_cast<std::size_t>(posture.contacts),
         static_cast<std::size_t>(first.contacts));
    same("number of wrench_vertices", posture.wrench_vertices.size() / w,
         first.wrench_vertices.size() / w);
    const auto append = [](std::vector<double>& to, const std::vector<double>& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    append(position, posture.position);
    for (std::size_t i = 0; i < posture.normal.size(); i += d) {
      const double size = length_of(posture.normal.data() + i, d);
      for (std::size_t j = 0; j < d; ++j) normal.push_back(posture.normal[i + j] / size);
    }
    append(friction, posture.friction);
    if (patches) {
      append(length, posture.length);
      length.resize(friction.size(), 0.0);
    }
    append(wrench, posture.wrench);
    if (posture.wrench.empty()) {
      const std::size_t start = wrench.size();
      wrench.resize(start + w, 0.0);
      wrench[start + d - 1] = -1.0;
    }
    append(vertices, posture.wrench_vertices);
  }
  batch.vertices = static_cast<int>(first.wrench_vertices.size() / w);
  batch.position = Buffer<double>::from(position);
  batch.normal = Buffer<double>::from(normal);
  batch.friction = Buffer<double>::from(friction);
  batch.length = Buffer<double>::from(length);
  batch.wrench = Buffer<double>::from(wrench);
  batch.wrench_vertices = Buffer<double>::from(vertices);
  return batch;
}

}  // namespace carom
