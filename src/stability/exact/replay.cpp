#include <boost/multiprecision/cpp_bin_float.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "stability/exact/proofs.hpp"

namespace carom::exact {

namespace {

using Real = boost::multiprecision::number<
    boost::multiprecision::cpp_bin_float<60, boost::multiprecision::digit_base_10>,
    boost::multiprecision::et_off>;
using Vector = std::array<Real, 3>;

Real dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
void add(Vector& a, const Real& factor, const Vector& b) {
  for (std::size_t i = 0; i < 3; ++i) a[i] += factor * b[i];
}

struct Contact {
  Vector normal, tangent;
  Real mu, e;
};

/// Nothing at all relative to the size of a state: 60 digits are carried.
const Real kNothing("1e-40");
const Real kBounceEnd("1e-8");  // gap velocities that end a chain of bounces, as everywhere

class Replay {
 public:
  /// choice, in [0, 1): which of several modes, and of two impacts at once which one first.
  Replay(const Stance& stance, double choice) : choice_(choice) {
    for (std::size_t i = 0; i < 2; ++i) {
      const StanceContact& c = stance.contacts[i];
      const Real sine = sin(Real(c.slope)), cosine = cos(Real(c.slope));
      const Real l = c.l, h = c.h;
      contacts_[i] = {{-sine, cosine, l * cosine - h * sine},
                      {cosine, sine, h * cosine + l * sine},
                      Real(c.friction),
                      Real(c.restitution)};
    }
    g_ = {Real(stance.force) * sin(Real(stance.angle)),
          -Real(stance.force) * cos(Real(stance.angle)), Real(stance.torque)};
    weight_ = sqrt(dot(g_, g_));
  }

  /// Whether there was a choice.
  [[nodiscard]] bool chose() const { return chose_; }

  /// Largest growth of the state within `events`; nothing where the laws have no answer.
  std::optional<Real> growth(const std::array<double, 6>& start, std::int64_t events) {
    Vector q{Real(start[0]), Real(start[1]), Real(start[2])};
    v_ = {Real(start[3]), Real(start[4]), Real(start[5])};
    const Real speed = sqrt(dot(v_, v_));
    // The start was rounded to double numbers: what it touches, it touches.
    for (std::size_t i = 0; i < 2; ++i) {
      const Contact& c = contacts_[i];
      gap_[i] = dot(c.normal, q);
      if (abs(gap_[i]) < Real(1e-12) * (1 + sqrt(dot(q, q)))) gap_[i] = 0;
      if (gap_[i] < 0) return std::nullopt;
    }
    sticking_ = -1;
    for (std::size_t i = 0; i < 2; ++i) {
      const Contact& c = contacts_[i];
      if (gap_[i] != 0 || abs(dot(c.normal, v_)) > Real(1e-12) * speed) continue;
      add(v_, -dot(c.normal, v_) / dot(c.normal, c.normal), c.normal);
      if (abs(dot(c.tangent, v_)) > Real(1e-12) * speed) continue;
      Real x, y;
      impulses(c, -dot(c.normal, v_), -dot(c.tangent, v_), x, y);
      add(v_, x, c.normal);
      add(v_, y, c.tangent);
      sticking_ = static_cast<int>(i);
    }
    const Real first = size();
    Real most = 1;
    for (std::int64_t k = 0; k < events; ++k) {
      const Outcome outcome = advance();
      if (outcome == Outcome::unclear) return std::nullopt;
      if (outcome == Outcome::runaway) return Real("1e300");
      if (outcome == Outcome::rest) break;
      const Real now = size() / first;
      if (now > most) most = now;
      if (most > Real("1e30")) break;
    }
    return most;
  }

 private:
  enum class Outcome { event, rest, runaway, unclear };

  [[nodiscard]] Real size() const { return sqrt(dot(v_, v_) + weight_ * (gap_[0] + gap_[1])); }

  /// Impulses that change gap velocity and slip of a contact by `normal` and `tangential`.
  static void impulses(const Contact& c, const Real& normal, const Real& tangential, Real& x,
                       Real& y) {
    const Real nn = dot(c.normal, c.normal), nt = dot(c.normal, c.tangent);
    const Real tt = dot(c.tangent, c.tangent), det = nn * tt - nt * nt;
    x = (tt * normal - nt * tangential) / det;
    y = (nn * tangential - nt * normal) / det;
  }

