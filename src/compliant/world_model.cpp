#include "compliant/backends.hpp"
#include "compliant/scenarios/kinds.hpp"

namespace carom {

namespace {

template <class Scenario>
class ModelOf : public WorldModel {
 public:
  ModelOf() : WorldModel(Scenario::kTangents, Scenario::kMany, Scenario::kSmooth) {}

  void start(const double* parameters, double* q, double* v) const override {
    Scenario::start(parameters, q, v);
  }
  bool direct(const double* parameters, double h, double* q, double* v) const override {
    return Scenario::direct(parameters, h, q, v);
  }
  void evaluate(const double* parameters, double time, double h, const double* q, const double* v,
                double* inverse_mass, double* force, kernels::ConstraintRows& rows) const override {
    kernels::evaluate_scenario<Scenario>(parameters, time, h, q, v, inverse_mass, force, rows);
  }
  void advance(const double* parameters, double h, double* q, const double* v) const override {
    Scenario::advance(parameters, h, q, v);
  }
  bool finished(const double* parameters, const double* q, const double* v) const override {
    return Scenario::finished(parameters, q, v);
  }
  double energy(const double* parameters, const double* q, const double* v) const override {
    return Scenario::energy(parameters, q, v);
  }
  double displacement(const double* parameters, const double* q) const override {
    return Scenario::displacement(parameters, q);
  }
};

}  // namespace

const WorldModel& world_model(models::ScenarioKind kind) {
  return models::detail::visit_scenario(kind, [](auto body) -> const WorldModel& {
    static const ModelOf<decltype(body)> model;
    return model;
  });
}

}  // namespace carom
