#include <nanobind/nanobind.h>

#include "families.hpp"

#ifdef CAROM_XLA  // where the build found the headers of jax.ffi
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include <xla/ffi/api/ffi.h>
#include <carom/compliant.hpp>
#include <carom/derivative_compliant.hpp>
#include <carom/derivative_lcp.hpp>
#include <carom/derivative_qp.hpp>
#include <carom/impact.hpp>
#include <carom/lcp.hpp>
#include <carom/qp.hpp>

#include "core/words.hpp"
#endif

/// Targets of jax.ffi (carom/jax.py). Arguments are a batch's arrays in the order of its list,
/// results those that the attribute "outputs" names, attributes the sizes and settings by name.
namespace carom::python {

namespace nb = nanobind;

#ifdef CAROM_XLA
namespace {

namespace ffi = xla::ffi;

std::int64_t whole(const ffi::Dictionary& given, const char* name) {
  const auto value = given.get<std::int64_t>(name);
  if (!value.has_value()) throw InvalidInput(Refusal{.field = name, .rule = "must be given"});
  return *value;
}

std::string text(const ffi::Dictionary& given, const char* name) {
  const auto value = given.get<std::string_view>(name);
  if (!value.has_value()) throw InvalidInput(Refusal{.field = name, .rule = "must be given"});
  return std::string(*value);
}

/// What Python has checked already.
template <class Settings>
Settings settings_of(const ffi::Dictionary& given) {
  Settings settings;
  Settings::each_setting(
      [&](const Setting& setting, auto& value) {
        using Value = std::remove_cvref_t<decltype(value)>;
        if (!given.contains(setting.name)) return;
        if constexpr (std::is_enum_v<Value>) {
          value = value_of<Value>(text(given, setting.name)).value();
        } else if constexpr (std::is_same_v<Value, bool>) {
          value = given.get<bool>(setting.name).value();
        } else if constexpr (std::is_integral_v<Value>) {
          value = static_cast<Value>(whole(given, setting.name));
        } else {
          value = given.get<double>(setting.name).value();
        }
      },
      settings);
  return settings;
}

/// Borrows a batch's arrays; their number of problems is that of the first.
template <class Batch>
void borrow(Batch& batch, ffi::RemainingArgs arguments) {
  batch.problems = 1;
  std::size_t place = 0;
  Batch::each_array(
      batch,
      [&](const char* name, const Extents& extents, auto& array) {
        using Value = std::remove_cvref_t<decltype(*array.data())>;
        if (extents.optional() && place >= arguments.size()) return;
        const auto given = arguments.get<ffi::AnyBuffer>(place);
        if (!given.has_value()) throw InvalidInput(Refusal{.field = name, .rule = "must be given"});
        if (place++ == 0) {
          const auto each = std::max<std::int64_t>(extents.stride(), 1);
          batch.problems = static_cast<std::int64_t>(given->element_count()) / each;
        }
        array = Buffer<Value>::borrow(static_cast<Value*>(given->untyped_data()),
                                      given->element_count(), MemorySpace::host);
      },
      batch);
}

/// The next argument, in the caller's memory.
template <class Value>
Buffer<Value> next(ffi::RemainingArgs arguments, std::size_t& place) {
  const auto given = arguments.get<ffi::AnyBuffer>(place);
  if (!given.has_value()) {
    throw InvalidInput(
        Refusal{.field = "argument " + std::to_string(place), .rule = "must be given"});
  }
  ++place;
  return Buffer<Value>::borrow(static_cast<Value*>(given->untyped_data()), given->element_count(),
                               MemorySpace::host);
}

/// All arrays of a table from the next arguments.
template <class Table>
void borrow_next(Table& table, const typename Table::Sizes& sizes, ffi::RemainingArgs arguments,
                 std::size_t& place) {
  Table::each_array(
      sizes,
      [&](const char*, const Extents&, auto& array) {
        array = next<std::remove_cvref_t<decltype(*array.data())>>(arguments, place);
      },
      table);
}

/// Calls visit(name, buffer) for each result that was asked for.
template <class Visit>
void each_output(const ffi::Dictionary& given, ffi::RemainingRets results, Visit&& visit) {
  std::istringstream names(text(given, "outputs"));
  std::string name;
  for (std::size_t i = 0; names >> name; ++i) visit(name, *results.get<ffi::AnyBuffer>(i).value());
}

template <class Table>
void copy_out(const Table& table, const typename Table::Sizes& sizes, const ffi::Dictionary& given,
              ffi::RemainingRets results) {
  each_output(given, results, [&](const std::string& wanted, const ffi::AnyBuffer& to) {
    Table::each_array(
        sizes,
        [&](const char* name, const Extents&, const auto& array) {
          const std::size_t bytes = array.size() * sizeof(*array.data());
          if (wanted == name && bytes == to.size_bytes() && bytes > 0) {
            std::memcpy(to.untyped_data(), array.data(), bytes);
          }
        },
        table);
  });
}

/// Runs `call`; a batch that is refused as a whole becomes statuses and NaN, since an error would
/// end the compiled programme around it.
template <class Call>
ffi::Error guarded(const ffi::Dictionary& given, ffi::RemainingRets results, Call&& call,
                   int refused = static_cast<int>(Status::invalid_input)) {
  try {
    call();
    return ffi::Error::Success();
  } catch (const InvalidInput&) {
    each_output(given, results, [refused](const std::string& name, const ffi::AnyBuffer& to) {
      const int byte = name == "status" ? refused : 0xFF;  // NaN
      std::memset(to.untyped_data(), byte, to.size_bytes());
    });
    return ffi::Error::Success();
  } catch (const std::exception& error) {
    return ffi::Error::Internal(error.what());
  }
}

Backend backend_of(const ffi::Dictionary& given) {
  return value_of<Backend>(text(given, "backend")).value();
}

LcpBatch lcp_of(ffi::RemainingArgs arguments, const ffi::Dictionary& given) {
  LcpBatch batch;
  batch.order = static_cast<int>(whole(given, "order"));
  borrow(batch, arguments);
  return batch;
}

QpBatch qp_of(ffi::RemainingArgs arguments, const ffi::Dictionary& given) {
  QpBatch batch;
  batch.variables = static_cast<int>(whole(given, "variables"));
  batch.rows = static_cast<int>(whole(given, "rows"));
  std::istringstream cones(text(given, "cones"));
  std::string kind;
  for (int size = 0; cones >> kind >> size;) {
    batch.cones.push_back({value_of<ConeKind>(kind).value(), size});
  }
  borrow(batch, arguments);
  return batch;
}

ffi::Error lcp(ffi::RemainingArgs arguments, ffi::RemainingRets results, ffi::Dictionary given) {
  return guarded(given, results, [&] {
    const LcpBatch batch = lcp_of(arguments, given);
    copy_out(solve_lcp(batch, settings_of<LcpSettings>(given), backend_of(given)), batch, given,
             results);
  });
}

ffi::Error qp(ffi::RemainingArgs arguments, ffi::RemainingRets results, ffi::Dictionary given) {
  return guarded(given, results, [&] {
    const QpBatch batch = qp_of(arguments, given);
    copy_out(solve_qp(batch, settings_of<QpSettings>(given), backend_of(given)), batch, given,
             results);
  });
}

ffi::Error impacts(ffi::RemainingArgs arguments, ffi::RemainingRets results,
                   ffi::Dictionary given) {
  return guarded(given, results, [&] {
    ImpactBatch batch;
    batch.dimension = static_cast<int>(whole(given, "dimension"));
    batch.velocities = static_cast<int>(whole(given, "velocities"));
    batch.contacts = static_cast<int>(whole(given, "contacts"));
    borrow(batch, arguments);
    const ImpactResult sampled =
        sample_impacts(batch, settings_of<ImpactSettings>(given), backend_of(given));
    copy_out(sampled.samples, sampled.samples, given, results);
  });
}

template <class Call>
ffi::Error differentiated(const ffi::Dictionary& given, ffi::RemainingRets results, Call&& call) {
  return guarded(given, results, call, static_cast<int>(Smoothness::not_solved));
}

LcpResult lcp_answer(ffi::RemainingArgs arguments, std::size_t& place) {
  LcpResult answer;
  answer.solution = next<double>(arguments, place);
  answer.status = next<Status>(arguments, place);
  return answer;
}

/// Arguments: the batch's arrays, the answer's that a derivative reads, cotangent or direction.
ffi::Error lcp_vjp(ffi::RemainingArgs arguments, ffi::RemainingRets results,
                   ffi::Dictionary given) {
  return differentiated(given, results, [&] {
    const LcpBatch batch = lcp_of(arguments, given);
    std::size_t place = 2;
    const LcpResult answer = lcp_answer(arguments, place);
    LcpCotangent cotangent;
    cotangent.solution = next<double>(arguments, place);
    copy_out(differentiate_lcp(batch, answer, cotangent, settings_of<DerivativeSettings>(given)),
             batch, given, results);
  });
}

ffi::Error lcp_jvp(ffi::RemainingArgs arguments, ffi::RemainingRets results,
                   ffi::Dictionary given) {
  return differentiated(given, results, [&] {
    const LcpBatch batch = lcp_of(arguments, given);
    std::size_t place = 2;
    const LcpResult answer = lcp_answer(arguments, place);
    LcpDirection direction;
    borrow_next(direction, batch, arguments, place);
    copy_out(propagate_lcp(batch, answer, direction, settings_of<DerivativeSettings>(given)), batch,
             given, results);
  });
}

QpResult qp_answer(ffi::RemainingArgs arguments, std::size_t& place) {
  QpResult answer;
  answer.solution = next<double>(arguments, place);
  answer.dual = next<double>(arguments, place);
  answer.cone_dual = next<double>(arguments, place);
  answer.status = next<Status>(arguments, place);
  return answer;
}

ffi::Error qp_vjp(ffi::RemainingArgs arguments, ffi::RemainingRets results, ffi::Dictionary given) {
  return differentiated(given, results, [&] {
    const QpBatch batch = qp_of(arguments, given);
    std::size_t place = 7;
    const QpResult answer = qp_answer(arguments, place);
    QpCotangent cotangent;
    borrow_next(cotangent, batch, arguments, place);
    QpWanted wanted;  // what jax does not ask for decides the status
    const std::string names = " " + text(given, "wanted") + " ";
    const auto asked = [&](const char* name) {
      return names.find(" " + std::string(name) + " ") != std::string::npos;
    };
    wanted = {asked("hessian"), asked("vector"),      asked("matrix"),     asked("lower"),
              asked("upper"),   asked("cone_matrix"), asked("cone_vector")};
    copy_out(
        differentiate_qp(batch, answer, cotangent, settings_of<DerivativeSettings>(given), wanted),
        batch, given, results);
  });
}

ffi::Error qp_jvp(ffi::RemainingArgs arguments, ffi::RemainingRets results, ffi::Dictionary given) {
  return differentiated(given, results, [&] {
    const QpBatch batch = qp_of(arguments, given);
    std::size_t place = 7;
    const QpResult answer = qp_answer(arguments, place);
    QpDirection direction;
    borrow_next(direction, batch, arguments, place);
    copy_out(propagate_qp(batch, answer, direction, settings_of<DerivativeSettings>(given)), batch,
             given, results);
  });
}

CompliantBatch step_of(ffi::RemainingArgs arguments, const ffi::Dictionary& given) {
  CompliantBatch batch;
  batch.dimension = static_cast<int>(whole(given, "dimension"));
  batch.velocities = static_cast<int>(whole(given, "velocities"));
  batch.rows = static_cast<int>(whole(given, "rows"));
  batch.positions = static_cast<int>(whole(given, "positions"));
  borrow(batch, arguments);
  return batch;
}

ffi::Error step(ffi::RemainingArgs arguments, ffi::RemainingRets results, ffi::Dictionary given) {
  return guarded(given, results, [&] {
    const CompliantBatch batch = step_of(arguments, given);
    copy_out(solve_compliant(batch, settings_of<CompliantSettings>(given), backend_of(given)),
             batch, given, results);
  });
}

/// Arguments: the batch's twelve arrays, the answer's forces and statuses, the cotangent.
ffi::Error step_vjp(ffi::RemainingArgs arguments, ffi::RemainingRets results,
                    ffi::Dictionary given) {
  return differentiated(given, results, [&] {
    const CompliantBatch batch = step_of(arguments, given);
    std::size_t place = 12;
    CompliantResult answer;
    answer.force = next<double>(arguments, place);
    answer.status = next<Status>(arguments, place);
    CompliantCotangent cotangent;
    borrow_next(cotangent, batch, arguments, place);
    std::vector<std::string> wanted;
    std::istringstream names(text(given, "wanted"));
    for (std::string name; names >> name;) wanted.push_back(name);
    CompliantSettings solver;
    solver.centripetal = given.get<bool>("centripetal").value();
    copy_out(differentiate_compliant(batch, answer, cotangent, solver,
                                     settings_of<DerivativeSettings>(given), wanted),
             batch, given, results);
  });
}

template <class Handler>
nb::capsule target(Handler handler) {
  return nb::capsule(reinterpret_cast<void*>(handler));
}

auto bound() { return ffi::Ffi::Bind().RemainingArgs().RemainingRets().Attrs(); }

XLA_FFI_DEFINE_HANDLER(kLcp, lcp, bound());
XLA_FFI_DEFINE_HANDLER(kQp, qp, bound());
XLA_FFI_DEFINE_HANDLER(kImpacts, impacts, bound());
XLA_FFI_DEFINE_HANDLER(kLcpVjp, lcp_vjp, bound());
XLA_FFI_DEFINE_HANDLER(kLcpJvp, lcp_jvp, bound());
XLA_FFI_DEFINE_HANDLER(kQpVjp, qp_vjp, bound());
XLA_FFI_DEFINE_HANDLER(kQpJvp, qp_jvp, bound());
XLA_FFI_DEFINE_HANDLER(kStep, step, bound());
XLA_FFI_DEFINE_HANDLER(kStepVjp, step_vjp, bound());

}  // namespace
#endif

void add_jax(nb::module_& module) {
  module.def("ffi_targets", [] {
    nb::dict all;
#ifdef CAROM_XLA
    all["carom_solve_lcp"] = target(kLcp);
    all["carom_solve_qp"] = target(kQp);
    all["carom_sample_impacts"] = target(kImpacts);
    all["carom_solve_lcp_vjp"] = target(kLcpVjp);
    all["carom_solve_lcp_jvp"] = target(kLcpJvp);
    all["carom_solve_qp_vjp"] = target(kQpVjp);
    all["carom_solve_qp_jvp"] = target(kQpJvp);
    all["carom_step"] = target(kStep);
    all["carom_step_vjp"] = target(kStepVjp);
#endif
    return all;
  });
}

}  // namespace carom::python
