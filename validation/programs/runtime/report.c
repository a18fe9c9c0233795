/* What a run came to, as JSON for `porter run`; written when the process ends, however it ends. */
#define _GNU_SOURCE
#include "api.h"

#include <signal.h>
#include <stdarg.h>
#include <unistd.h>

struct Settings settings;

typedef struct Text {
    char *text, *more;
    uint64_t count;
    int status;
} Text;

typedef struct Texts {
    Text *items;
    uint32_t count, room;
} Texts;

static Texts notes, refusals, failures, faults, untranslated, stood_in;
static uint64_t launches, known_launches, lane_instructions, calls_to_library;
static double seconds;
static char ending[2400];
static const char *running;
static double written_at;
static int is_fork, has_printed;

static Text *keep(Texts *list, const char *text, int status) {
    for (uint32_t i = 0; i < list->count; i++)
        if (!strcmp(list->items[i].text, text) && list->items[i].status == status) return list->items[i].count++, &list->items[i];
    if (list->count >= 1000) return &list->items[999];
    if (list->count == list->room) {
        list->room = list->room ? 2 * list->room : 16;
        list->items = realloc(list->items, list->room * sizeof *list->items);
    }
    list->items[list->count] = (Text){strdup(text), NULL, 1, status};
    return &list->items[list->count++];
}

static void write_report(void);

/* ---- what happened --------------------------------------------------------------------------------------- */

void note(const char *format, ...) {
    char text[2400];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    keep(&notes, text, 0);
}

void stand_in(const char *library, const char *name) {
    char text[300];
    snprintf(text, sizeof text, "%s: %s", library, name);
    calls_to_library++;
    keep(&stood_in, text, 0);
}

int refuse(const char *name, const char *what) {
    char text[500];
    snprintf(text, sizeof text, "%s%s%s", name, what ? ": " : "", what ? what : "");
    if (keep(&refusals, text, 0)->count == 1) fprintf(stderr, "porter: %s is not implemented on the virtual device\n", text);
    return NOT_SUPPORTED;
}

void unsupported_kernel(const char *name, const char *reason) {
    char text[4000];
    snprintf(text, sizeof text, "%s: %s", shown_name(name), reason ? reason : "");
    keep(&untranslated, text, 0);
    end_process(END_UNSUPPORTED, "kernel not translated: %s", text);
}

int failed_call(const char *call, int status, const char *why) {
    char text[1000];
    snprintf(text, sizeof text, "%s%s%s", call, why && why[0] ? ": " : "", why ? why : "");
    keep(&failures, text, status);
    return status;
}

void report_running(const char *kernel) { running = kernel; }

void report_printed(void) { has_printed = 1; }

void report_launch(uint64_t done, double took, int known) {
    launches++;
    known_launches += (uint64_t)known;
    lane_instructions += done;
    seconds += took;
    double now = seconds_now(); /* a process that is killed, or ends by _exit, leaves what was known a moment ago */
    if (is_fork || now - written_at > 0.25) written_at = now, write_report();
    if (settings.budget && lane_instructions > settings.budget)
        end_process(END_TOO_LONG, "more than %llu lane-instructions", (unsigned long long)settings.budget);
}

/* ---- JSON ------------------------------------------------------------------------------------------------ */

static void put(FILE *out, const char *text) {
    fputc('"', out);
    for (const uint8_t *p = (const uint8_t *)(text ? text : ""); *p; p++) {
        if (*p == '"' || *p == '\\') fprintf(out, "\\%c", *p);
        else if (*p < 32) fprintf(out, "\\u%04x", *p);
        else fputc(*p, out);
    }
    fputc('"', out);
}

static void put_list(FILE *out, const char *name, const Texts *list) {
    fprintf(out, ",\n\"%s\": [", name);
    for (uint32_t i = 0; i < list->count; i++) {
        const Text *t = &list->items[i];
        fprintf(out, "%s\n{\"text\": ", i ? "," : "");
        put(out, t->text);
        fprintf(out, ", \"count\": %llu", (unsigned long long)t->count);
        if (t->status) fprintf(out, ", \"status\": %d, \"name\": \"%s\"", t->status, status_name(t->status));
        if (t->more) fprintf(out, ", %s", t->more);
        fputc('}', out);
    }
    fputc(']', out);
}

void fault_happened(const char *kind, const char *kernel, const char *text, const char *file, uint32_t line, const uint32_t *block, uint32_t thread) {
    Text *t = keep(&faults, text, 0);
    size_t size;
    if (t->more) return;
    FILE *out = open_memstream(&t->more, &size);
    fprintf(out, "\"kind\": \"%s\", \"kernel\": ", kind);
    put(out, kernel);
    fprintf(out, ", \"block\": [%u, %u, %u], \"wave\": %u, \"lane\": %u, \"line\": %u, \"launch\": %llu, \"file\": ", block[0], block[1], block[2],
            thread / LANES, thread % LANES, line, (unsigned long long)launches);
    if (file) put(out, file);
    else fputs("null", out);
    fclose(out);
}

