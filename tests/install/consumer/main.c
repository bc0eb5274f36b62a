/* The C interface of an installed carom: an LCP whose answer is (4/3, 7/3). */
#include <carom/c.h>
#include <math.h>
#include <stdio.h>

int main(void) {
  const double M[] = {2, 1, 1, 2}, q[] = {-5, -6};
  const void* z;
  carom_solver* lcp;
  int right;
  if (carom_create("lcp", &lcp) || carom_size(lcp, "order", 2) ||
      carom_give(lcp, "matrix", M, -1) || carom_give(lcp, "vector", q, -1) || carom_run(lcp) ||
      carom_get(lcp, "solution", &z, NULL, NULL)) {
    fprintf(stderr, "%s\n", carom_error());
    return 1;
  }
  printf("%g %g\n", ((const double*)z)[0], ((const double*)z)[1]);
  right = fabs(((const double*)z)[0] - 4.0 / 3.0) < 1e-12 &&
          fabs(((const double*)z)[1] - 7.0 / 3.0) < 1e-12;
  carom_destroy(lcp);
  return !right;
}
