#pragma once

#include <Eigen/Dense>

#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <carom/types/stability.hpp>

/// A stance on two contacts, written simply: vectors, and a search of the modes in every state.
namespace carom::reference::biped {

using Eigen::Matrix2d;
using Eigen::Matrix3d;
using Eigen::Vector2d;
using Eigen::Vector3d;

struct Contact {
  Vector3d normal, tangent;
  double friction = 0.0, restitution = 0.0;
};

struct System {
  std::array<Contact, 2> contact;
  Vector3d g;
};

System system_of(const StanceBatch& batch, std::size_t problem);

/// Forces and acceleration of a word of FSPN.
struct Mode {
  Vector3d acceleration;
  Vector2d normal, tangential;
};
/// Nothing where its equations are singular, and of SS.
std::optional<Mode> solve_mode(const System& system, const std::string& word);

/// Largest t with normal forces >= t, mu N - |T| >= t at rest; infinite without limit.
double force_margin(const System& system);

bool is_admissible(const System& system, const std::string& word);
/// At rest, with a strict margin.
bool is_consistent_at_rest(const System& system, const std::string& word);

/// Bits of StabilityResult::paradox.
int paradox(const System& system);

/// What a motion came to.
struct Motion {
  bool grows = false;
  bool stuck = false;  ///< no mode was consistent
  double growth = 1.0;
  std::int64_t events = 0;
};
/// From gaps q.N and velocity v until its size has grown 2^20 or shrunk 2^-10 times.
Motion simulate(const System& system, const Vector3d& q, Vector3d v, std::int64_t events,
                std::mt19937_64& random);

/// Growth of one cycle of inverse chatter; NaN where there is none.
double chatter_growth(const System& system);

/// s and kappa of the paper's class; nothing where a search over s finds none.
struct PaperFunction {
  double s = 0.0, kappa = 0.0, margin = 0.0;
};
std::optional<PaperFunction> paper_function(const System& system);

/// Whether no impact creates kinetic energy.
bool dissipates(const Contact& contact);

}  // namespace carom::reference::biped
