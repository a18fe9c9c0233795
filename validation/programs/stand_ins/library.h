/* What stand-ins for the libraries beside the runtime share: each call is answered at once, on the host, in order.
 *
 * Compiled with -DSIDE_CUDA or -DSIDE_HIP, -DLIBRARY="name" and -DNAMES_FILE="names/name.h", whose declarations come
 * from the vendor's headers: what differs from them does not compile. The numbers are those of a kept library. */
#ifndef PORTER_LIBRARY_H
#define PORTER_LIBRARY_H

#include <complex.h>
#undef I
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

int porter_answers(const char *library, const char *call, void *stream);
int porter_captures(void *stream);
int porter_plays(const char *library, const char *call, void *stream, void (*play)(void *), void *kept);
int porter_reaches(const char *call, const void *at, uint64_t bytes);
int porter_refuses(const char *call, const char *what);
void porter_notes(const char *text);
void porter_lends(void);
void porter_fails(const char *call, const char *why);
int porter_works(void);
int porter_own_thread(void);
_Noreturn void porter_ends(const char *call, const char *why);

#define CALL(name, result, arguments) EXPORT result name arguments;
#include NAMES_FILE
#undef CALL

/* The kept library that a variable of the environment names; the process ends where it is none. */
static inline void *kept_library(const char *variable) {
    const char *path = getenv(variable);
    porter_lends();
    void *made = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (made) return made;
    fprintf(stderr, "porter: " LIBRARY ": %s\n", path ? dlerror() : "start the program with porter run");
    _exit(125);
}

#endif
