/* What libraries beside the runtime ask of it: a stand-in answers their calls on the host (stand_ins/). */
#include "api.h"

/* 0: the call may be answered now; what streams were asked for before has happened then. */
EXPORT int porter_answers(const char *library, const char *call, void *stream) {
    SYNCHRONISED;
    if (queue_captures(stream)) return refuse(call, "in a stream that captures");
    stand_in(library, call);
    return OK;
}

EXPORT int porter_captures(void *stream) {
    BEGIN;
    return queue_captures(stream);
}

/* For a stream that captures: its graph plays the call. */
EXPORT int porter_plays(const char *library, const char *call, void *stream, void (*play)(void *), void *kept) {
    BEGIN;
    stand_in(library, call);
    return queue_call(stream, play, kept);
}

/* 0: that much memory is there, and the device may use it. */
EXPORT int porter_reaches(const char *call, const void *at, uint64_t bytes) {
    BEGIN;
    return reaches(call, at, bytes, 1);
}

EXPORT int porter_refuses(const char *call, const char *what) {
    BEGIN;
    return refuse(call, what);
}

EXPORT void porter_notes(const char *text) {
    BEGIN;
    note("%s", text);
}

/* A call that the library refuses, with its arguments or its ranks: kept, so that a program that goes on is no pass. */
EXPORT void porter_fails(const char *call, const char *why) {
    BEGIN;
    failed_call(call, INVALID_VALUE, why);
}

/* 1: another thread is within a call of the runtime, such as a launch that translates its kernel. */
EXPORT int porter_works(void) {
    ready();
    if (pthread_mutex_trylock(&the_lock)) return 1;
    pthread_mutex_unlock(&the_lock);
    return 0;
}

EXPORT int porter_own_thread(void) { return watching_thread(); }

/* The program waits for what cannot come. */
EXPORT void porter_ends(const char *call, const char *why) {
    BEGIN;
    fault_happened("deadlock", call, why, NULL, 0, (uint32_t[3]){0}, 0);
    end_process(END_FAULT, "%s", why);
}
