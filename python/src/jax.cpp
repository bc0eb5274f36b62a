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

#include <xla/ffi/api/ffi.h>
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
ffi::Error guarded(const ffi::Dictionary& given, ffi::RemainingRets results, Call&& call) {
  try {
    call();
    return ffi::Error::Success();
  } catch (const InvalidInput&) {
    each_output(given, results, [](const std::string& name, const ffi::AnyBuffer& to) {
      const int byte = name == "status" ? static_cast<int>(Status::invalid_input) : 0xFF;  // NaN
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

ffi::Error lcp(ffi::RemainingArgs arguments, ffi::RemainingRets results, ffi::Dictionary given) {
  return guarded(given, results, [&] {
    LcpBatch batch;
    batch.order = static_cast<int>(whole(given, "order"));
    borrow(batch, arguments);
    copy_out(solve_lcp(batch, settings_of<LcpSettings>(given), backend_of(given)), batch, given,
             results);
  });
}

ffi::Error qp(ffi::RemainingArgs arguments, ffi::RemainingRets results, ffi::Dictionary given) {
  return guarded(given, results, [&] {
    QpBatch batch;
    batch.variables = static_cast<int>(whole(given, "variables"));
    batch.rows = static_cast<int>(whole(given, "rows"));
    std::istringstream cones(text(given, "cones"));
    std::string kind;
    for (int size = 0; cones >> kind >> size;) {
      batch.cones.push_back({value_of<ConeKind>(kind).value(), size});
    }
    borrow(batch, arguments);
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

template <class Handler>
nb::capsule target(Handler handler) {
  return nb::capsule(reinterpret_cast<void*>(handler));
}

auto bound() { return ffi::Ffi::Bind().RemainingArgs().RemainingRets().Attrs(); }

XLA_FFI_DEFINE_HANDLER(kLcp, lcp, bound());
XLA_FFI_DEFINE_HANDLER(kQp, qp, bound());
XLA_FFI_DEFINE_HANDLER(kImpacts, impacts, bound());

}  // namespace
#endif

void add_jax(nb::module_& module) {
  module.def("ffi_targets", [] {
    nb::dict all;
#ifdef CAROM_XLA
    all["carom_solve_lcp"] = target(kLcp);
    all["carom_solve_qp"] = target(kQp);
    all["carom_sample_impacts"] = target(kImpacts);
#endif
    return all;
  });
}

}  // namespace carom::python
