#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <unordered_map>
#include <vector>

#include "call.hpp"
#include "families.hpp"
#include "masses.hpp"
#include "tables.hpp"

/// Rows of a robot's contacts and limits, of which each moves few of its velocities, and the
/// problems made of them (carom/_states.py).
namespace carom::python {

namespace {

/// Row r moves `width[r]` velocities, those of dof from begin[r] on, in increasing order; value
/// [entries, 3]: of its normal and both tangents.
struct Rows {
  Buffer<std::int64_t> begin, width;
  Buffer<std::int32_t> dof;
  Buffer<double> value;

  explicit Rows(const nb::dict& given)
      : begin(borrowed<std::int64_t>(given["begin"])),
        width(borrowed<std::int64_t>(given["width"])),
        dof(borrowed<std::int32_t>(given["dof"])),
        value(borrowed<double>(given["value"])) {}

  [[nodiscard]] std::size_t size() const { return begin.size(); }

  /// Calls visit(velocity, its three values) for what row r moves.
  template <class Visit>
  void each(std::size_t r, Visit&& visit) const {
    const std::int64_t first = begin.data()[r], last = first + width.data()[r];
    for (std::int64_t k = first; k < last; ++k) {
      visit(static_cast<std::size_t>(dof.data()[k]), value.data() + 3 * k);
    }
  }
};

/// The largest of the normals' entries and of all: [rows, 2].
nb::object row_sizes(const nb::dict& given) {
  const Rows rows(given);
  std::vector<double> sizes(2 * rows.size(), 0.0);
  without_gil([&] {
    for (std::size_t r = 0; r < rows.size(); ++r) {
      double& normal = sizes[2 * r];
      double& whole = sizes[2 * r + 1];
      rows.each(r, [&](std::size_t, const double* value) {
        normal = std::max(normal, std::abs(value[0]));
        whole = std::max({whole, std::abs(value[0]), std::abs(value[1]), std::abs(value[2])});
      });
    }
  });
  return array_of(std::move(sizes), {rows.size(), 2});
}

/// Of each row J v of its state: normal and both tangents.
void row_velocity(const Rows& rows, std::size_t r, const double* v, double* moved) {
  std::fill(moved, moved + 3, 0.0);
  rows.each(r, [&](std::size_t j, const double* value) {
    for (std::size_t c = 0; c < 3; ++c) moved[c] += value[c] * v[j];
  });
}

nb::object row_velocities(const nb::dict& given, nb::handle state, nb::handle velocity,
                          std::size_t nv) {
  const Rows rows(given);
  const auto of = borrowed<std::int64_t>(state);
  const auto velocities = borrowed<double>(velocity);
  std::vector<double> moved(3 * rows.size());
  without_gil([&] {
    for (std::size_t r = 0; r < rows.size(); ++r) {
      row_velocity(rows, r, velocities.data() + nv * static_cast<std::size_t>(of.data()[r]),
                   moved.data() + 3 * r);
    }
  });
  return array_of(std::move(moved), {rows.size(), 3});
}

/// Turns the tangents, in the rows and in frame [rows, 3, 3], so that the first is the direction
/// of slip where that is faster than `least`.
void align_rows(const nb::dict& given, nb::handle frame, nb::handle state, nb::handle velocity,
                std::size_t nv, double least) {
  const Rows rows(given);
  const auto of = borrowed<std::int64_t>(state);
  const auto velocities = borrowed<double>(velocity);
  auto frames = borrowed<double>(frame), values = borrowed<double>(given["value"]);
  without_gil([&] {
    for (std::size_t r = 0; r < rows.size(); ++r) {
      double moved[3];
      row_velocity(rows, r, velocities.data() + nv * static_cast<std::size_t>(of.data()[r]), moved);
      const double size = std::sqrt(moved[1] * moved[1] + moved[2] * moved[2]);
      if (!(size > least)) continue;
      const double c = moved[1] / size, d = moved[2] / size;
      const auto turn = [&](double& first, double& second) {
        const double one = c * first + d * second;
        second = c * second - d * first;
        first = one;
      };
      double* const lines = values.data() + 3 * rows.begin.data()[r];
      for (std::int64_t k = 0; k < rows.width.data()[r]; ++k)
        turn(lines[3 * k + 1], lines[3 * k + 2]);
      double* const tangents = frames.data() + 9 * r + 3;
      for (std::size_t axis = 0; axis < 3; ++axis) turn(tangents[axis], tangents[3 + axis]);
    }
  });
}

/// What moves apart in each state: a tree's number is the least of the trees that rows and
/// equalities join it with.
class Islands {
 public:
  Islands(std::size_t states, std::size_t trees) : trees_(trees), number_(states * trees) {
    for (std::size_t i = 0; i < number_.size(); ++i)
      number_[i] = static_cast<std::int64_t>(i % trees);
  }

