#include <carom/models/stances.hpp>

#include <cfloat>
#include <cmath>
#include <numbers>

#include <carom/error.hpp>

#include "models/definition.hpp"
#include "models/named_definitions.hpp"

namespace carom::models {

namespace {

Parameter of(const std::string& name, const std::string& unit, double value, double low, bool open,
             double high, const std::string& meaning) {
  return {name, unit, value, low, open, high, meaning};
}

// The biped of the paper's section IV: L1 = h tan a - d, L2 = h tan a + d.
std::vector<Parameter> biped_parameters(double alpha, double mu1, double mu2, double e) {
  return {of("mu1", "-", mu1, 0.0, false, 100.0, "friction of the rear contact"),
          of("mu2", "-", mu2, 0.0, false, 100.0, "friction of the front contact"),
          of("d", "m", 0.5, 0.0, true, 1e3, "half the distance between the contacts"),
          of("h", "m", 1.0, -1e3, false, 1e3, "height of the centre of mass above them"),
          of("alpha", "deg", alpha, -89.0, false, 89.0, "slope of the ground"),
          of("e", "-", e, 0.0, false, 0.999, "restitution of both contacts"),
          of("force", "N", 1.0, 0.0, true, 1e6, "size of the external force"),
          of("torque", "N m", 0.0, -1e6, false, 1e6, "external torque")};
}

std::vector<StanceModel> all_stances() {
  StanceModel second{"figure2",
                     "biped on a slope of 30 degrees, inelastic impacts",
                     "Varkonyi, Fig. 2",
                     biped_parameters(30.0, 0.5, 2.0, 0.0),
                     {{"mu1", 0.02, 1.12}, {"d", 0.08, 1.18}}};
  StanceModel third{"figure3",
                    "biped on a slope of 20 degrees, elastic impacts, equal frictions",
                    "Varkonyi, Fig. 3",
                    biped_parameters(20.0, 0.7, 0.7, 0.1),
                    {{"mu", 0.38, 1.48}, {"d", 0.08, 1.18}}};
  third.parameters.erase(third.parameters.begin());
  third.parameters.front() = of("mu", "-", 0.7, 0.0, false, 100.0, "friction of both contacts");
  return {std::move(second), std::move(third)};
}

double value_of(const StanceModel& model, std::span<const double> values, std::string_view name) {
  return values[parameter_index(model, name)];
}

}  // namespace

std::span<const StanceModel> stances() {
  static const std::vector<StanceModel> kStances = all_stances();
  return kStances;
}

const StanceModel& find_stance(std::string_view name) {
  std::string known;
  for (const StanceModel& model : stances()) {
    if (model.name == name) return model;
    known += (known.empty() ? "" : ", ") + model.name;
  }
  throw InvalidInput("unknown stance \"" + std::string(name) + "\"; known stances are " + known);
}

std::size_t parameter_index(const StanceModel& model, std::string_view name) {
  std::string known;
  for (std::size_t i = 0; i < model.parameters.size(); ++i) {
    if (model.parameters[i].name == name) return i;
    known += (known.empty() ? "" : ", ") + model.parameters[i].name;
  }
  throw InvalidInput("unknown parameter \"" + std::string(name) + "\" of stance \"" + model.name +
                     "\"; known are " + known);
}

Stance stance_of(const StanceModel& model, std::span<const double> values) {
  for (std::size_t i = 0; i < model.parameters.size(); ++i) {
    const Parameter& parameter = model.parameters[i];
    if (detail::inside(parameter, values[i])) continue;
    throw InvalidInput(Refusal{.field = parameter.name,
                               .kind = "stance",
                               .name = model.name,
                               .value = detail::text(values[i]),
                               .rule = "must be " + detail::range(parameter)});
  }
  const bool one = model.parameters.front().name == "mu";
  const double mu1 = value_of(model, values, one ? "mu" : "mu1");
  const double mu2 = one ? mu1 : value_of(model, values, "mu2");
  const double h = value_of(model, values, "h"), d = value_of(model, values, "d");
  const double e = value_of(model, values, "e");
  Stance stance;
  stance.name = model.name;
  stance.angle = value_of(model, values, "alpha") * std::numbers::pi / 180.0;
  stance.force = value_of(model, values, "force");
  stance.torque = value_of(model, values, "torque");
  const double middle = h * std::tan(stance.angle);
  stance.contacts = {{middle - d, h, 0.0, mu1, e}, {middle + d, h, 0.0, mu2, e}};
  return stance;
}

namespace {

using Place = double StanceContact::*;
struct ContactWord {
  const char* word;
  const char* unit;
  Place place;
  bool common;  ///< also without a contact's number
};
constexpr ContactWord kContactWords[] = {{"l", "m", &StanceContact::l, false},
                                         {"h", "m", &StanceContact::h, true},
                                         {"slope", "rad", &StanceContact::slope, false},
                                         {"friction", "-", &StanceContact::friction, true},
                                         {"restitution", "-", &StanceContact::restitution, true}};

// Calls visit(name, unit, places) for every parameter of a stance.
template <class Visit>
void for_each_parameter(Stance& stance, Visit&& visit) {
  visit("force", "N", std::vector<double*>{&stance.force});
  visit("angle", "rad", std::vector<double*>{&stance.angle});
  visit("torque", "N m", std::vector<double*>{&stance.torque});
  for (const ContactWord& word : kContactWords) {
    std::vector<double*> all;
    for (std::size_t i = 0; i < stance.contacts.size(); ++i) {
      double* value = &(stance.contacts[i].*word.place);
      all.push_back(value);
      visit(word.word + std::to_string(i + 1), word.unit, std::vector<double*>{value});
    }
    if (word.common) visit(word.word, word.unit, all);
  }
}

}  // namespace

StanceModel model_of(const Stance& stance) {
  StanceModel model;
  model.name = stance.name;
  Stance copy = stance;
  for_each_parameter(
      copy, [&](const std::string& name, const char* unit, const std::vector<double*>& places) {
        model.parameters.push_back(of(name, unit, *places.front(), -DBL_MAX, false, DBL_MAX, ""));
      });
  return model;
}

Stance changed(const Stance& stance, const std::map<std::string, double>& values) {
  const StanceModel model = model_of(stance);
  for (const auto& [name, value] : values) parameter_index(model, name);
  Stance result = stance;
  // Those of all contacts first: a contact's own number wins.
  for (const bool common : {true, false}) {
    for_each_parameter(
        result, [&](const std::string& name, const char*, const std::vector<double*>& places) {
          const auto found = values.find(name);
          if (found == values.end()) return;
          const bool of_all = name == "friction" || name == "restitution" || name == "h";
          if (of_all != common) return;
          for (double* place : places) *place = found->second;
        });
  }
  return result;
}

}  // namespace carom::models
