#include <cmath>
#include <cstddef>

#include <carom/equilibrium_membership.hpp>

#include "run/equilibrium_runner.hpp"

namespace carom::run {

namespace {

// Only the verdict: no region.
std::optional<bool> held_by(const Posture& posture, const PostureRequest& request) {
  const std::vector<double>& centre = request.centre_of_mass;
  MassProbe probe;
  probe.centre_of_mass = centre;
  const PostureBatch batch = make_batch({&posture, 1});
  if (posture.dimension == 3) {
    SpatialSettings settings = request.spatial;
    settings.area_tolerance = 0.5;  // of margins, which nobody asked for
    probe.status = probe_membership(batch, centre, settings).front().status;
  } else {
    const PlanarMargin margin =
        planar_margins(batch, Buffer<double>::from(centre), request.planar, request.backend);
    probe.status = margin.status.host()[0];
    probe.distance = margin.distance.host()[0];
  }
  return probe.held();
}

}  // namespace

Critical critical_value(const std::string& parameter, double low, double high,
                        const std::function<PostureTask(double)>& with,
                        const PostureRequest& request) {
  constexpr double kResolution = 1e-12;  // of the range
  Critical result;
  result.parameter = parameter;
  result.low = low;
  result.high = high;
  const auto held = [&](double value) {
    ++result.questions;
    return held_by(with(value).posture, request);
  };
  result.held_low = held(low);
  result.held_high = held(high);
  if (!result.found()) return result;
  double in = *result.held_low ? low : high;
  double out = *result.held_low ? high : low;
  while (std::fabs(in - out) > kResolution * (high - low)) {
    const double middle = 0.5 * (in + out);
    if (middle == in || middle == out) break;
    const std::optional<bool> verdict = held(middle);
    if (!verdict) break;  // the proofs end here
    (*verdict ? in : out) = middle;
  }
  result.held = in;
  result.not_held = out;
  return result;
}

}  // namespace carom::run
