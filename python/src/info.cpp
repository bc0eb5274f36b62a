#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <carom/backend.hpp>
#include <carom/boxed_lcp.hpp>
#include <carom/compliant.hpp>
#include <carom/derivative_compliant.hpp>
#include <carom/derivative_impact.hpp>
#include <carom/derivative_lcp.hpp>
#include <carom/derivative_margin.hpp>
#include <carom/derivative_qp.hpp>
#include <carom/equilibrium_planar.hpp>
#include <carom/equilibrium_spatial.hpp>
#include <carom/impact.hpp>
#include <carom/impact_enclosure.hpp>
#include <carom/impact_judge.hpp>
#include <carom/lcp.hpp>
#include <carom/lp.hpp>
#include <carom/motion.hpp>
#include <carom/qp.hpp>
#include <carom/stability.hpp>

#include "core/build_fields.hpp"
#include "families.hpp"
#include "settings.hpp"

namespace carom::python {

namespace {

nb::dict info() {
  nb::dict result;
  each_build_field(build_info(),
                   [&](const char* name, const auto& value) { result[name] = value; });
  result["instruction_set"] = std::string(cpu_instruction_set());
  nb::list compiled;
  for (const std::string_view set : cpu_instruction_sets()) compiled.append(set);
  result["instruction_sets"] = compiled;
  result["hardware_threads"] = hardware_threads();
  nb::list devices;
  for (const DeviceInfo& device : cuda_devices()) {
    nb::dict entry;
    each_device_field(device, [&](const char* name, const auto& value) { entry[name] = value; });
    devices.append(entry);
  }
  result["cuda_devices"] = devices;
  return result;
}

/// Words and numbers of the enumerations that arrays hold.
nb::dict enumerations() {
  nb::dict result;
  result["Status"] = enumeration<Status>();
  result["TrajectoryStatus"] = enumeration<TrajectoryStatus>();
  result["ContactMode"] = enumeration<ContactMode>();
  result["Smoothness"] = enumeration<Smoothness>();
  result["QpMethod"] = enumeration<QpMethod>();
  result["RowType"] = enumeration<RowType>();
  result["StabilityVerdict"] = enumeration<StabilityVerdict>();
  result["CertificateKind"] = enumeration<CertificateKind>();
  result["EnclosureStatus"] = enumeration<EnclosureStatus>();
  result["ImpactAnswer"] = enumeration<ImpactAnswer>();
  result["JudgeVerdict"] = enumeration<JudgeVerdict>();
  result["MotionEnd"] = enumeration<MotionEnd>();
  result["MotionEventKind"] = enumeration<MotionEventKind>();
  return result;
}

std::string meaning_of(const Field& field) {
  return *field.unit == '\0' ? field.meaning : std::string(field.meaning) + " [" + field.unit + "]";
}

/// What each array means, where the list says so, by name.
template <class Table>
nb::dict names_of() {
  nb::dict result;
  const Table table;
  Table::each_array(
      {},
      [&]<class Name>(const Name& name, const Extents&, const auto&) {
        if constexpr (std::is_same_v<Name, ArrayField>) {
          result[name.name] = meaning_of(name);
        } else {
          result[static_cast<const char*>(name)] = "";
        }
      },
      table);
  return result;
}

/// Names and meanings of the arrays of results, in the order of their lists.
nb::dict tables() {
  nb::dict result;
  result["ImpactFloor"] = names_of<ImpactFloor>();
  nb::dict judged = names_of<ImpactJudgement::Samples>();
  judged.update(names_of<ImpactFloor>());
  result["Judgement"] = judged;
  result["BoxedLcpResult"] = names_of<BoxedLcpResult>();
  result["LcpResult"] = names_of<LcpResult>();
  result["LpResult"] = names_of<LpResult>();
  result["QpResult"] = names_of<QpResult>();
  result["LcpGradient"] = names_of<LcpGradient>();
  result["ImpactGradient"] = names_of<ImpactGradient>();
  result["ImpactTangent"] = names_of<ImpactTangent>();
  result["MarginGradient"] = names_of<MarginGradient>();
  result["LcpTangent"] = names_of<LcpTangent>();
  result["StepGradient"] = names_of<CompliantGradient>();
  result["StepTangent"] = names_of<CompliantTangent>();
  result["QpGradient"] = names_of<QpGradient>();
  result["QpTangent"] = names_of<QpTangent>();
  result["ImpactSamples"] = names_of<ImpactSamples>();
  result["PlanarRegions"] = names_of<PlanarResult>();
  result["PlanarMargins"] = names_of<PlanarMargin>();
  result["Support"] = names_of<SupportResult>();
  nb::dict region;
  SpatialRegion::each_field([&](const Field& field) { region[field.name] = meaning_of(field); });
  result["SpatialRegion"] = region;
  result["StepResult"] = names_of<CompliantResult>();
  result["WorldsResult"] = names_of<WorldsResultArrays<WorldValues>>();
  result["ImpactSteps"] = names_of<StepResult>();
  result["Stances"] = names_of<StanceBatch>();
  result["StabilityResult"] = names_of<StabilityResult>();
  result["MotionResult"] = names_of<MotionResult>();
  return result;
}

}  // namespace

void add_info(nb::module_& module) {
  module.def("info", info);
  module.def("enumerations", enumerations);
  module.def("tables", tables);
}

}  // namespace carom::python