  /// Joins a tree that a line moves with the first that it moves; first: -1 where this is the
  /// first.
  void join(std::int64_t state, std::int64_t& first, std::int64_t tree) {
    if (first < 0) first = tree;
    std::int64_t* const mine = of(state);
    const std::int64_t a = mine[first], b = mine[tree];
    if (a != b) std::replace(mine, mine + trees_, std::max(a, b), std::min(a, b));
  }

  std::int64_t* of(std::int64_t state) {
    return number_.data() + trees_ * static_cast<std::size_t>(state);
  }

 private:
  std::size_t trees_;
  std::vector<std::int64_t> number_;
};

/// Islands of all states with rows: by state, then by their first row.
struct Pieces {
  std::vector<std::int64_t> state, end, rows;  // rows of all pieces, one piece after the other
  std::vector<std::int64_t> list;              // of each piece: which list of velocities; -1: all
  std::vector<std::int32_t> listed;            // velocities of all lists
  std::vector<std::int64_t> list_end;
  std::vector<std::int64_t> equality;  // of each equality its piece, or -1
};

class PieceMaker {
 public:
  PieceMaker(const std::int64_t* tree, std::size_t nv, std::size_t trees)
      : tree_(tree), nv_(nv), trees_(trees), piece_of_(trees) {}

  /// Rows [low, high) of a state; numbers: of the state's trees; own: of rows.
  void add_state(std::int64_t state, const std::int64_t* numbers, const std::int64_t* own,
                 std::size_t low, std::size_t high) {
    std::fill(piece_of_.begin(), piece_of_.end(), -1);
    const std::size_t first = pieces_.state.size();
    for (std::size_t r = low; r < high; ++r) {
      if (own[r] < 0) continue;
      std::int64_t& piece = piece_of_[static_cast<std::size_t>(own[r])];
      if (piece < 0) {
        piece = static_cast<std::int64_t>(pieces_.state.size());
        pieces_.state.push_back(state);
        pieces_.list.push_back(list_of(numbers, own[r]));
        pieces_.end.push_back(0);
      }
      ++pieces_.end[static_cast<std::size_t>(piece)];
    }
    auto at = static_cast<std::int64_t>(pieces_.rows.size());
    place_.clear();
    for (std::size_t k = first; k < pieces_.state.size(); ++k) {
      place_.push_back(at);
      at += pieces_.end[k];
      pieces_.end[k] = at;
    }
    pieces_.rows.resize(static_cast<std::size_t>(at));
    for (std::size_t r = low; r < high; ++r) {
      if (own[r] < 0) continue;
      const auto piece = static_cast<std::size_t>(piece_of_[static_cast<std::size_t>(own[r])]);
      pieces_.rows[static_cast<std::size_t>(place_[piece - first]++)] =
          static_cast<std::int64_t>(r);
    }
  }

  /// Of an equality of the state that was added last.
  void add_equality(std::int64_t number) {
    pieces_.equality.push_back(number < 0 ? -1 : piece_of_[static_cast<std::size_t>(number)]);
  }

  Pieces& pieces() { return pieces_; }

