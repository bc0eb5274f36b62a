#include "stability/prepare.hpp"

#include <cmath>
#include <string>

#include "core/parallel.hpp"
#include "stability/backends.hpp"
#include "stability/numbers.hpp"

namespace carom::stability {

namespace {

namespace body = kernels::stability;

constexpr std::int64_t kGrain = 4096;

void prepare_one(const StanceBatch& batch, PreparedStances& to, std::int64_t problem) {
  const auto c = static_cast<std::size_t>(batch.contacts);
  const auto p = static_cast<std::size_t>(problem);
  const double force = batch.force.host()[p], angle = batch.angle.host()[p];
  to.accepted.host()[p] = accepts(batch, problem) ? 1 : 0;
  double* g = to.wrench.data() + 3 * p;
  g[0] = force * std::sin(angle);
  g[1] = -force * std::cos(angle);
  g[2] = batch.torque.host()[p];
  for (std::size_t i = p * c; i < (p + 1) * c; ++i) {
    const double l = batch.l.host()[i], h = batch.h.host()[i];
    const double sine = std::sin(batch.slope.host()[i]), cosine = std::cos(batch.slope.host()[i]);
    double* n = to.normal.data() + 3 * i;
    double* t = to.tangent.data() + 3 * i;
    n[0] = -sine, n[1] = cosine, n[2] = l * cosine - h * sine;
    t[0] = cosine, t[1] = sine, t[2] = h * cosine + l * sine;
    to.friction.host()[i] = batch.friction.host()[i];
    to.restitution.host()[i] = batch.restitution.host()[i];
  }
}

}  // namespace

PreparedStances prepare(const StanceBatch& batch) {
  PreparedStances prepared;
  prepare(batch, 0, prepared);
  return prepared;
}

void prepare(const StanceBatch& batch, int threads, PreparedStances& to) {
  static_cast<StanceSizes&>(to) = batch;
  PreparedStances::each_array(
      batch,
      [&](const char*, const Extents& extents, auto& values) {
        make_room(values, extents.count());
      },
      to);
  parallel_for(batch.problems, kGrain, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p) prepare_one(batch, to, p);
  });
}

StanceBatch batch_of(std::span<const Stance> stances) {
  StanceSizes sizes{static_cast<std::int64_t>(stances.size()), 2};
  if (!stances.empty()) sizes.contacts = static_cast<std::int64_t>(stances[0].contacts.size());
  auto batch = allocate<StanceBatch>(sizes);
  const auto c = static_cast<std::size_t>(sizes.contacts);
  for (std::size_t p = 0; p < stances.size(); ++p) {
    const Stance& stance = stances[p];
    if (stance.contacts.size() != c) {
      throw InvalidInput(Refusal{.field = "contacts",
                                 .kind = "stance",
                                 .problem = static_cast<std::int64_t>(p),
                                 .name = stance.name,
                                 .relation = "has",
                                 .value = std::to_string(stance.contacts.size()),
                                 .rule = "must have " + std::to_string(c) + " as stance 0"});
    }
    batch.force.host()[p] = stance.force;
    batch.angle.host()[p] = stance.angle;
    batch.torque.host()[p] = stance.torque;
    for (std::size_t i = 0; i < c; ++i) {
      batch.l.host()[p * c + i] = stance.contacts[i].l;
      batch.h.host()[p * c + i] = stance.contacts[i].h;
      batch.slope.host()[p * c + i] = stance.contacts[i].slope;
      batch.friction.host()[p * c + i] = stance.contacts[i].friction;
      batch.restitution.host()[p * c + i] = stance.contacts[i].restitution;
    }
  }
  return batch;
}

Stance stance_at(const StanceBatch& batch, std::int64_t problem) {
  const auto p = static_cast<std::size_t>(problem), c = static_cast<std::size_t>(batch.contacts);
  Stance stance;
  for (std::size_t i = c * p; i < c * (p + 1); ++i) {
    stance.contacts.push_back({batch.l.host()[i], batch.h.host()[i], batch.slope.host()[i],
                               batch.friction.host()[i], batch.restitution.host()[i]});
  }
  stance.force = batch.force.host()[p];
  stance.angle = batch.angle.host()[p];
  stance.torque = batch.torque.host()[p];
  return stance;
}

PreparedStances prepare(const Stance& stance) { return prepare(batch_of({&stance, 1})); }

body::StanceForm form_of(const Stance& stance) {
  const PreparedStances prepared = prepare(stance);
  body::StanceForm form{};
  for (int i = 0; i < 2; ++i) {
    form.contact[i] =
        body::contact_form(prepared.normal.data() + 3 * i, prepared.tangent.data() + 3 * i,
                           prepared.friction.host()[static_cast<std::size_t>(i)],
                           prepared.restitution.host()[static_cast<std::size_t>(i)]);
  }
  const double* g = prepared.wrench.data();
  form.g = {g[0], g[1], g[2]};
  return form;
}

body::CascadeSettings cascade_settings(const StabilitySettings& settings) {
  const StabilityMethod method = settings.method;
  return {method == StabilityMethod::any || method == StabilityMethod::paper,
          method == StabilityMethod::any || method == StabilityMethod::simulate,
          method == StabilityMethod::simulate,  // else after labelled functions were tried
          settings.angles,
          settings.states,
          settings.events,
          settings.seed,
          static_cast<std::uint32_t>(settings.first_problem)};
}

}  // namespace carom::stability
