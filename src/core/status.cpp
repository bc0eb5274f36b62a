#include <carom/status.hpp>

namespace carom {

std::string_view to_string(Status status) {
  switch (status) {
    case Status::solved:
      return "solved";
    case Status::inaccurate:
      return "inaccurate";
    case Status::infeasible:
      return "infeasible";
    case Status::unbounded:
      return "unbounded";
    case Status::nonconvex:
      return "nonconvex";
    case Status::ray:
      return "ray";
    case Status::iteration_limit:
      return "iteration_limit";
    case Status::numerical_error:
      return "numerical_error";
    case Status::invalid_input:
      return "invalid_input";
    case Status::cancelled:
      return "cancelled";
  }
  return "unknown";
}

std::string_view to_string(TrajectoryStatus status) {
  switch (status) {
    case TrajectoryStatus::terminated:
      return "terminated";
    case TrajectoryStatus::max_steps:
      return "max_steps";
    case TrajectoryStatus::failed:
      return "failed";
    case TrajectoryStatus::cancelled:
      return "cancelled";
  }
  return "unknown";
}

}  // namespace carom
