/* What libraries beside the runtime ask of it: a stand-in answers their calls on the host (stand_ins/). */
#include "api.h"

/* 0: the call may be answered now; what streams were asked for before has happened then. */
EXPORT int porter_answers(const char *library, const char *call, void *stream) {
    STAND_IN;
    queue_drain();
    if (queue_captures(stream)) return refuse(call, "in a stream that captures");
    stand_in(library, call);
    return OK;
}

EXPORT int porter_captures(void *stream) {
    STAND_IN;
    return queue_captures(stream);
}

/* For a stream that captures: its graph plays the call. */
EXPORT int porter_plays(const char *library, const char *call, void *stream, void (*play)(void *), void *kept) {
    STAND_IN;
    stand_in(library, call);
    return queue_call(stream, play, kept);
}

/* 0: that much memory is there, and the device may use it. */
EXPORT int porter_reaches(const char *call, const void *at, uint64_t bytes) {
    STAND_IN;
    int status = reaches(call, at, bytes, 1);
    if (!status) memory_wrote(at, bytes);
    return status;
}

/* Whoever loads a library whose threads work on device memory: threads have what the one has that makes them. */
EXPORT void porter_lends(void) { STAND_IN; }

/* Host code works on device memory, whichever thread: PyTorch's operators. */
EXPORT void porter_opens(void) {
    STAND_IN;
    memory_open();
}

/* Host code wrote there, as PyTorch's operators do. */
EXPORT void porter_wrote(const void *at, uint64_t bytes) {
    STAND_IN;
    memory_wrote(at, bytes);
}

EXPORT int porter_refuses(const char *call, const char *what) {
    STAND_IN;
    return refuse(call, what);
}

EXPORT void porter_notes(const char *text) {
    STAND_IN;
    note("%s", text);
}

/* A call that the library refuses, with its arguments or its ranks: kept, so that a program that goes on is no pass. */
EXPORT void porter_fails(const char *call, const char *why) {
    STAND_IN;
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
    STAND_IN;
    fault_happened("deadlock", call, why, NULL, 0, (uint32_t[3]){0}, 0);
    end_process(END_FAULT, "%s", why);
}
