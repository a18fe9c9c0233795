/* Clocks that run PORTER_RUN_CLOCK times as fast from the program's start on, put before the C library's: what a program
 * prints otherwise with them is a time or a rate. With PORTER_RUN_BEGAN the first answer to the time of day is that second, so
 * that two programs which seed by it draw the same, and so do those that seed by C++'s random_device. The kernel's own waits (sleeps, timeouts) are not changed. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { SECOND = 1000000000, CLOCKS = 12 };
static long long started[CLOCKS], factor = 1, began, asked; /* asked: the time of day at the first question */

static int is_of_processor(clockid_t which) { return which == CLOCK_PROCESS_CPUTIME_ID || which == CLOCK_THREAD_CPUTIME_ID; }

static int real(clockid_t which, long long *now) {
    struct timespec t;
    int status = (int)syscall(SYS_clock_gettime, which, &t);
    *now = t.tv_sec * (long long)SECOND + t.tv_nsec;
    return status;
}

__attribute__((constructor)) static void start(void) {
    const char *given = getenv("PORTER_RUN_CLOCK");
    factor = given && atoll(given) > 0 ? atoll(given) : 1;
    given = getenv("PORTER_RUN_BEGAN");
    began = given ? atoll(given) * SECOND : 0;
    for (clockid_t which = 0; which < CLOCKS; which++)
        if (is_of_processor(which) || real(which, &started[which])) started[which] = 0;
}

static int faster(clockid_t which, long long *now) {
    int status = real(which, now);
    if (status || which < 0 || which >= CLOCKS) return status;
    *now = started[which] + (*now - started[which]) * factor;
    if (began && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE)) {
        long long first = 0;
        if (__atomic_compare_exchange_n(&asked, &first, *now, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) first = *now;
        *now += began - first;
    }
    return status;
}

int clock_gettime(clockid_t which, struct timespec *into) {
    long long now;
    int status = faster(which, &now);
    if (!status) *into = (struct timespec){now / SECOND, now % SECOND};
    return status;
}
int gettimeofday(struct timeval *restrict into, void *restrict zone) {
    long long now;
    (void)zone;
    if (into && !faster(CLOCK_REALTIME, &now)) *into = (struct timeval){now / SECOND, now % SECOND / 1000};
    return 0;
}
/* Who asks for seconds to seed by them may ask late, and one side takes longer to come there: the first answers are the same.
 * Who waits by them asks more often. */
enum { SAME_ANSWERS = 16 };
time_t time(time_t *into) {
    static int answers;
    long long now = 0;
    faster(CLOCK_REALTIME, &now);
    if (began && __atomic_fetch_add(&answers, 1, __ATOMIC_RELAXED) < SAME_ANSWERS) now = began;
    if (into) *into = now / SECOND;
    return now / SECOND;
}
clock_t clock(void) {
    long long now = 0;
    faster(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now / (SECOND / CLOCKS_PER_SEC);
}
int timespec_get(struct timespec *into, int base) { return base == TIME_UTC && !clock_gettime(CLOCK_REALTIME, into) ? base : 0; }

/* std::random_device::_M_getval() of libstdc++ */
unsigned int _ZNSt13random_device9_M_getvalEv(void *device) {
    static unsigned long long drawn;
    unsigned int number = 0;
    (void)device;
    if (!began) return syscall(SYS_getrandom, &number, sizeof number, 0) == sizeof number ? number : (unsigned int)random();
    unsigned long long z = (unsigned long long)began + 0x9e3779b97f4a7c15ull * __atomic_add_fetch(&drawn, 1, __ATOMIC_RELAXED);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return (unsigned int)(z >> 32);
}
