/* Answers with closed forms through carom/c.h, and what it refuses. */
#include <carom/c.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

static void expect(int holds, const char* what, int line) {
  if (holds) return;
  ++failures;
  fprintf(stderr, "c_interface.c:%d: %s (%s)\n", line, what, carom_error());
}
#define EXPECT(condition) expect((condition), #condition, __LINE__)

static void expect_refused(carom_code code, const char* word, int line) {
  expect(code == CAROM_INVALID, "an argument is refused", line);
  expect(strstr(carom_error(), word) != NULL, word, line);
}
#define EXPECT_REFUSED(call, word) expect_refused((call), (word), __LINE__)

static const double* numbers(const carom_solver* solver, const char* name, int64_t expected) {
  const void* values = NULL;
  int64_t count = 0;
  carom_type type = CAROM_U8;
  EXPECT(carom_get(solver, name, &values, &count, &type) == CAROM_OK);
  EXPECT(count == expected);
  EXPECT(type == CAROM_F64);
  if (values == NULL || count != expected) exit(1);
  return (const double*)values;
}

static int has_status(const carom_solver* solver, int64_t problem, const char* word) {
  const void* values = NULL;
  int64_t count = 0;
  carom_type type = CAROM_F64;
  if (carom_get(solver, "status", &values, &count, &type) != CAROM_OK || type != CAROM_U8 || problem >= count) return 0;
  return strcmp(carom_status_word(((const uint8_t*)values)[problem]), word) == 0;
}

static int near(double a, double b) { return fabs(a - b) <= 1e-9 * (1.0 + fabs(b)); }

/* M shared by two problems, q with a number between them that is not read. */
static void lcp(void) {
  const double matrix[] = {2.0, 1.0, 1.0, 2.0};
  const double vector[] = {-5.0, -6.0, NAN, -1.0, 3.0, NAN};
  carom_solver* solver = NULL;
  EXPECT(carom_create("lcp", &solver) == CAROM_OK);
  EXPECT(carom_size(solver, "problems", 2) == CAROM_OK);
  EXPECT(carom_size(solver, "order", 2) == CAROM_OK);
  EXPECT(carom_set(solver, "backend", "cpu") == CAROM_OK);
  EXPECT(carom_set(solver, "tolerance", "1e-10") == CAROM_OK);
  EXPECT_REFUSED(carom_run(solver), "matrix");
  EXPECT(carom_give(solver, "matrix", matrix, 0) == CAROM_OK);
  EXPECT(carom_give(solver, "vector", vector, 3) == CAROM_OK);
  EXPECT(carom_run(solver) == CAROM_OK);
  const double* z = numbers(solver, "solution", 4);
  EXPECT(near(z[0], 4.0 / 3.0) && near(z[1], 7.0 / 3.0) && near(z[2], 0.5) && z[3] == 0.0);
  EXPECT(has_status(solver, 0, "solved") && has_status(solver, 1, "solved"));

  EXPECT_REFUSED(carom_size(solver, "columns", 2), "order");
  EXPECT_REFUSED(carom_size(solver, "order", -1), "-1");
  EXPECT_REFUSED(carom_set(solver, "tolerance", "much"), "much");
  EXPECT_REFUSED(carom_set(solver, "tolerance", "-1"), "tolerance");
  EXPECT_REFUSED(carom_set(solver, "certificates", "perhaps"), "yes or no");
  EXPECT_REFUSED(carom_set(solver, "tolerences", "1"), "tolerences");
  EXPECT_REFUSED(carom_set(solver, "backend", "gpu"), "reference");
  EXPECT_REFUSED(carom_give(solver, "q", vector, 0), "vector");
  EXPECT_REFUSED(carom_give(solver, "vector", NULL, 0), "NULL");
  EXPECT_REFUSED(carom_give(solver, "vector", vector, -2), "stride");
  EXPECT_REFUSED(carom_cone(solver, "zero", 1), "qp");
  EXPECT_REFUSED(carom_get(solver, "y", NULL, NULL, NULL), "solution");
  EXPECT_REFUSED(carom_run(NULL), "solver");
  EXPECT(near(numbers(solver, "solution", 4)[0], 4.0 / 3.0)); /* refusals leave the result */
  carom_destroy(solver);
  EXPECT_REFUSED(carom_create("ode", &solver), "impact");
  EXPECT(solver == NULL);
  EXPECT_REFUSED(carom_create(NULL, &solver), "kind");
}