  void strike(std::size_t i) {
    const Contact& c = contacts_[i];
    const Real approach = dot(c.normal, v_), slip = dot(c.tangent, v_);
    const Real nn = dot(c.normal, c.normal), nt = dot(c.normal, c.tangent);
    Real x, y;
    impulses(c, -(1 + c.e) * approach, -slip, x, y);
    sticking_ = static_cast<int>(i);
    if (!(x >= 0 && abs(y) <= c.mu * x)) {
      sticking_ = -1;
      for (const int sign : {1, -1}) {
        const Real k = nn - sign * c.mu * nt;
        const Real pressed = -(1 + c.e) * approach / k;
        const Real after = slip + pressed * (nt - sign * c.mu * dot(c.tangent, c.tangent));
        if (k > 0 && sign * after > 0) x = pressed, y = -sign * c.mu * pressed;
      }
    }
    add(v_, x, c.normal);
    add(v_, y, c.tangent);
    if (c.e == 0 || dot(c.normal, v_) < kBounceEnd * size()) {
      add(v_, -dot(c.normal, v_) / nn, c.normal);
    }
  }

  struct Mode {
    std::string word;
    Vector acceleration;
  };

  /// Acceleration of a word for the closed contacts; false unless forces press and everything
  /// that begins does so along its sign.
  bool consistent(const std::string& word, const std::array<bool, 2>& closed,
                  const std::array<int, 2>& slips, Vector& a) const {
    std::vector<Vector> rows, forces;
    std::vector<std::size_t> of;
    for (std::size_t i = 0; i < 2; ++i) {
      const Contact& c = contacts_[i];
      if (word[i] == 'F') continue;
      Vector force = c.normal;
      const int sign = word[i] == 'P' ? 1 : (word[i] == 'N' ? -1 : 0);
      add(force, -sign * c.mu, c.tangent);
      rows.push_back(c.normal);
      forces.push_back(force);
      of.push_back(i);
      if (word[i] == 'S') {
        rows.push_back(c.tangent);
        forces.push_back(c.tangent);
        of.push_back(i + 2);
      }
    }
    a = g_;
    std::array<Real, 4> load{};
    if (rows.size() == 1) {
      load[of[0]] = -dot(rows[0], g_) / dot(rows[0], forces[0]);
      add(a, load[of[0]], forces[0]);
    } else if (rows.size() == 2) {
      const Real p = dot(rows[0], forces[0]), q = dot(rows[0], forces[1]);
      const Real r = dot(rows[1], forces[0]), s = dot(rows[1], forces[1]);
      const Real det = p * s - q * r, x = -dot(rows[0], g_), y = -dot(rows[1], g_);
      if (det == 0) return false;
      load[of[0]] = (x * s - q * y) / det;
      load[of[1]] = (p * y - x * r) / det;
      add(a, load[of[0]], forces[0]);
      add(a, load[of[1]], forces[1]);
    } else if (rows.size() > 2) {
      return false;  // two contacts that stick: rest, or a slip that cannot be
    }
    for (std::size_t i = 0; i < 2; ++i) {
      if (!closed[i]) continue;
      const Contact& c = contacts_[i];
      if (word[i] == 'F') {
        if (!(dot(c.normal, a) > 0)) return false;
        continue;
      }
      if (load[i] < 0) return false;
      if (word[i] == 'S' && abs(load[i + 2]) > c.mu * load[i]) return false;
      const int sign = word[i] == 'P' ? 1 : -1;
      if (word[i] != 'S' && slips[i] == 0 && !(sign * dot(c.tangent, a) > 0)) return false;
    }
    return true;
  }

  std::size_t pick(std::size_t count) {
    chose_ = chose_ || count > 1;
    return static_cast<std::size_t>(choice_ * static_cast<double>(count));
  }

