#include "io/stability_kept.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "core/words.hpp"
#include "io/file_words.hpp"
#include "io/other_fields.hpp"
#include "io/problem_file.hpp"
#include "io/stability_input.hpp"

namespace carom::io {

namespace {

using nlohmann::json;

constexpr const char* kKnown =
    "must be a file that carom impact, carom stability or carom solve wrote with --json or "
    "--output";

template <class Enum>
Enum word_in(const json& object, const char* key, const std::string& where) {
  return word_of<Enum>(read_text(object, key, where), key, where);
}

double number_or_infinity(const json& object, const char* key, const std::string& where) {
  if (object.contains(key) && object[key].is_null()) {
    return std::numeric_limits<double>::infinity();
  }
  return read_number(object, key, where);
}

template <class Enum>
Enum code_at(double code, const char* set, std::size_t index, const std::string& file) {
  for (const auto& [value, word] : words<Enum>) {
    if (code == static_cast<double>(value)) return value;
  }
  throw InvalidInput(
      fmt::format("{}: {}[{}] is {}: must be {}", file, set, index, code, codes_meaning<Enum>()));
}

KeptVerdict kept_from(const json& point, const std::string& file, std::size_t index) {
  KeptVerdict kept;
  const std::string where = fmt::format("{}: points[{}]", file, index);
  if (!point.is_object()) throw InvalidInput(where + ": must be an object");
  kept.stance = stance_from_json(required(point, "stance", where), file, index);
  kept.verdict = word_in<StabilityVerdict>(point, "verdict", where);
  const json& equilibrium = required(point, "equilibrium", where);
  if (!equilibrium.is_boolean()) throw InvalidInput(where + ": equilibrium must be true or false");
  kept.equilibrium = equilibrium.get<bool>();
  const json& margin = required(point, "force_margin", where);
  kept.force_margin = margin.is_null() ? std::numeric_limits<double>::infinity()
                                       : read_number(point, "force_margin", where);
  const json& modes = required(point, "ambiguous_modes", where);
  if (!modes.is_array()) throw InvalidInput(where + ": ambiguous_modes must be a list");
  for (const json& mode : modes) {
    if (!mode.is_string()) throw InvalidInput(where + ": ambiguous_modes must be words");
    kept.ambiguous_modes.push_back(mode.get<std::string>());
  }
  const json& certificate = required(point, "certificate", where);
  if (!certificate.is_null()) {
    const std::string place = where + ": certificate";
    kept.certificate = word_in<CertificateKind>(certificate, "kind", place);
    const json& exact = required(certificate, "exact", place);
    if (!exact.is_boolean()) throw InvalidInput(place + ": exact must be true or false");
    kept.exact = exact.get<bool>();
    if (kept.certificate == CertificateKind::paper || kept.certificate == CertificateKind::sos) {
      kept.s = read_number(certificate, "s", place);
      kept.kappa = read_number(certificate, "kappa", place);
    }
    if (kept.certificate == CertificateKind::labelled) {
      const std::vector<double> values = read_numbers(certificate, "coefficients", place);
      if (values.size() != kept.coefficients.size()) {
        throw InvalidInput(place + ": coefficients must have 24 numbers");
      }
      std::copy(values.begin(), values.end(), kept.coefficients.begin());
    }
  }
  const json& counterexample = required(point, "counterexample", where);
  if (counterexample.is_null()) return kept;
  kept.has_counterexample = true;
  const std::string place = where + ": counterexample";
  std::size_t at = 0;
  for (const char* key : {"position", "velocity"}) {
    const std::vector<double> values = read_numbers(counterexample, key, place);
    if (values.size() != 3) throw InvalidInput(fmt::format("{}: {} has not 3 numbers", place, key));
    for (const double value : values) kept.start[at++] = value;
  }
  kept.growth = number_or_infinity(counterexample, "growth", place);
  kept.events = read_count(counterexample, "events", place);
  return kept;
}

void read_top(const json& root, const std::string& name, KeptVerdicts& kept) {
  if (root.contains("model")) kept.model = read_text(root, "model", name);
  const json& counts = required(root, "verdicts", name);
  if (!counts.is_object()) throw InvalidInput(name + ": verdicts must be an object");
  for (const auto& [verdict, word] : words<StabilityVerdict>) {
    if (verdict == StabilityVerdict::invalid_input) continue;
    required(counts, std::string(word).c_str(), name + ": verdicts");
  }
  for (const auto& [word, count] : counts.items()) {
    kept.counts[word] = read_count(counts, word.c_str(), name + ": verdicts");
  }
}

std::map<std::string, double> parameters_of(const json& point, const std::string& where) {
  const json& object = required(point, "parameters", where);
  if (!object.is_object()) throw InvalidInput(where + ": parameters must be an object");
  std::map<std::string, double> values;
  for (const auto& [key, value] : object.items()) {
    values[key] = read_number(object, key.c_str(), where + ": parameters");
  }
  return values;
}

KeptVerdicts verdicts_from_json(const std::filesystem::path& file) {
  const JsonDocument parsed(file);
  const json& root = parsed.root();
  const std::string name = file.string();
  if (!root.is_object() || !root.contains("kind") || root["kind"] != "stability") {
    throw InvalidInput(fmt::format("{}: contains nothing that can be verified: {}", name, kKnown));
  }
  const json& points = required(root, "points", name);
  if (!points.is_array()) throw InvalidInput(name + ": points must be a list");
  KeptVerdicts kept;
  read_top(root, name, kept);
  for (std::size_t i = 0; i < points.size(); ++i) {
    kept.points.push_back(kept_from(points[i], name, i));
    kept.parameters.push_back(parameters_of(points[i], fmt::format("{}: points[{}]", name, i)));
  }
  static constexpr std::string_view kJudged[] = {"kind",
                                                 "model",
                                                 "verdicts",
                                                 "points.parameters",
                                                 "points.stance.contacts",
                                                 "points.stance.force",
                                                 "points.stance.angle",
                                                 "points.stance.torque",
                                                 "points.equilibrium",
                                                 "points.ambiguous_modes",
                                                 "points.verdict",
                                                 "points.certificate.kind",
                                                 "points.certificate.exact",
                                                 "points.certificate.s",
                                                 "points.certificate.kappa",
                                                 "points.certificate.coefficients",
                                                 "points.counterexample.position",
                                                 "points.counterexample.velocity"};
  add_other_json_fields(root, kJudged, kept.other_fields);
  return kept;
}

KeptVerdicts verdicts_from_hdf5(const std::filesystem::path& file) {
  const Hdf5Reader reader(file);
  const std::string name = file.string();
  if (!reader.has_attribute("/", "kind") || reader.text_attribute("/", "kind") != "stability") {
    throw InvalidInput(fmt::format("{}: contains nothing that can be verified: {}", name, kKnown));
  }
  const auto verdicts = reader.integers("/result/verdict");
  const std::size_t count = verdicts.size();
  const auto column = [&](const std::string& path, std::size_t width) {
    std::vector<double> values = reader.doubles(path);
    if (values.size() != count * width) {
      throw InvalidInput(fmt::format("{}: {} has {} numbers: must have {}", name, path,
                                     values.size(), count * width));
    }
    return values;
  };
  const auto kinds = column("/result/certificate", 1), modes = column("/result/ambiguous_modes", 1);
  const auto s = column("/result/s", 1), kappa = column("/result/kappa", 1);
  const auto numbers = column("/result/coefficients", 24);
  const auto start = column("/result/start", 6), growth = column("/result/start_growth", 1);
  const auto events = column("/result/start_events", 1);
  const std::vector<Stance> stances = stances_from_hdf5(reader, "/stance/", name);
  if (stances.size() != count) {
    throw InvalidInput(
        fmt::format("{}: has {} verdicts of {} stances", name, count, stances.size()));
  }
  const auto margins = column("/result/force_margin", 1), exact = column("/result/exact", 1);
  KeptVerdicts file_kept;
  if (reader.has_attribute("/", "model")) file_kept.model = reader.text_attribute("/", "model");
  std::vector<KeptVerdict>& kept = file_kept.points;
  kept.resize(count);
  for (std::size_t p = 0; p < count; ++p) {
    KeptVerdict& k = kept[p];
    k.stance = stances[p];
    k.verdict = code_at<StabilityVerdict>(static_cast<double>(verdicts[p]), "verdict", p, name);
    k.certificate = code_at<CertificateKind>(kinds[p], "certificate", p, name);
    k.force_margin = margins[p];
    if (k.verdict != StabilityVerdict::invalid_input) k.equilibrium = !(margins[p] < 0.0);
    if (k.certificate != CertificateKind::none) k.exact = exact[p] != 0.0;
    k.s = s[p], k.kappa = kappa[p];
    std::copy_n(numbers.begin() + static_cast<std::ptrdiff_t>(24 * p), 24, k.coefficients.begin());
    const auto bits = static_cast<unsigned>(modes[p]);
    for (unsigned code = 0; code < 16; ++code) {
      if ((bits >> code & 1U) == 0U) continue;
      k.ambiguous_modes.push_back({"FSPN"[code >> 2], "FSPN"[code & 3U]});
    }
    for (std::size_t i = 0; i < 6; ++i) k.start[i] = start[6 * p + i];
    k.growth = growth[p], k.events = static_cast<std::int64_t>(events[p]);
    k.has_counterexample = !std::isnan(k.start[0]);
  }
  static constexpr std::string_view kJudged[] = {"/stance/l",
                                                 "/stance/h",
                                                 "/stance/slope",
                                                 "/stance/friction",
                                                 "/stance/angle",
                                                 "/stance/force",
                                                 "/stance/torque",
                                                 "/stance/restitution",
                                                 "/result/verdict",
                                                 "/result/certificate",
                                                 "/result/ambiguous_modes",
                                                 "/result/s",
                                                 "/result/kappa",
                                                 "/result/coefficients",
                                                 "/result/start",
                                                 "/result/exact",
                                                 "/@kind"};
  file_kept.other_fields = other_hdf5_fields(reader, kJudged);
  return file_kept;
}

}  // namespace

KeptVerdicts read_kept_verdicts(const std::filesystem::path& file) {
  KeptVerdicts kept = read_either(file, verdicts_from_hdf5, verdicts_from_json);
  for (std::size_t i = 0; i < kept.points.size(); ++i) {
    try {
      if (kept.points[i].verdict != StabilityVerdict::invalid_input) {
        validate(kept.points[i].stance, static_cast<std::int64_t>(i));
      }
    } catch (const InvalidInput& error) {
      throw error.with_source(file.string());
    }
  }
  return kept;
}

}  // namespace carom::io
