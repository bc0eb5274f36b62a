#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "call.hpp"
#include "families.hpp"
#include "tables.hpp"

/// What MuJoCo has found of a state, as rows of contacts (carom/_mujoco.py). It runs after each
/// state, while the numbers are in the cache, and keeps the contacts that act only.
namespace carom::python {

namespace {

template <class T>
std::vector<T> list_of(const nb::dict& given, const char* name) {
  return copied<T>(given[name]);
}

/// A field of MuJoCo's contacts: where it is in one of them.
struct Field {
  std::size_t place, size;
};

class ContactTaker {
 public:
  /// data: views of one MjData, com [bodies, 3], cdof [nv, 6] and, or None, mass; model: what
  /// follows from the model; fields: name to place and size in a contact of `stride` bytes.
  ContactTaker(const nb::dict& data, const nb::dict& model, const nb::dict& fields,
               std::size_t stride, double activation, double time_to_contact, nb::object qvel,
               nb::object masses)
      : data_(data),
        qvel_(std::move(qvel)),
        masses_(std::move(masses)),
        com_(borrowed<double>(data["com"])),
        axes_(borrowed<double>(data["cdof"])),
        velocities_(borrowed<double>(qvel_)),
        all_masses_(borrowed<double>(masses_)),
        root_(list_of<std::int64_t>(model, "root")),
        body_of_(list_of<std::int64_t>(model, "body_of")),
        skipped_(list_of<std::int64_t>(model, "skipped")),
        stride_(stride),
        activation_(activation),
        time_(time_to_contact) {
    const std::vector<std::uint8_t> above = list_of<std::uint8_t>(model, "above");
    const std::size_t bodies = root_.size();
    nv_ = above.size() / bodies;
    chain_.resize(bodies);
    for (std::size_t i = 0; i < above.size(); ++i) {
      if (above[i] != 0) chain_[i / nv_].push_back(static_cast<std::int32_t>(i % nv_));
    }
    if (!data["mass"].is_none()) mass_ = borrowed<double>(data["mass"]);
    for (const auto [key, value] : fields) {
      const auto pair = nb::cast<nb::tuple>(value);
      names_.push_back(nb::cast<std::string>(key));
      fields_.push_back({nb::cast<std::size_t>(pair[0]), nb::cast<std::size_t>(pair[1])});
    }
    kept_.resize(fields_.size());
    dist_ = place_of("dist");
    pos_ = place_of("pos");
    frame_ = place_of("frame");
    geom_ = place_of("geom");
    exclude_ = place_of("exclude");
    twist_.resize(6 * bodies);
    known_.assign(bodies, -1);
  }

  /// Takes the mass matrix and the contacts of a state: `count` of them, at this address.
  void take(std::int64_t state, std::size_t address, std::size_t count) {
    without_gil([&] {
      take_mass(state);
      const auto* contact = reinterpret_cast<const unsigned char*>(address);
      for (std::size_t i = 0; i < count; ++i, contact += stride_) take_contact(state, contact);
    });
  }

  /// Takes a state's equalities, the first `count` of the constraints' rows J and numbers.
  void take_equalities(std::int64_t state, std::size_t count, nb::handle J, nb::handle number) {
    const auto lines = borrowed<double>(J);
    const auto numbers = borrowed<std::int32_t>(number);
    equality_.insert(equality_.end(), lines.data(), lines.data() + count * nv_);
    equality_id_.insert(equality_id_.end(), numbers.data(), numbers.data() + count);
    equality_state_.insert(equality_state_.end(), count, state);
  }

  /// All rows, by state; fields as bytes.
  nb::dict found() {
    nb::dict result;
    for (std::size_t f = 0; f < fields_.size(); ++f) {
      result[names_[f].c_str()] = array_of(std::move(kept_[f]));
    }
    result["state"] = array_of(std::move(states_));
    result["begin"] = array_of(std::move(begin_));
    result["width"] = array_of(std::move(width_));
    result["dof"] = array_of(std::move(dof_));
    const std::size_t entries = value_.size() / 3;
    result["value"] = array_of(std::move(value_), {entries, 3});
    result["flexes"] = array_of(std::move(flexes_));
    const std::size_t equalities = equality_id_.size();
    result["equality"] = array_of(std::move(equality_), {equalities, nv_});
    result["equality_id"] = array_of(std::move(equality_id_));
    result["equality_state"] = array_of(std::move(equality_state_));
    return result;
  }

 private:
  [[nodiscard]] std::size_t place_of(const char* name) const {
    const auto at = std::find(names_.begin(), names_.end(), name);
    return fields_[static_cast<std::size_t>(at - names_.begin())].place;
  }

  template <class T, std::size_t n>
  static std::array<T, n> read(const unsigned char* contact, std::size_t place) {
    std::array<T, n> values;
    std::memcpy(values.data(), contact + place, sizeof(values));
    return values;
  }

  void take_mass(std::int64_t state) {
    const std::size_t count = mass_.size();
    std::copy_n(mass_.data(), count, all_masses_.data() + count * static_cast<std::size_t>(state));
  }