static void put_kernels(FILE *out) {
    int first = 1;
    fprintf(out, ",\n\"kernels\": [");
    for (const Kernel *k = kernels_next(NULL); k; k = kernels_next(k)) {
        if (!k->launches) continue;
        fprintf(out, "%s\n{\"name\": ", first ? "" : ",");
        put(out, k->shown);
        fprintf(out, ", \"launches\": %llu, \"known\": %llu, \"blocks\": %llu, \"lane_instructions\": %llu, \"seconds\": %.6f, \"level\": %u}",
                (unsigned long long)k->launches, (unsigned long long)k->known, (unsigned long long)k->blocks, (unsigned long long)k->lane_instructions, k->seconds, k->level);
        first = 0;
    }
    fputc(']', out);
}

static void write_report(void) {
    char path[600], made[620];
    if (!settings.report) return;
    snprintf(path, sizeof path, "%s/%s-%d.json", settings.report, SIDE, getpid());
    snprintf(made, sizeof made, "%s.part", path);
    FILE *out = fopen(made, "w");
    if (!out) return;
    fprintf(out, "{\"side\": \"%s\", \"lanes\": %d, \"pid\": %d, \"launches\": %llu, \"known\": %llu, \"lane_instructions\": %llu, \"seconds\": %.6f, \"printed\": %d,\n\"ending\": ",
            SIDE, LANES, getpid(), (unsigned long long)launches, (unsigned long long)known_launches, (unsigned long long)lane_instructions, seconds, has_printed);
    put(out, ending);
    fputs(", \"running\": ", out);
    put(out, running);
    put_kernels(out);
    put_list(out, "faults", &faults);
    put_list(out, "unsupported_calls", &refusals);
    put_list(out, "unsupported_kernels", &untranslated);
    put_list(out, "failed_calls", &failures);
    put_list(out, "notes", &notes);
    put_list(out, "stand_ins", &stood_in);
    fprintf(out, "\n}\n");
    fclose(out);
    rename(made, path);
}

_Noreturn void end_process(enum Ending code, const char *format, ...) {
    if (format) {
        va_list values;
        va_start(values, format);
        vsnprintf(ending, sizeof ending, format, values);
        va_end(values);
        fflush(stdout);
        fprintf(stderr, "porter: %s\n", ending);
    }
    write_report();
    fflush(NULL);
    _exit(code);
}

_Noreturn void end_by_signal(int number) {
    snprintf(ending, sizeof ending, "signal %d", number);
    write_report();
    sigset_t this;
    sigemptyset(&this);
    sigaddset(&this, number);
    pthread_sigmask(SIG_UNBLOCK, &this, NULL);
    raise(number);
    _exit(128 + number);
}

/* A fork counts for itself; it ends by _exit more often than not, so that its report is always up to date. */
static void forked(void) {
    is_fork = 1;
    launches = known_launches = lane_instructions = 0;
    seconds = written_at = 0;
    forget_launches();
}

static uint64_t number(const char *name, uint64_t otherwise) {
    const char *given = getenv(name);
    return given && *given ? strtoull(given, NULL, 0) : otherwise;
}

void report_start(void) {
    settings.folder = getenv(LANES == 32 ? "PORTER_RUN_CACHE_CUDA" : "PORTER_RUN_CACHE_HIP");
    settings.python = getenv("PORTER_RUN_PYTHON");
    settings.report = getenv("PORTER_RUN_REPORT");
    settings.trace = getenv("PORTER_RUN_TRACE");
    settings.profile = getenv("PORTER_RUN_PROFILE");
    settings.threads = (uint32_t)number("PORTER_RUN_THREADS", (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
    settings.schedule = (uint32_t)number("PORTER_RUN_SCHEDULE", 0);
    settings.races = (uint32_t)number("PORTER_RUN_RACES", 0);
    settings.poison = (uint32_t)number("PORTER_RUN_UNINITIALISED", 0);
    settings.guard = (uint32_t)number("PORTER_RUN_GUARD", 1);
    settings.stop_at_fault = (uint32_t)number("PORTER_RUN_STOP", 1);
    settings.capability = (uint32_t)number("PORTER_RUN_CAPABILITY", 80);
    settings.delay = (uint32_t)number("PORTER_RUN_DELAY", 0);
    settings.every = (uint32_t)number("PORTER_RUN_EVERY", 0);
    settings.devices = (uint32_t)number("PORTER_RUN_DEVICES", 1);
    settings.multiprocessors = (uint32_t)number("PORTER_RUN_MULTIPROCESSORS", LANES == 32 ? 108 : 304);
    settings.as_the_port = (uint32_t)number("PORTER_RUN_AS_THE_PORT", 0);
    settings.budget = number("PORTER_RUN_BUDGET", 0);
    settings.device_memory = number("PORTER_RUN_MEMORY", 0);
    pthread_atfork(NULL, NULL, forked);
}

__attribute__((destructor)) static void at_end(void) {
    queue_dropped();
    write_report();
}
