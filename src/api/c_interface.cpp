#include <carom/c.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <carom/backend.hpp>
#include <carom/compliant.hpp>
#include <carom/impact.hpp>
#include <carom/lcp.hpp>
#include <carom/lp.hpp>
#include <carom/qp.hpp>

#include "core/require.hpp"
#include "core/settings.hpp"
#include "core/words.hpp"

namespace carom {
namespace {

struct Found {
  const void* values = nullptr;
  std::int64_t count = 0;
  carom_type type = CAROM_F64;
};

template <class Value>
constexpr carom_type type_of() {
  if constexpr (std::is_enum_v<Value>) {
    return type_of<std::underlying_type_t<Value>>();
  } else if constexpr (std::is_same_v<Value, double>) {
    return CAROM_F64;
  } else if constexpr (sizeof(Value) == 1) {
    return CAROM_U8;
  } else if constexpr (sizeof(Value) == 4) {
    return CAROM_I32;
  } else {
    return std::is_signed_v<Value> ? CAROM_I64 : CAROM_U64;
  }
}

[[noreturn]] void unknown(std::string_view name, const std::vector<std::string>& known) {
  throw InvalidInput(Refusal{.field = std::string(name),
                             .rule = "no such name; known are " + joined(known, ", ")});
}

template <class Value>
Value parsed(const char* name, std::string_view text) {
  if constexpr (std::is_enum_v<Value>) {
    if (const auto found = value_of<Value>(text)) return *found;
    require::refuse({}, name, {}, std::string(text), "must be " + listed<Value>(" or "));
  } else if constexpr (std::is_same_v<Value, bool>) {
    for (const bool value : {false, true}) {
      if (text == settings::text_of(value)) return value;
    }
    require::refuse({}, name, {}, std::string(text), "must be yes or no");
  } else {
    Value value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) {
      require::refuse(
          {}, name, {}, std::string(text),
          std::is_integral_v<Value> ? "must be a whole number in range" : "must be a number");
    }
    return value;
  }
}

// The sizes of each kind, by name.
template <class Visit>
void each_size(LcpSizes& sizes, Visit&& visit) {
  visit("order", sizes.order);
}
template <class Visit>
void each_size(LpSizes& sizes, Visit&& visit) {
  visit("rows", sizes.rows);
  visit("columns", sizes.columns);
  visit("objectives", sizes.objectives);
}
template <class Visit>
void each_size(QpSizes& sizes, Visit&& visit) {
  visit("variables", sizes.variables);
  visit("rows", sizes.rows);
}
template <class Visit>
void each_size(ImpactSizes& sizes, Visit&& visit) {
  visit("dimension", sizes.dimension);
  visit("velocities", sizes.velocities);
  visit("contacts", sizes.contacts);
}
template <class Visit>
void each_size(CompliantSizes& sizes, Visit&& visit) {
  visit("dimension", sizes.dimension);
  visit("velocities", sizes.velocities);
  visit("rows", sizes.rows);
  visit("positions", sizes.positions);
}

/// What a C caller does with problems of any kind.
class AnySolver {
 public:
  virtual ~AnySolver() = default;
  virtual void size(std::string_view name, std::int64_t value) = 0;
  virtual void cone(ConeKind kind, std::int32_t size) = 0;
  virtual void set(std::string_view name, std::string_view value) = 0;
  virtual void give(std::string_view name, const void* values, std::int64_t stride) = 0;
  virtual void run() = 0;
  [[nodiscard]] virtual Found get(std::string_view name) const = 0;
};

/// Batch, Settings: of the kind; Result: what `solve` returns.
template <class Batch, class Settings, class Result,
          Result (*Solve)(const Batch&, const Settings&, Backend)>
class Solver final : public AnySolver {
 public:
  Solver() { sizes_.problems = 1; }

