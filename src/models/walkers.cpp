#include "models/walkers.hpp"

#include "models/contact_rows.hpp"

namespace carom::models::detail {

void rest_on_trailing_foot(Walker& walker) {
  // J = [1, Jq]: the floating point's velocity cancels what the angles' rates give the foot.
  const FootPoint& foot = walker.feet[kTrailing];
  const Eigen::MatrixXd jacobian =
      walker.tree.jacobian(foot.link, foot.point, walker.configuration);
  const Eigen::Index angles = walker.velocity.size() - 2;
  walker.velocity.head<2>() = -jacobian.rightCols(angles) * walker.velocity.tail(angles);
}

ImpactProblem walker_problem(const Walker& walker, double friction) {
  std::vector<ContactRows> contacts;
  for (const FootPoint& foot : walker.feet) {
    const Eigen::MatrixXd jacobian =
        walker.tree.jacobian(foot.link, foot.point, walker.configuration);
    contacts.push_back({jacobian.row(1), jacobian.row(0)});
  }
  return assemble(2, walker.tree.mass_matrix(walker.configuration), contacts, friction,
                  walker.velocity);
}

}  // namespace carom::models::detail
