#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <carom/backend.hpp>

#include "families.hpp"

namespace carom::python {

namespace nb = nanobind;

namespace {

/// A CudaScope between `with` and its end, on the thread that entered.
class Devices {
 public:
  explicit Devices(std::optional<std::vector<int>> indices) : indices_(std::move(indices)) {}
  Devices(const Devices&) = delete;
  Devices& operator=(const Devices&) = delete;

  void enter() {
    std::vector<int> chosen;
    if (indices_) {
      chosen = *indices_;
    } else {
      for (const DeviceInfo& device : cuda_devices()) chosen.push_back(device.index);
    }
    scopes_.push_back(std::make_unique<CudaScope>(std::move(chosen)));
  }
  void leave() { scopes_.pop_back(); }

 private:
  std::optional<std::vector<int>> indices_;
  std::vector<std::unique_ptr<CudaScope>> scopes_;  // of nested `with`s
};

}  // namespace

void add_cuda_scope(nb::module_& module) {
  nb::class_<Devices>(
      module, "CudaScope",
      "with carom.CudaScope([0, 1]): calls of this thread on backend cuda divide their batches "
      "among these devices (indices of info()['cuda_devices']; all where none is named), with the "
      "bits of one. Raises InvalidInput for a device that is not there, BackendUnavailable "
      "without any.")
      .def(nb::init<std::optional<std::vector<int>>>(), nb::arg("devices") = nb::none())
      .def("__enter__", &Devices::enter)
      .def(
          "__exit__",
          [](Devices& devices, const nb::object&, const nb::object&, const nb::object&) {
            devices.leave();
          },
          nb::arg("kind").none(), nb::arg("error").none(), nb::arg("trace").none());
}

}  // namespace carom::python
