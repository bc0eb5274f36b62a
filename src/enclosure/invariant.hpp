#pragma once

#include <optional>
#include <string>

#include "enclosure/summary.hpp"

namespace carom::enclosure {

struct Invariant {
  RoundedImpact impact;
  Family family;
};

/// Words separated by blanks: "carom-enclosure 1", contacts, coordinates and their rows, the unit's
/// exponent, then in hexadecimal integers the 2 m rows with their scales, the start, the pushes,
/// the energy's rows, and every polyhedron as code, equations, rows. "carom-enclosure 2" where
/// friction is an interval, with twice as many pushes; two more with stores of impulses, which
/// follow the unit: their contacts, their coordinates' power of two and their guards.
std::string text_of(const RoundedImpact& impact, const Family& family);
/// Whether a text begins as one.
bool is_invariant(const std::string& text);
/// Nothing where the text is not of this form. Vertices are not in it and not in the answer.
std::optional<Invariant> read_invariant(const std::string& text);

}  // namespace carom::enclosure