 private:
  std::int64_t list_of(const std::int64_t* numbers, std::int64_t own) {
    key_.assign(trees_, '\0');
    for (std::size_t t = 0; t < trees_; ++t) key_[t] = numbers[t] == own ? '\1' : '\0';
    const auto [known, fresh] =
        lists_.try_emplace(key_, static_cast<std::int64_t>(pieces_.list_end.size()));
    if (!fresh) return known->second;
    const std::size_t before = pieces_.listed.size();
    for (std::size_t j = 0; j < nv_; ++j) {
      if (key_[static_cast<std::size_t>(tree_[j])] != '\0')
        pieces_.listed.push_back(static_cast<std::int32_t>(j));
    }
    if (pieces_.listed.size() - before == nv_) {
      pieces_.listed.resize(before);
      known->second = -1;
    } else {
      pieces_.list_end.push_back(static_cast<std::int64_t>(pieces_.listed.size()));
    }
    return known->second;
  }

  const std::int64_t* tree_;
  std::size_t nv_, trees_;
  std::vector<std::int64_t> piece_of_, place_;
  std::string key_;
  std::unordered_map<std::string, std::int64_t> lists_;
  Pieces pieces_;
};

/// tree [nv]; E [equalities, nv] of owner[equality], by state as the rows. "island" [rows]: the
/// number of each row's island in its state, -1 where it moves nothing; the others: Pieces.
nb::dict islands(const nb::dict& given, nb::handle state, nb::handle tree, std::size_t states,
                 nb::handle equalities, nb::handle owner) {
  const Rows rows(given);
  const auto of = borrowed<std::int64_t>(state), tree_of = borrowed<std::int64_t>(tree),
             owners = borrowed<std::int64_t>(owner);
  const auto E = borrowed<double>(equalities);
  const std::size_t nv = tree_of.size();
  const std::int64_t* const trees = tree_of.data();
  const std::size_t count = 1 + static_cast<std::size_t>(*std::max_element(trees, trees + nv));
  std::vector<std::int64_t> own(rows.size(), -1), bound(owners.size(), -1);
  PieceMaker maker(trees, nv, count);
  without_gil([&] {
    Islands found(states, count);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      rows.each(r, [&](std::size_t j, const double* value) {
        if (value[0] != 0.0 || value[1] != 0.0 || value[2] != 0.0)
          found.join(of.data()[r], own[r], trees[j]);
      });
    }
    for (std::size_t e = 0; e < owners.size(); ++e) {
      for (std::size_t j = 0; j < nv; ++j) {
        if (E.data()[nv * e + j] != 0.0) found.join(owners.data()[e], bound[e], trees[j]);
      }
    }
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if (own[r] >= 0) own[r] = found.of(of.data()[r])[own[r]];
    }
    for (std::size_t low = 0, e = 0; low < rows.size();) {
      const std::int64_t s = of.data()[low];
      std::size_t high = low;
      while (high < rows.size() && of.data()[high] == s) ++high;
      while (e < owners.size() && owners.data()[e] < s) {
        maker.pieces().equality.push_back(-1);
        ++e;
      }
      maker.add_state(s, found.of(s), own.data(), low, high);
      for (; e < owners.size() && owners.data()[e] == s; ++e)
        maker.add_equality(bound[e] < 0 ? -1 : found.of(s)[bound[e]]);
      low = high;
    }
    maker.pieces().equality.resize(owners.size(), -1);
  });
  Pieces& pieces = maker.pieces();
  nb::dict result;
  result["island"] = array_of(std::move(own));
  result["state"] = array_of(std::move(pieces.state));
  result["end"] = array_of(std::move(pieces.end));
  result["rows"] = array_of(std::move(pieces.rows));
  result["list"] = array_of(std::move(pieces.list));
  result["listed"] = array_of(std::move(pieces.listed));
  result["list_end"] = array_of(std::move(pieces.list_end));
  result["equality"] = array_of(std::move(pieces.equality));
  return result;
}

