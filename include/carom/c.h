#ifndef CAROM_C_H
#define CAROM_C_H

#include <stddef.h>
#include <stdint.h>

/* carom from C and what calls C: batches of LCPs, LPs, QPs, impacts and compliant steps, on the CPU or an NVIDIA GPU.
 *
 * Sizes, arrays, settings and results have the names and shapes of the C++ structs (carom/types/...), which
 * docs/reference/settings.md and docs/reference/c.md list. Arrays are row-major, the problem first; numbers are
 * doubles but for status (CAROM_U8) and what docs/reference/c.md says.
 *
 * Every function but the last three returns a carom_code; carom_error() then says what was wrong, of the last call
 * of this thread. Nothing is printed and no exception leaves a function. A solver may be used by one
 * thread at a time; different solvers by different threads. */

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  CAROM_OK = 0,
  CAROM_INVALID = 1,     /* an argument, a size, a setting or a number was refused */
  CAROM_UNAVAILABLE = 2, /* the backend is not compiled in or has no device */
  CAROM_FAILED = 3       /* memory, or an error of the CUDA runtime */
} carom_code;

typedef enum { CAROM_F64 = 0, CAROM_I32 = 1, CAROM_I64 = 2, CAROM_U64 = 3, CAROM_U8 = 4 } carom_type;

/* Problems of one kind and shape, settings, and the result of the last carom_run. */
typedef struct carom_solver carom_solver;

/* kind: "lcp", "lp", "qp", "impact" or "step". */
carom_code carom_create(const char* kind, carom_solver** solver);
void carom_destroy(carom_solver* solver);

/* name: "problems" (1 at first), and of an lcp "order"; lp "rows", "columns", "objectives" (1); qp "variables",
 * "rows"; impact "dimension" (2), "velocities", "contacts"; step "dimension" (3), "velocities", "rows", "positions". */
carom_code carom_size(carom_solver* solver, const char* name, int64_t value);

/* A cone of a qp, in the order of cone_matrix's rows: "zero", "nonnegative", "second_order". */
carom_code carom_cone(carom_solver* solver, const char* kind, int32_t size);

/* A setting by its name, its value as the command takes it: "tolerance", "1e-10"; also "backend": "auto", "cpu", "cuda",
 * "reference". */
carom_code carom_set(carom_solver* solver, const char* name, const char* value);

/* An input. Values are not copied before carom_run and must live until it returns. stride: from one problem's values to
 * the next one's, in values; 0: all problems share them; -1: one after the other without a gap. */
carom_code carom_give(carom_solver* solver, const char* name, const void* values, int64_t stride);

/* Solves all problems. A problem that has no answer does not make this fail: its status says so. */
carom_code carom_run(carom_solver* solver);

/* An array of the result, which the solver keeps until its next carom_run or carom_destroy. An impact has "velocity",
 * "impulse", ... of the samples that "keep_samples" asked for, and "summary/failed", ... of every problem.
 * values, count and type may be NULL. An array that was not asked for has count 0. */
carom_code carom_get(const carom_solver* solver, const char* name, const void** values, int64_t* count,
                     carom_type* type);

/* Of the last call of this thread that did not return CAROM_OK; lives until that thread's next such call. */
const char* carom_error(void);

/* "solved", "infeasible", ... of a value of status; "unknown" for any other. */
const char* carom_status_word(uint8_t status);

/* e.g. "0.1.0" */
const char* carom_version(void);

#ifdef __cplusplus
}
#endif

#endif