  Outcome advance() {
    const Real scale = size();
    if (!(scale > 0)) return Outcome::rest;
    std::array<Real, 2> speed;
    std::array<bool, 2> closed{};
    std::array<int, 2> slips{};
    std::vector<std::size_t> hits;
    for (std::size_t i = 0; i < 2; ++i) {
      speed[i] = dot(contacts_[i].normal, v_);
      if (gap_[i] == 0 && speed[i] < -kNothing * scale) hits.push_back(i);
    }
    if (!hits.empty()) {
      strike(hits[pick(hits.size())]);
      return Outcome::event;
    }
    for (std::size_t i = 0; i < 2; ++i) {
      closed[i] = gap_[i] == 0 && speed[i] <= kNothing * scale;
      if (closed[i]) speed[i] = 0;
      const Real slip = dot(contacts_[i].tangent, v_);
      if (sticking_ != static_cast<int>(i)) slips[i] = slip > 0 ? 1 : (slip < 0 ? -1 : 0);
    }
    if (closed[0] && closed[1] && sticking_ >= 0) return Outcome::rest;
    std::vector<Mode> modes;
    const auto letters = [&](std::size_t i) -> std::string {
      if (!closed[i]) return "F";
      return slips[i] > 0 ? "FP" : (slips[i] < 0 ? "FN" : "FSPN");
    };
    for (const char first : letters(0)) {
      for (const char second : letters(1)) {
        Mode mode{{first, second}, {}};
        if (consistent(mode.word, closed, slips, mode.acceleration)) modes.push_back(mode);
      }
    }
    if (modes.empty()) return Outcome::unclear;
    if (closed[0] && closed[1]) std::reverse(modes.begin(), modes.end());  // slip before flight
    const Mode& mode = modes[pick(modes.size())];
    const Vector& a = mode.acceleration;
    const std::string& word = mode.word;
    Real time = -1;
    int arrives = -1, stops = -1;
    for (std::size_t i = 0; i < 2; ++i) {
      const Contact& c = contacts_[i];
      Real wait = -1;
      if (word[i] == 'F') {
        const Real pull = dot(c.normal, a), square = speed[i] * speed[i] - 2 * gap_[i] * pull;
        if (pull < 0) {
          wait = (speed[i] + sqrt(square > 0 ? square : Real(0))) / -pull;
        } else if (speed[i] < 0 && square >= 0) {
          wait = 2 * gap_[i] / (sqrt(square) - speed[i]);
        }
      } else if (word[i] != 'S') {
        const Real change = dot(c.tangent, a);
        const int sign = word[i] == 'P' ? 1 : -1;
        if (sign * change < 0) wait = abs(dot(c.tangent, v_) / change);
      }
      if (wait < 0 || (time >= 0 && wait >= time)) continue;
      time = wait;
      arrives = word[i] == 'F' ? static_cast<int>(i) : -1;
      stops = word[i] == 'F' ? -1 : static_cast<int>(i);
    }
    if (time < 0) return Outcome::runaway;
    for (std::size_t i = 0; i < 2; ++i) {
      gap_[i] += (speed[i] + dot(contacts_[i].normal, a) * time / 2) * time;
      if (word[i] != 'F' || static_cast<int>(i) == arrives || gap_[i] < 0) gap_[i] = 0;
    }
    add(v_, time, a);
    sticking_ = stops;
    for (std::size_t i = 0; i < 2; ++i) {
      const Contact& c = contacts_[i];
      if (word[i] == 'F') continue;
      if (word[i] == 'S') sticking_ = static_cast<int>(i);
      add(v_, -dot(c.normal, v_) / dot(c.normal, c.normal), c.normal);
    }
    return Outcome::event;
  }

  std::array<Contact, 2> contacts_;
  Vector g_, v_;
  Real weight_;
  std::array<Real, 2> gap_;
  int sticking_ = -1;
  double choice_;
  bool chose_ = false;
};

}  // namespace

double replayed_growth(const Stance& stance, const std::array<double, 6>& start,
                       std::int64_t events) {
  if (stance.contacts.size() != 2) return 0.0;
  double most = 0.0;
  for (const double choice : {0.125, 0.375, 0.625, 0.875}) {  // as the search chooses
    Replay replay(stance, choice);
    const auto growth = replay.growth(start, events);
    if (growth) most = std::max(most, static_cast<double>(*growth));
    if (!replay.chose()) break;
  }
  return most;
}

}  // namespace carom::exact
