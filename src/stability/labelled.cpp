#include "stability/label_setting.hpp"

#include <algorithm>
#include <cmath>

namespace carom::stability {

namespace {

Vector3d vector(const body::Vec3& v) { return {v.y, v.z, v.t}; }

}  // namespace

Setting setting_of(const body::StanceForm& stance) {
  Setting s;
  s.tables = body::event_tables(stance);
  s.g = vector(stance.g);
  s.n = vector(body::cyclic_direction(stance));
  const double downhill = s.g.dot(s.n);
  if (!(downhill > kDegenerate * s.g.norm())) return s;
  s.m = 1.0 / downhill;
  for (int i = 0; i < 2; ++i) {
    const body::ContactForm& from = stance.contact[i];
    Side& to = s.side[i];
    to.normal = vector(from.normal), to.tangent = vector(from.tangent);
    to.turn = to.normal.cross(to.tangent);
    to.turn2 = to.turn.squaredNorm();
    to.nn = from.nn, to.nt = from.nt, to.tt = from.tt;
    to.mu = from.friction, to.e = from.restitution;
    const double det = to.nn * to.tt - to.nt * to.nt;
    to.normal_dual = (to.tt * to.normal - to.nt * to.tangent) / det;
    to.tangent_dual = (to.nn * to.tangent - to.nt * to.normal) / det;
    to.load = -to.normal.dot(s.g);
    if (!(to.load > 0.0)) return s;
    for (int way = 0; way < 2; ++way) {
      const double sign = way == 0 ? 1.0 : -1.0;
      const double k = from.slip_stiffness(sign);
      if (!(k > 0.0)) return s;
      to.slip_acceleration[way] = s.g + to.load / k * (to.normal - sign * to.mu * to.tangent);
    }
    const unsigned choices = s.tables.choices[3 * i + 2];
    if (choices == 0U || (choices & (choices - 1U)) != 0U) return s;
    to.sticks = choices == 1U << body::kStick;
    if (!(std::fabs(to.tangent.dot(s.n)) > kDegenerate)) return s;
  }
  for (int way = 0; way < 2; ++way) {
    const unsigned choices = s.tables.choices[6 + way];
    if (choices == 0U || (choices & (choices - 1U)) != 0U) return s;
  }
  s.c = s.side[0].turn.cross(s.side[1].turn);
  const double along = s.c.dot(s.n);
  if (!(std::fabs(along) > kDegenerate * s.c.norm())) return s;
  s.c /= along;
  Matrix3d rows;
  rows << s.side[0].normal.transpose(), s.side[1].normal.transpose(), s.n.transpose();
  const Matrix3d dual = rows.inverse();
  s.gap_dual[0] = dual.col(0), s.gap_dual[1] = dual.col(1);
  s.usable = true;
  return s;
}

void add_sliding(LabelProgram& program, const Setting& s, int way, const Affine& q12,
                 const Affine& at_n) {
  const double sign = way == 0 ? 1.0 : -1.0;
  const double pull = s.tables.acceleration[body::kBothForward + way][2];
  program.at_least_slack(-sign * (Affine(1.0) + pull * q12));
  program.at_least_slack((1.0 / s.m) * q12 + Affine(1.0));
  program.at_least_slack((1.0 / s.m) * (at_n - q12));
}
bool slides(const Setting& s, int way) { return s.tables.choices[6 + way] == body::kBothSlip; }

namespace {

constexpr double kMostSize = 1e4;  // of unknowns relative to the energy's

std::optional<PosedLabels> posed(const Setting& s) {
  if (!s.usable) return {};
  return s.side[0].e > 0.0 || s.side[1].e > 0.0 ? pose_elastic(s) : pose_inelastic(s);
}
double most_of(const Setting& s) {
  return kMostSize * s.m * std::max({1.0, s.g.norm(), s.side[0].turn2, s.side[1].turn2});
}

}  // namespace

LabelledCertificate find_labelled(const body::StanceForm& stance) {
  const Setting setting = setting_of(stance);
  const auto labels = posed(setting);
  LabelledCertificate certificate;
  if (!labels) return certificate;
  const LabelProgram::Answer answer = labels->program.solve(most_of(setting));
  if (!answer.found) return certificate;
  certificate.found = true;
  certificate.margin = answer.slack;
  for (std::size_t k = 0; k < certificate.numbers.size(); ++k) {
    certificate.numbers[k] = labels->numbers[k].at(answer.x);
  }
  return certificate;
}

std::optional<SdpProblem> labelled_programme(const body::StanceForm& stance) {
  const Setting setting = setting_of(stance);
  const auto labels = posed(setting);
  if (!labels) return {};
  return labels->program.programme(most_of(setting));
}

}  // namespace carom::stability