/* max x + y over x + 2 y <= 4, 3 x + y <= 6, x, y >= 0: (8/5, 6/5). Then without an answer. */
static void lp(void) {
  const double cost[] = {-1.0, -1.0};
  const double matrix[] = {1.0, 2.0, 3.0, 1.0};
  const double row_lower[] = {-INFINITY, -INFINITY};
  const double row_upper[] = {4.0, 6.0};
  const double none[] = {-4.0, 6.0};
  const double column_lower[] = {0.0, 0.0};
  const double column_upper[] = {INFINITY, INFINITY};
  carom_solver* solver = NULL;
  EXPECT(carom_create("lp", &solver) == CAROM_OK);
  EXPECT(carom_size(solver, "rows", 2) == CAROM_OK && carom_size(solver, "columns", 2) == CAROM_OK);
  EXPECT(carom_give(solver, "cost", cost, -1) == CAROM_OK);
  EXPECT(carom_give(solver, "matrix", matrix, -1) == CAROM_OK);
  EXPECT(carom_give(solver, "row_lower", row_lower, -1) == CAROM_OK);
  EXPECT(carom_give(solver, "row_upper", row_upper, -1) == CAROM_OK);
  EXPECT(carom_give(solver, "column_lower", column_lower, -1) == CAROM_OK);
  EXPECT(carom_give(solver, "column_upper", column_upper, -1) == CAROM_OK);
  EXPECT(carom_run(solver) == CAROM_OK);
  EXPECT(near(numbers(solver, "solution", 2)[0], 1.6) && near(numbers(solver, "objective", 1)[0], -2.8));
  EXPECT(carom_give(solver, "row_upper", none, -1) == CAROM_OK);
  EXPECT(carom_run(solver) == CAROM_OK);
  EXPECT(has_status(solver, 0, "infeasible"));
  EXPECT(numbers(solver, "farkas", 2)[0] < 0.0 || numbers(solver, "farkas", 2)[0] > 0.0);
  carom_destroy(solver);
}

/* The point of the cone |(y, z)| <= x nearest to (0, 3, 4): (2.5, 1.5, 2). */
static void qp(void) {
  const double hessian[] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const double vector[] = {0.0, -3.0, -4.0};
  const double cone_matrix[] = {-1, 0, 0, 0, -1, 0, 0, 0, -1};
  const double cone_vector[] = {0.0, 0.0, 0.0};
  carom_solver* solver = NULL;
  EXPECT(carom_create("qp", &solver) == CAROM_OK);
  EXPECT(carom_size(solver, "variables", 3) == CAROM_OK);
  EXPECT(carom_cone(solver, "second_order", 3) == CAROM_OK);
  EXPECT_REFUSED(carom_cone(solver, "soc", 3), "second_order");
  EXPECT(carom_give(solver, "hessian", hessian, -1) == CAROM_OK);
  EXPECT(carom_give(solver, "vector", vector, -1) == CAROM_OK);
  EXPECT(carom_give(solver, "cone_matrix", cone_matrix, -1) == CAROM_OK);
  EXPECT(carom_give(solver, "cone_vector", cone_vector, -1) == CAROM_OK);
  EXPECT(carom_run(solver) == CAROM_OK);
  const double* x = numbers(solver, "solution", 3);
  EXPECT(near(x[0], 2.5) && near(x[1], 1.5) && near(x[2], 2.0));
  carom_destroy(solver);
}