  void take_contact(std::int64_t state, const unsigned char* contact) {
    const auto exclude = read<std::int32_t, 1>(contact, exclude_)[0];
    if (exclude == 2 || exclude == 3) return;  // 1, within the gap: a body that touches has it
    const double dist = read<double, 1>(contact, dist_)[0];
    const auto geom = read<std::int32_t, 2>(contact, geom_);
    if (geom[0] < 0 || geom[1] < 0) {
      if (dist <= activation_) flexes_.push_back(state);
      return;
    }
    if (time_ == 0.0 && dist > activation_) return;
    const auto pair =
        static_cast<std::int64_t>(geom[0]) * static_cast<std::int64_t>(body_of_.size()) + geom[1];
    if (std::binary_search(skipped_.begin(), skipped_.end(), pair)) return;
    const auto first = static_cast<std::size_t>(body_of_[static_cast<std::size_t>(geom[0])]),
               second = static_cast<std::size_t>(body_of_[static_cast<std::size_t>(geom[1])]);
    const auto pos = read<double, 3>(contact, pos_);
    const auto frame = read<double, 9>(contact, frame_);
    if (dist > activation_) {
      const double rate = speed(state, second, pos, frame) - speed(state, first, pos, frame);
      if (!(dist < -rate * time_)) return;
    }
    for (std::size_t f = 0; f < fields_.size(); ++f) {
      const unsigned char* const from = contact + fields_[f].place;
      kept_[f].insert(kept_[f].end(), from, from + fields_[f].size);
    }
    states_.push_back(state);
    begin_.push_back(static_cast<std::int64_t>(dof_.size()));
    add_lines(first, second, pos, frame);
    width_.push_back(static_cast<std::int64_t>(dof_.size()) - begin_.back());
  }

  [[nodiscard]] std::array<double, 3> away(std::size_t body,
                                           const std::array<double, 3>& pos) const {
    const double* const com = com_.data() + 3 * root_[body];
    return {pos[0] - com[0], pos[1] - com[1], pos[2] - com[2]};
  }

  /// Of a body's point along the normal.
  double speed(std::int64_t state, std::size_t body, const std::array<double, 3>& pos,
               const std::array<double, 9>& frame) {
    double* const twist = twist_.data() + 6 * body;
    if (known_[body] != state) {
      known_[body] = state;
      std::fill(twist, twist + 6, 0.0);
      const double* const v = velocities_.data() + static_cast<std::size_t>(state) * nv_;
      for (const std::int32_t j : chain_[body]) {
        const double* const axis = axes_.data() + 6 * j;
        for (std::size_t c = 0; c < 6; ++c) twist[c] += axis[c] * v[j];
      }
    }
    return along(frame.data(), moved(twist, away(body, pos)));
  }

  static double along(const double* line, const std::array<double, 3>& m) {
    return line[0] * m[0] + line[1] * m[1] + line[2] * m[2];
  }

  /// The velocity of a point of what turns and moves like this.
  static std::array<double, 3> moved(const double* twist, const std::array<double, 3>& away) {
    std::array<double, 3> m;
    for (std::size_t c = 0; c < 3; ++c) {
      const std::size_t d = (c + 1) % 3, e = (c + 2) % 3;
      m[c] = twist[3 + c] + (twist[d] * away[e] - twist[e] * away[d]);
    }
    return m;
  }

  /// The contact's lines: of the second body's point less the first's, in the frame.
  void add_lines(std::size_t first, std::size_t second, const std::array<double, 3>& pos,
                 const std::array<double, 9>& frame) {
    const std::vector<std::int32_t>&a = chain_[first], &b = chain_[second];
    const auto away_a = away(first, pos), away_b = away(second, pos);
    for (std::size_t i = 0, k = 0; i < a.size() || k < b.size();) {
      const std::int32_t j = k == b.size() || (i < a.size() && a[i] < b[k]) ? a[i] : b[k];
      std::array<double, 3> m{};
      if (k < b.size() && b[k] == j) {
        m = moved(axes_.data() + 6 * j, away_b);
        ++k;
      }
      if (i < a.size() && a[i] == j) {
        const auto other = moved(axes_.data() + 6 * j, away_a);
        for (std::size_t c = 0; c < 3; ++c) m[c] -= other[c];
        ++i;
      }
      dof_.push_back(j);
      for (std::size_t c = 0; c < 3; ++c) value_.push_back(along(frame.data() + 3 * c, m));
    }
  }

  nb::dict data_;  // kept while it is read
  nb::object qvel_, masses_;
  Buffer<double> com_, axes_, mass_, velocities_, all_masses_;
  std::vector<std::int64_t> root_, body_of_, skipped_;
  std::vector<std::vector<std::int32_t>> chain_;  // of bodies: what moves them
  std::size_t stride_, nv_ = 0;
  double activation_, time_;
  std::vector<std::string> names_;
  std::vector<Field> fields_;
  std::size_t dist_ = 0, pos_ = 0, frame_ = 0, geom_ = 0, exclude_ = 0;
  std::vector<double> twist_;  // of bodies, in the state known_
  std::vector<std::int64_t> known_;
  std::vector<std::vector<std::uint8_t>> kept_;
  std::vector<std::int64_t> states_, begin_, width_, flexes_, equality_state_;
  std::vector<std::int32_t> dof_, equality_id_;
  std::vector<double> value_, equality_;
};

}  // namespace

void add_contact_taker(nb::module_& module) {
  using nb::literals::operator""_a;
  nb::class_<ContactTaker>(module, "ContactTaker")
      .def(nb::init<const nb::dict&, const nb::dict&, const nb::dict&, std::size_t, double, double,
                    nb::object, nb::object>(),
           "data"_a, "model"_a, "fields"_a, "stride"_a, "activation"_a, "time_to_contact"_a,
           "qvel"_a, "masses"_a)
      .def("take", &ContactTaker::take, "state"_a, "address"_a, "count"_a)
      .def("take_equalities", &ContactTaker::take_equalities, "state"_a, "count"_a, "J"_a,
           "number"_a)
      .def("found", &ContactTaker::found);
}

}  // namespace carom::python
