#include "equilibrium/prepared_support.hpp"

#include "core/constants.hpp"

namespace carom {

namespace {

/// What the set-ups of a posture ended with; proof: [6], null where nothing is proven empty.
struct SetUp {
  Status inner;
  Status outer;
  double length;
  const double* proof;
};

/// Statuses of slots first, first + 1, ... from what the probes left, and NaN where nothing is
/// known.
void judge(const SetUp& up, const SpatialSettings& settings, std::size_t n, std::size_t k,
           const double* const* state, const double* const* pivots, bool two, SupportResult& result,
           std::size_t first) {
  const auto [inner, outer, length, proof] = up;
  for (std::size_t j = 0; j < n; ++j) {
    const std::size_t at = first + j;
    Status status = outer;
    if (inner == Status::solved && outer == Status::solved) {
      status = kernels::support_status(
          {inner, outer, state[0][j], state[1][j], result.residual.data()[at],
           result.slack.data()[at], result.lower.data()[at], result.upper.data()[at]},
          two, length, settings.tolerance);
      result.pivots.data()[at] =
          static_cast<std::int32_t>(pivots[0][j] + (two ? pivots[1][j] : 0.0));
    } else {
      if (outer == Status::solved) {
        status = inner == Status::infeasible ? Status::inaccurate : inner;
      }
      result.pivots.data()[at] = 0;
    }
    result.status.data()[at] = status;
    const bool points =
        inner == Status::solved && (status == Status::solved || status == Status::inaccurate);
    const bool planes =
        outer == Status::solved && (status == Status::solved || status == Status::inaccurate);
    if (!points) {
      result.lower.data()[at] = kNan;
      for (std::size_t c = 0; c < 2; ++c) result.point.data()[2 * at + c] = kNan;
      if (status != Status::unbounded) {
        result.residual.data()[at] = kNan;
        for (std::size_t c = 0; c < 3 * k; ++c) result.forces.data()[3 * k * at + c] = kNan;
      }
    }
    if (!planes) {
      result.upper.data()[at] = kNan;
      result.slack.data()[at] = kNan;
      for (std::size_t c = 0; c < 6; ++c) {
        result.dual.data()[6 * at + c] = proof != nullptr ? proof[c] : kNan;
      }
    }
  }
}

}  // namespace

PreparedSupport::PreparedSupport(const SupportCode& code, const SupportRules& rules,
                                 const SpatialSettings& settings, int contacts)
    : code_(&code),
      rules_(&rules),
      settings_(&settings),
      scratch_(static_cast<std::size_t>(kernels::postures_scratch(contacts) * kSupportLanes)) {
  view_.contacts = contacts;
  for (auto& contact : contact_) contact.resize(static_cast<std::size_t>(contacts));
}

void PreparedSupport::prepare(const kernels::PostureView& view, const double* wrench) {
  view_ = view;
  const int pivots = support_pivots(*settings_, view.contacts);
  for (int r = 0; r < (rules_->two ? 2 : 1); ++r) {
    code_->prepare({view_, wrench, r == 0 ? &rules_->inner : &rules_->outer,
                    slack_tolerance(*settings_), pivots, &prepared_[r], contact_[r].data()});
    if (prepared_[r].status == Status::infeasible) {
      kernels::SupportAnswer<double> answer;
      if (!kernels::prove_infeasible(view_, prepared_[r], contact_[r].data(),
                                     r == 0 ? rules_->inner : rules_->outer,
                                     slack_tolerance(*settings_), answer)) {
        prepared_[r].status = Status::numerical_error;
      }
    }
  }
}

kernels::ProbeJob PreparedSupport::job(bool inner) {
  const int r = inner || !rules_->two ? 0 : 1;
  kernels::ProbeJob job{};
  job.view = view_;
  job.prepared = &prepared_[r];
  job.contact = contact_[r].data();
  job.rule = r == 0 ? &rules_->inner : &rules_->outer;
  job.tolerance = slack_tolerance(*settings_);
  job.max_pivots = support_pivots(*settings_, view_.contacts);
  job.scratch = scratch_.data();
  return job;
}

bool PreparedSupport::farkas(double* dual) const {
  const int r = rules_->two ? 1 : 0;
  kernels::SupportAnswer<double> answer;
  if (!kernels::prove_infeasible(view_, prepared_[r], contact_[r].data(),
                                 r == 0 ? rules_->inner : rules_->outer,
                                 slack_tolerance(*settings_), answer)) {
    return false;
  }
  for (int j = 0; j < 6; ++j) dual[j] = answer.dual[j];
  return true;
}

void PreparedSupport::run_postures(const PostureBatch& batch, std::span<const double> directions,
                                   std::int64_t first, int count, SupportResult& result) {
  const std::size_t n = directions.size() / 2;
  const auto k = static_cast<std::size_t>(view_.contacts);
  const auto begin = static_cast<std::size_t>(first);
  const std::size_t slot = begin * n;
  constexpr std::size_t kBlock = kSupportLanes;
  const std::size_t each = 8 + 2 * n;  // status, length, proof, states, pivots
  make_room(pack_, static_cast<long>(2 * kBlock * each));
  const bool two = rules_->two;
  kernels::PosturesJob jobs[2];
  for (int r = 0; r < (two ? 2 : 1); ++r) {
    double* own = pack_.data() + static_cast<std::size_t>(r) * kBlock * each;
    kernels::PosturesJob& job = jobs[r];
    job = {count,
           batch.position.data() + 3 * k * begin,
           batch.normal.data() + 3 * k * begin,
           batch.friction.data() + k * begin,
           batch.wrench.data() + 6 * begin,
           own,
           own + kBlock,
           own + 2 * kBlock,
           {},
           contact_[r].data()};
    kernels::ProbeJob& probe = job.probe;
    probe.view.contacts = view_.contacts;
    probe.rule = r == 0 ? &rules_->inner : &rules_->outer;
    probe.tolerance = slack_tolerance(*settings_);
    probe.max_pivots = support_pivots(*settings_, view_.contacts);
    probe.count = static_cast<int>(n);
    probe.direction = directions.data();
    probe.state = own + 8 * kBlock;
    probe.pivots = probe.state + kBlock * n;
    probe.scratch = scratch_.data();
    if (r == 0) {
      probe.lower = result.lower.data() + slot;
      probe.point = result.point.data() + 2 * slot;
      probe.forces = result.forces.data() + 3 * k * slot;
      probe.residual = result.residual.data() + slot;
    }
    if (r == 1 || !two) {
      probe.upper = result.upper.data() + slot;
      probe.dual = result.dual.data() + 6 * slot;
      probe.slack = result.slack.data() + slot;
    }
    code_->postures(job);
  }
  const kernels::PosturesJob& inner = jobs[0];
  const kernels::PosturesJob& outer = jobs[two ? 1 : 0];
  const auto status = [](double number) { return static_cast<Status>(static_cast<int>(number)); };
  for (std::size_t p = 0; p < static_cast<std::size_t>(count); ++p) {
    const Status held = status(outer.status[p]);
    const double* state[2] = {inner.probe.state + p * n, outer.probe.state + p * n};
    const double* pivots[2] = {inner.probe.pivots + p * n, outer.probe.pivots + p * n};
    judge({status(inner.status[p]), held, inner.length[p],
           held == Status::infeasible ? outer.proof + 6 * p : nullptr},
          *settings_, n, k, state, pivots, two, result, slot + p * n);
  }
}

std::size_t support_work(std::size_t directions) { return 4 * directions; }

void support_of(PreparedSupport& prepared, std::span<const double> directions,
                SupportResult& result, std::size_t first, double* work, const BasisStore* bases) {
  const std::size_t n = directions.size() / 2;
  const auto k = static_cast<std::size_t>(prepared.contacts());
  const bool two = prepared.rules().two;
  double* state[2] = {work, two ? work + n : work};
  double* pivots[2] = {work + 2 * n, two ? work + 3 * n : work + 2 * n};
  const Status inner = prepared.posture(true).status;
  const Status outer = prepared.posture(false).status;
  const auto link = [&](kernels::ProbeJob& job, int rule) {
    if (bases == nullptr) return;
    job.start = bases->start;
    job.start_basis = bases->basis[rule];
    job.basis = bases->basis[rule] + first * kernels::kBasisReals;
  };
  kernels::ProbeJob job = prepared.job(true);
  link(job, 0);
  job.count = static_cast<int>(n);
  job.direction = directions.data();
  job.state = state[0];
  job.pivots = pivots[0];
  job.lower = result.lower.data() + first;
  job.point = result.point.data() + 2 * first;
  job.forces = result.forces.data() + 3 * k * first;
  job.residual = result.residual.data() + first;
  if (!two) {
    job.upper = result.upper.data() + first;
    job.dual = result.dual.data() + 6 * first;
    job.slack = result.slack.data() + first;
  }
  if (inner == Status::solved) prepared.run(job);
  if (two && outer == Status::solved) {
    job = prepared.job(false);
    link(job, 1);
    job.count = static_cast<int>(n);
    job.direction = directions.data();
    job.state = state[1];
    job.pivots = pivots[1];
    job.upper = result.upper.data() + first;
    job.dual = result.dual.data() + 6 * first;
    job.slack = result.slack.data() + first;
    prepared.run(job);
  }
  double proof[6];
  const bool empty = outer == Status::infeasible && prepared.farkas(proof);
  judge({inner, outer, prepared.posture(true).length, empty ? proof : nullptr}, prepared.settings(),
        n, k, state, pivots, two, result, first);
}

}  // namespace carom