  void size(std::string_view name, std::int64_t value) override {
    std::vector<std::string> known{"problems"};
    bool found = name == "problems";
    if (found) {
      require::at_least(name, value, 0);
      sizes_.problems = value;
    }
    each_size(sizes_, [&](const char* own, int& size) {
      known.emplace_back(own);
      if (name != own) return;
      require::between(name, value, 0, std::numeric_limits<int>::max());
      size = static_cast<int>(value);
      found = true;
    });
    if (!found) unknown(name, known);
  }
  void cone([[maybe_unused]] ConeKind kind, [[maybe_unused]] std::int32_t size) override {
    if constexpr (std::is_same_v<typename Batch::Sizes, QpSizes>) {
      require::at_least("size", size, 1);
      sizes_.cones.push_back({kind, size});
    } else {
      throw InvalidInput("cones: only a qp has them");
    }
  }
  void set(std::string_view name, std::string_view value) override {
    if (name == "backend") {
      backend_ = parsed<Backend>("backend", value);
      return;
    }
    Settings changed = settings_;
    std::vector<std::string> known{"backend"};
    bool found = false;
    Settings::each_setting(
        [&](const Setting& setting, auto& own) {
          known.emplace_back(setting.name);
          if (name != setting.name) return;
          own = parsed<std::remove_cvref_t<decltype(own)>>(setting.name, value);
          found = true;
        },
        changed);
    if (!found) unknown(name, known);
    require::settings(changed);
    settings_ = changed;
  }
  void give(std::string_view name, const void* values, std::int64_t stride) override {
    std::vector<std::string> known;
    bool found = false;
    Batch::each_array(
        sizes_,
        [&](const char* own, const Extents&, auto&) {
          known.emplace_back(own);
          found = found || name == own;
        },
        batch_);
    if (!found) unknown(name, known);
    if (values == nullptr) require::refuse({}, name, {}, "NULL", "must point to values");
    require::at_least("stride", stride, -1);
    given_[std::string(name)] = {values, stride};
  }
  void run() override {
    batch_ = Batch();
    static_cast<typename Batch::Sizes&>(batch_) = sizes_;
    Batch::each_array(
        sizes_,
        [&](const char* name, const Extents& extents, auto& array) { take(name, extents, array); },
        batch_);
    result_ = Result();  // nothing of the last call stays where this one fails
    result_ = Solve(batch_, settings_, backend_);
    found_.clear();
    numbers_.clear();
    list(result_);
  }
  [[nodiscard]] Found get(std::string_view name) const override {
    const auto at = found_.find(std::string(name));
    if (at != found_.end()) return at->second;
    std::vector<std::string> known;
    for (const auto& [own, found] : found_) known.push_back(own);
    if (known.empty()) throw InvalidInput(std::string(name) + ": there is no result yet");
    unknown(name, known);
  }

 private:
  struct Given {
    const void* values;
    std::int64_t stride;
  };

  /// Borrows what lies in order, else puts the problems' values one after the other.
  template <class Value>
  void take(const char* name, const Extents& extents, Buffer<Value>& array) const {
    const auto at = given_.find(name);
    if (at == given_.end()) {
      if (extents.optional() || extents.count() == 0) return;
      throw InvalidInput(
          Refusal{.field = name, .relation = "", .value = "is missing", .rule = "carom_give it"});
    }
    // Inputs are only read.
    auto* from = static_cast<Value*>(const_cast<void*>(at->second.values));
    const std::int64_t own = extents.stride();
    const std::int64_t step = at->second.stride < 0 ? own : at->second.stride;
    const auto count = static_cast<std::size_t>(extents.count());
    if (step == own) {
      array = Buffer<Value>::borrow(from, count, MemorySpace::host);
      return;
    }
    array = Buffer<Value>(count);
    for (std::int64_t p = 0; own > 0 && p < extents[0]; ++p) {
      std::copy_n(from + p * step, own, array.data() + p * own);
    }
  }

  template <class Table, class Sizes>
  void list_arrays(const Table& table, const Sizes& sizes) {
    Table::each_array(
        sizes,
        [&](const char* name, const Extents&, const auto& array) {
          using Value = std::remove_cvref_t<decltype(*array.data())>;
          found_[name] = {array.data(), static_cast<std::int64_t>(array.size()), type_of<Value>()};
        },
        table);
  }
  template <class Table>
  void list(const Table& result) {
    if constexpr (std::is_same_v<Table, ImpactResult>) {
      list_arrays(result.samples, static_cast<const ImpactSampleSizes&>(result.samples));
      for (const ImpactSummary& summary : result.summary) {
        ImpactSummary::each_field(
            [&](const Field& field, const auto& value) {
              note(std::string("summary/") + field.name, value);
            },
            summary);
      }
      for (const auto& [name, values] : numbers_) {
        found_[name] = {values.data(), static_cast<std::int64_t>(values.size()), CAROM_F64};
      }
    } else {
      list_arrays(result, sizes_);
    }
  }
  template <class Value>
  void note(const std::string& name, const Value& value) {
    std::vector<double>& numbers = numbers_[name];
    if constexpr (std::is_enum_v<Value> || std::is_arithmetic_v<Value>) {
      numbers.push_back(static_cast<double>(value));
    } else if constexpr (std::is_same_v<Value, std::vector<double>>) {
      numbers.insert(numbers.end(), value.begin(), value.end());
    } else {
      numbers_.erase(name);
    }
  }

