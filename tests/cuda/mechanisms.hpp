#pragma once

#include <string>
#include <vector>

namespace carom::test {

/// write_mechanism of an impact model's mechanism, on the device. All: of a state in host memory.
std::vector<double> mechanism_on_device(const std::string& model,
                                        const std::vector<double>& parameters,
                                        const std::vector<double>& q, const std::vector<double>& v);

}  // namespace carom::test
