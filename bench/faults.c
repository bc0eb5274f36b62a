/* What happens to machines, for bench/scale.py, by LD_PRELOAD:
 *   CAROM_FULL=FILE   while FILE is there no byte can be written: ENOSPC
 *   CAROM_CLOCK=S     the wall clock jumps by up to S seconds either way whenever it is read
 *   CAROM_NO_FSYNC=1  a flush to the disk takes no time (a killed process loses none of what it
 * wrote) cc -shared -fPIC -O1 -o faults.so faults.c -ldl */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static int full(int file) {
  const char* flag = getenv("CAROM_FULL");
  return file > 2 && flag && access(flag, F_OK) == 0;
}

static long jump(void) {
  static unsigned long state = 0;
  const char* most = getenv("CAROM_CLOCK");
  if (!most) return 0;
  if (!state) state = (unsigned long)getpid();
  state = state * 6364136223846793005UL + 1442695040888963407UL;
  const long s = atol(most);
  return (long)(state >> 33) % (2 * s + 1) - s;
}

#define REAL(name)               \
  static __typeof__(&name) real; \
  if (!real) real = (__typeof__(real))dlsym(RTLD_NEXT, #name)

ssize_t write(int file, const void* from, size_t count) {
  REAL(write);
  if (!full(file)) return real(file, from, count);
  errno = ENOSPC;
  return -1;
}

ssize_t pwrite64(int file, const void* from, size_t count, off_t at) {
  REAL(pwrite64);
  if (!full(file)) return real(file, from, count, at);
  errno = ENOSPC;
  return -1;
}
ssize_t pwrite(int file, const void* from, size_t count, off_t at) {
  return pwrite64(file, from, count, at);
}

int fsync(int file) {
  REAL(fsync);
  return getenv("CAROM_NO_FSYNC") ? 0 : real(file);
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  REAL(clock_gettime);
  const int failed = real(clock, now);
  if (!failed && clock == CLOCK_REALTIME) now->tv_sec += jump();
  return failed;
}

int gettimeofday(struct timeval* now, void* zone) {
  REAL(gettimeofday);
  const int failed = real(now, zone);
  if (!failed) now->tv_sec += jump();
  return failed;
}

time_t time(time_t* out) {
  struct timeval now;
  gettimeofday(&now, NULL);
  if (out) *out = now.tv_sec;
  return now.tv_sec;
}