  typename Batch::Sizes sizes_;
  Batch batch_;
  Settings settings_;
  Backend backend_ = Backend::automatic;
  Result result_;
  std::map<std::string, Given, std::less<>> given_;
  std::map<std::string, Found> found_;
  std::map<std::string, std::vector<double>> numbers_;
};

LcpResult lcp(const LcpBatch& batch, const LcpSettings& settings, Backend backend) {
  return solve_lcp(batch, settings, backend);
}
LpResult lp(const LpBatch& batch, const LpSettings& settings, Backend backend) {
  return solve_lp(batch, settings, backend);
}
QpResult qp(const QpBatch& batch, const QpSettings& settings, Backend backend) {
  return solve_qp(batch, settings, backend);
}
ImpactResult impact(const ImpactBatch& batch, const ImpactSettings& settings, Backend backend) {
  return sample_impacts(batch, settings, backend);
}
CompliantResult step(const CompliantBatch& batch, const CompliantSettings& settings,
                     Backend backend) {
  return solve_compliant(batch, settings, backend);
}

std::unique_ptr<AnySolver> solver_of(std::string_view kind) {
  if (kind == "lcp") return std::make_unique<Solver<LcpBatch, LcpSettings, LcpResult, lcp>>();
  if (kind == "lp") return std::make_unique<Solver<LpBatch, LpSettings, LpResult, lp>>();
  if (kind == "qp") return std::make_unique<Solver<QpBatch, QpSettings, QpResult, qp>>();
  if (kind == "impact")
    return std::make_unique<Solver<ImpactBatch, ImpactSettings, ImpactResult, impact>>();
  if (kind == "step")
    return std::make_unique<Solver<CompliantBatch, CompliantSettings, CompliantResult, step>>();
  require::refuse({}, "kind", {}, std::string(kind), "must be lcp, lp, qp, impact or step");
}

std::string& last_error() {
  thread_local std::string text;
  return text;
}

/// What `call` throws becomes a code and carom_error's text.
template <class Call>
carom_code guarded(Call&& call) noexcept {
  const auto failed = [](carom_code code, const char* text) {
    try {
      last_error() = text;
    } catch (...) {
      last_error().clear();  // no memory even for that
    }
    return code;
  };
  try {
    call();
    return CAROM_OK;
  } catch (const InvalidInput& error) {
    return failed(CAROM_INVALID, error.what());
  } catch (const BackendUnavailable& error) {
    return failed(CAROM_UNAVAILABLE, error.what());
  } catch (const std::exception& error) {
    return failed(CAROM_FAILED, error.what());
  } catch (...) {
    return failed(CAROM_FAILED, "an exception of an unknown type");
  }
}

const char* text_of(const char* name, const char* value) {
  if (value == nullptr) require::refuse({}, name, {}, "NULL", "must be a text");
  return value;
}

}  // namespace
}  // namespace carom

struct carom_solver {
  std::unique_ptr<carom::AnySolver> own;
};

namespace {
carom::AnySolver& of(const carom_solver* solver) {
  if (solver == nullptr)
    carom::require::refuse({}, "solver", {}, "NULL", "must come from carom_create");
  return *solver->own;
}
}  // namespace

extern "C" {

carom_code carom_create(const char* kind, carom_solver** solver) {
  return carom::guarded([&] {
    if (solver == nullptr)
      carom::require::refuse({}, "solver", {}, "NULL", "must point to a pointer");
    *solver = nullptr;
    auto made = std::make_unique<carom_solver>();
    made->own = carom::solver_of(carom::text_of("kind", kind));
    *solver = made.release();
  });
}

void carom_destroy(carom_solver* solver) { delete solver; }

carom_code carom_size(carom_solver* solver, const char* name, int64_t value) {
  return carom::guarded([&] { of(solver).size(carom::text_of("name", name), value); });
}

carom_code carom_cone(carom_solver* solver, const char* kind, int32_t size) {
  return carom::guarded([&] {
    of(solver).cone(carom::parsed<carom::ConeKind>("kind", carom::text_of("kind", kind)), size);
  });
}

carom_code carom_set(carom_solver* solver, const char* name, const char* value) {
  return carom::guarded(
      [&] { of(solver).set(carom::text_of("name", name), carom::text_of("value", value)); });
}

carom_code carom_give(carom_solver* solver, const char* name, const void* values, int64_t stride) {
  return carom::guarded([&] { of(solver).give(carom::text_of("name", name), values, stride); });
}

carom_code carom_run(carom_solver* solver) {
  return carom::guarded([&] { of(solver).run(); });
}

carom_code carom_get(const carom_solver* solver, const char* name, const void** values,
                     int64_t* count, carom_type* type) {
  return carom::guarded([&] {
    const carom::Found found = of(solver).get(carom::text_of("name", name));
    if (values != nullptr) *values = found.values;
    if (count != nullptr) *count = found.count;
    if (type != nullptr) *type = found.type;
  });
}

const char* carom_error(void) { return carom::last_error().c_str(); }

const char* carom_status_word(uint8_t status) {
  return carom::word_of(static_cast<carom::Status>(status))
      .data();  // of literals, which end in zero
}

const char* carom_version(void) { return carom::build_info().version.c_str(); }
}