/* A point mass of 2 kg that falls at 1 m/s and slides at 3 m/s, mu = 0.5: slows to 2.5 m/s, in every sample. */
static void impact(void) {
  const double mass[] = {2.0, 0.0, 0.0, 2.0};
  const double normal[] = {0.0, 1.0};
  const double tangent[] = {1.0, 0.0};
  const double friction[] = {0.5};
  const double velocity[] = {3.0, -1.0};
  carom_solver* solver = NULL;
  int i;
  EXPECT(carom_create("impact", &solver) == CAROM_OK);
  EXPECT(carom_size(solver, "velocities", 2) == CAROM_OK && carom_size(solver, "contacts", 1) == CAROM_OK);
  EXPECT(carom_set(solver, "samples", "64") == CAROM_OK && carom_set(solver, "keep_samples", "-1") == CAROM_OK);
  EXPECT(carom_give(solver, "mass_matrix", mass, 0) == CAROM_OK);
  EXPECT(carom_give(solver, "normal_jacobian", normal, 0) == CAROM_OK);
  EXPECT(carom_give(solver, "tangent_jacobian", tangent, 0) == CAROM_OK);
  EXPECT(carom_give(solver, "friction", friction, 0) == CAROM_OK);
  EXPECT(carom_give(solver, "velocity", velocity, 0) == CAROM_OK);
  EXPECT(carom_run(solver) == CAROM_OK);
  const double* after = numbers(solver, "velocity", 128);
  for (i = 0; i < 64; ++i) EXPECT(near(after[2 * i], 2.5) && fabs(after[2 * i + 1]) <= 1e-9);
  EXPECT(numbers(solver, "summary/samples", 1)[0] == 64.0 && numbers(solver, "summary/failed", 1)[0] == 0.0);
  carom_destroy(solver);
}

/* A mass of 2 kg without contacts under 10 N for 0.1 s. */
static void step(void) {
  const double step_size[] = {0.1};
  const double mass[] = {2.0};
  const double force[] = {10.0};
  const double velocity[] = {1.0};
  const double zero[] = {0.0};
  const double one[] = {1.0};
  const uint8_t type[] = {0};
  carom_solver* solver = NULL;
  EXPECT(carom_create("step", &solver) == CAROM_OK);
  EXPECT(carom_size(solver, "velocities", 1) == CAROM_OK && carom_size(solver, "rows", 1) == CAROM_OK);
  EXPECT(carom_give(solver, "step_size", step_size, 0) == CAROM_OK);
  EXPECT(carom_give(solver, "mass_matrix", mass, 0) == CAROM_OK);
  EXPECT(carom_give(solver, "force", force, 0) == CAROM_OK);
  EXPECT(carom_give(solver, "velocity", velocity, 0) == CAROM_OK);
  EXPECT(carom_give(solver, "type", type, 0) == CAROM_OK);
  EXPECT(carom_give(solver, "jacobian", one, 0) == CAROM_OK);
  EXPECT(carom_give(solver, "jacobian_dot_v", zero, 0) == CAROM_OK);
  EXPECT(carom_give(solver, "phi", zero, 0) == CAROM_OK);
  EXPECT(carom_give(solver, "stiffness", zero, 0) == CAROM_OK);
  EXPECT(carom_give(solver, "damping", zero, 0) == CAROM_OK);
  EXPECT(carom_give(solver, "friction", zero, 0) == CAROM_OK);
  EXPECT(carom_run(solver) == CAROM_OK);
  EXPECT(near(numbers(solver, "velocity", 1)[0], 1.5));
  EXPECT(near(numbers(solver, "kinetic_energy", 1)[0], 2.25));
  carom_destroy(solver);
}

int main(void) {
  carom_destroy(NULL);
  lcp();
  lp();
  qp();
  impact();
  step();
  EXPECT(strcmp(carom_status_word(255), "unknown") == 0);
  EXPECT(carom_version()[0] >= '0' && carom_version()[0] <= '9');
  if (failures == 0) puts("all answers and refusals as expected");
  return failures != 0;
}
