#pragma once

#include <algorithm>

#include <carom/types/motion_function.hpp>

#include "motion/kernels/motion_state.hpp"

namespace carom::kernels::motion {

/// Terms of one's own mechanism at one state, in arrays of its own.
template <int kDim>
class OwnTerms {
 public:
  static constexpr int kRows = kDim;
  static constexpr MechanismSizes kSizes{kMostOwnVelocities + 1, kMostOwnVelocities,
                                         kMostOwnContacts};
  struct Constraint {
    double gap;
    int index;
  };

  OwnTerms(const OwnMechanism& own, double time, const double* q, const double* v) : own_(own) {
    const auto nq = static_cast<std::size_t>(own.positions);
    const auto nv = static_cast<std::size_t>(own.velocities);
    const auto m = static_cast<std::size_t>(own.contacts);
    answer_.mass = {mass_, nv * nv};
    answer_.force = {force_, nv};
    answer_.rates = {rates_, nq};
    answer_.gap = {gap_, m};
    answer_.friction = {friction_, m};
    answer_.jacobian = {jacobian_, m * kDim * nv};
    answer_.drift = {drift_, m * kDim};
    for (const auto& values : {answer_.mass, answer_.force, answer_.rates, answer_.gap,
                               answer_.friction, answer_.jacobian, answer_.drift}) {
      std::fill(values.begin(), values.end(), 0.0);
    }
    own.terms({time, {q, nq}, {v, nv}}, answer_);
  }
  OwnTerms(const OwnTerms&) = delete;
  OwnTerms& operator=(const OwnTerms&) = delete;

  void mass_matrix(double* out) const { copy(answer_.mass, out); }
  void force(const double*, double* out) const { copy(answer_.force, out); }
  void rates(double* out) const { copy(answer_.rates, out); }
  [[nodiscard]] double potential() const { return answer_.potential; }
  [[nodiscard]] double loss() const { return answer_.loss; }
  [[nodiscard]] double friction(const Constraint& c) const { return friction_[c.index]; }
  [[nodiscard]] Constraint constraint(int i) const { return {gap_[i], i}; }
  void jacobian(const Constraint& c, double* rows, int stride) const {
    const int nv = own_.velocities;
    for (int k = 0; k < kDim; ++k) {
      for (int j = 0; j < nv; ++j) {
        rows[k * stride + j] = jacobian_[(c.index * kDim + k) * nv + j];
      }
    }
  }
  void jacobian_dot_v(const Constraint& c, const double*, double* out) const {
    for (int k = 0; k < kDim; ++k) out[k] = drift_[c.index * kDim + k];
  }

 private:
  static void copy(const std::span<double>& from, double* out) {
    std::copy(from.begin(), from.end(), out);
  }

  const OwnMechanism& own_;
  MechanismAnswer answer_;
  double mass_[kSizes.velocities * kSizes.velocities];
  double force_[kSizes.velocities];
  double rates_[kSizes.positions];
  double gap_[kSizes.constraints];
  double friction_[kSizes.constraints];
  double jacobian_[kSizes.constraints * kDim * kSizes.velocities];
  double drift_[kSizes.constraints * kDim];
};

/// One's own mechanism as the text of motions asks for it.
template <int kDim>
class OwnMechanismAt {
 public:
  struct Parameters {
    const OwnMechanism* own;
  };
  using Constraint = typename OwnTerms<kDim>::Constraint;
  static constexpr int kRows = kDim;
  static constexpr MechanismSizes kSizes = OwnTerms<kDim>::kSizes;

  static Parameters parameters_of(const MotionRun& run, const MotionProblemView&) {
    return {run.own};
  }
  static MechanismSizes sizes(const Parameters& parameters) {
    return {parameters.own->positions, parameters.own->velocities, parameters.own->contacts};
  }
  static int quaternions(const Parameters& parameters, int* first) {
    first[0] = 3;
    return parameters.own->positions - parameters.own->velocities;
  }
  template <class Local>
  static bool evaluate(Local& local, const Parameters& parameters, const MechanismSizes& size,
                       double time, const double* q, const double* v, const double* drive,
                       unsigned wanted) {
    const OwnTerms<kDim> at(*parameters.own, time, q, v);
    return local.fill(at, size, v, drive, wanted);
  }

  OwnMechanismAt(const Parameters& parameters, double time, const double* q)
      : own_(*parameters.own), time_(time), q_(q) {}
  void rates(const double* v, double* q_dot) const {
    OwnTerms<kDim>(own_, time_, q_, v).rates(q_dot);
  }
  [[nodiscard]] double loss(const double* v) const {
    return OwnTerms<kDim>(own_, time_, q_, v).loss();
  }
  [[nodiscard]] Constraint constraint(int i) const {
    return OwnTerms<kDim>(own_, time_, q_, kStill).constraint(i);
  }
  void jacobian(const Constraint& c, double* rows, int stride) const {
    OwnTerms<kDim>(own_, time_, q_, kStill).jacobian(c, rows, stride);
  }

 private:
  static constexpr double kStill[kSizes.velocities] = {};

  const OwnMechanism& own_;
  double time_;
  const double* q_;
};

}  // namespace carom::kernels::motion
