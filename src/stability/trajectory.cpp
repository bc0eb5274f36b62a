#include <Eigen/Dense>

#include "stability/modes.hpp"
#include "stability/prepare.hpp"

namespace carom::stability {

namespace {

namespace body = kernels::stability;
using Eigen::Matrix3d;
using Eigen::Vector3d;

// Writes a motion down in (q, v) and time.
class Recorder {
 public:
  Recorder(const body::StanceForm& form, const Vector3d& q, std::vector<StanceEvent>& events)
      : q_(q), events_(events) {
    Matrix3d rows;
    const auto row = [&rows](int i, const body::Vec3& v) { rows.row(i) << v.y, v.z, v.t; };
    row(0, form.contact[0].normal);
    row(1, form.contact[1].normal);
    row(2, body::cyclic_direction(form));
    to_velocity_ = rows.inverse();
  }

  void advance(const body::EventState& before, double time, const double* acceleration) {
    const Vector3d v = velocity(before);
    q_ += (v + 0.5 * time * to_velocity_ * Eigen::Map<const Vector3d>(acceleration)) * time;
    time_ += time;
  }
  void event(const body::EventState& after, int what, int contact, int) {
    add(what == body::kImpactEvent ? StanceEventKind::impact : StanceEventKind::slip_end, contact,
        after);
  }
  void mode(int index, int first, int second) {
    std::string& word = events_.back().mode;
    word = index == body::kFlight ? "FF" : word_of_letters({first, second});
  }
  void add(StanceEventKind kind, int contact, const body::EventState& state) {
    const Vector3d v = velocity(state);
    events_.push_back({time_, kind, contact, {}, {q_.x(), q_.y(), q_.z()}, {v.x(), v.y(), v.z()}});
  }

 private:
  [[nodiscard]] Vector3d velocity(const body::EventState& state) const {
    return to_velocity_ * Eigen::Map<const Vector3d>(state.v);
  }

  Matrix3d to_velocity_;
  Vector3d q_;
  double time_ = 0.0;
  std::vector<StanceEvent>& events_;
};

StanceEventKind kind_of(body::MotionEnd end) {
  if (end == body::MotionEnd::runaway) return StanceEventKind::runaway;
  return end == body::MotionEnd::paradox ? StanceEventKind::paradox : StanceEventKind::rest;
}

}  // namespace

std::vector<StanceEvent> trajectory(const Stance& stance, const std::array<double, 3>& q,
                                    const std::array<double, 3>& v, std::int64_t events,
                                    std::uint64_t seed) {
  const body::StanceForm form = form_of(stance);
  const body::EventTables tables = body::event_tables(form);
  const body::Vec3 position{q[0], q[1], q[2]}, speed{v[0], v[1], v[2]};
  const double size = kernels::square_root(body::dot(speed, speed));
  body::EventState state{};
  state.stuck = -1;
  for (int i = 0; i < 2; ++i) {
    const body::ContactForm& c = form.contact[i];
    const auto length = [](const body::Vec3& x) { return kernels::square_root(body::dot(x, x)); };
    // A start that was computed as touching, resting or sticking is so.
    state.gap[i] = body::dot(c.normal, position);
    if (std::fabs(state.gap[i]) <= 1e-12 * length(c.normal) * length(position)) state.gap[i] = 0.0;
    state.v[i] = body::dot(c.normal, speed);
    if (state.gap[i] == 0.0 && std::fabs(state.v[i]) <= 1e-12 * length(c.normal) * size) {
      state.v[i] = 0.0;
    }
    if (state.gap[i] < 0.0) {
      throw InvalidInput(Refusal{
          .field = "position",
          .relation = "has",
          .value = "gap " + std::to_string(state.gap[i]) + " at contact " + std::to_string(i + 1),
          .rule = "must not be negative"});
    }
  }
  state.v[2] = body::dot(body::cyclic_direction(form), speed);
  for (int i = 0; i < 2; ++i) {
    if (state.gap[i] != 0.0 || state.v[i] != 0.0) continue;
    if (std::fabs(body::slip_of(tables, i, state.v)) <= 1e-12 * size) state.stuck = i;
  }
  std::vector<StanceEvent> record;
  Recorder recorder(form, {q[0], q[1], q[2]}, record);
  recorder.add(StanceEventKind::start, -1, state);
  body::Motion<body::TrajectoryDraws, Recorder> motion(tables, state, {seed, 0, 0, 0}, recorder,
                                                       false);
  // An event of the body is a flight, a slip's end or an impact; what is counted here is recorded.
  body::MotionLimits limits{0, 0, 0};
  for (;;) {
    ++limits.events;
    const body::MotionEnd end = motion.run(limits);
    if (end != body::MotionEnd::limit) {
      recorder.add(kind_of(end), -1, motion.state());
      break;
    }
    if (static_cast<std::int64_t>(record.size()) > events) break;
  }
  return record;
}

}  // namespace carom::stability