/// The problems of n pieces with `contacts` rows each and `width` velocities, those of lists[list]
/// from list_begin[list] on, or all where list is -1. Writes what is not zero to `made`: M,
/// velocity, normal and tangent rows, and the lift to the robot's velocities where it is not None.
void fill_problems(const nb::dict& given, const nb::dict& pieces, const nb::dict& masses,
                   nb::handle velocity, std::size_t nv, std::size_t contacts, std::size_t width,
                   const nb::dict& made) {
  const Rows rows(given);
  const auto states = borrowed<std::int64_t>(pieces["state"]),
             places = borrowed<std::int64_t>(pieces["rows"]),
             lists = borrowed<std::int64_t>(pieces["list"]),
             begins = borrowed<std::int64_t>(pieces["list_begin"]);
  const auto listed = borrowed<std::int32_t>(pieces["listed"]);
  const Masses M(masses);
  const auto v = borrowed<double>(velocity);
  auto Mn = borrowed<double>(made["mass_matrix"]), vn = borrowed<double>(made["velocity"]),
       normal = borrowed<double>(made["normal_jacobian"]),
       tangent = borrowed<double>(made["tangent_jacobian"]);
  const bool with_lift = !made["lift"].is_none();
  auto lift = with_lift ? borrowed<double>(made["lift"]) : Buffer<double>{};
  const std::size_t n = states.size(), m = contacts, w = width;
  without_gil([&] {
    std::vector<std::int32_t> every(nv), column(nv, -1);
    std::iota(every.begin(), every.end(), 0);
    std::vector<double> full(nv * nv, 0.0);  // of state `filled`, where a piece has a part of it
    std::int64_t last = -2, filled = -1;
    const std::int32_t* dofs = nullptr;
    for (std::size_t i = 0; i < n; ++i) {
      const auto s = static_cast<std::size_t>(states.data()[i]);
      const std::int64_t list = lists.data()[i];
      if (list != last) {
        last = list;
        std::fill(column.begin(), column.end(), -1);
        dofs = list < 0 ? every.data() : listed.data() + begins.data()[list];
        for (std::size_t k = 0; k < w; ++k)
          column[static_cast<std::size_t>(dofs[k])] = static_cast<std::int32_t>(k);
      }
      if (list < 0) {
        M.fill(s, Mn.data() + w * w * i);
      } else if (filled != states.data()[i]) {
        filled = states.data()[i];
        M.fill(s, full.data());
      }
      for (std::size_t k = 0; k < w; ++k) {
        const auto j = static_cast<std::size_t>(dofs[k]);
        vn.data()[w * i + k] = v.data()[nv * s + j];
        if (with_lift) lift.data()[w * (nv * i + j) + k] = 1.0;
        if (list < 0) continue;
        const double* const from = full.data() + nv * j;
        double* const to = Mn.data() + w * (w * i + k);
        for (std::size_t l = 0; l < w; ++l) to[l] = from[dofs[l]];
      }
      for (std::size_t c = 0; c < m; ++c) {
        double* const lines[3] = {normal.data() + w * (m * i + c),
                                  tangent.data() + w * 2 * (m * i + c),
                                  tangent.data() + w * (2 * (m * i + c) + 1)};
        rows.each(static_cast<std::size_t>(places.data()[m * i + c]),
                  [&](std::size_t j, const double* value) {
                    if (column[j] < 0) return;  // zeros, of what the row does not move
                    for (std::size_t line = 0; line < 3; ++line)
                      lines[line][column[j]] = value[line];
                  });
      }
    }
  });
}

}  // namespace

void add_contact_rows(nb::module_& module) {
  using nb::literals::operator""_a;
  module.def("row_sizes", row_sizes, "rows"_a);
  module.def("row_velocities", row_velocities, "rows"_a, "state"_a, "velocity"_a, "nv"_a);
  module.def("align_rows", align_rows, "rows"_a, "frame"_a, "state"_a, "velocity"_a, "nv"_a,
             "least"_a);
  module.def("islands", islands, "rows"_a, "state"_a, "tree"_a, "states"_a, "equalities"_a,
             "owner"_a);
  module.def("fill_problems", fill_problems, "rows"_a, "pieces"_a, "masses"_a, "velocity"_a, "nv"_a,
             "contacts"_a, "width"_a, "made"_a);
}

}  // namespace carom::python
