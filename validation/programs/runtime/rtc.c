/* NVRTC and hiprtc (names of this library): the helper starts the compiler that is installed; what came of it is kept. */
#define _GNU_SOURCE
#include "api.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined SIDE_CUDA
#define RTC(name) nvrtc##name
#define PREFIX "NVRTC_"
#else
#define RTC(name) hiprtc##name
#define PREFIX "HIPRTC_"
#endif
#define RTC_NAME(name) TEXT(RTC(name))

enum Outcome {
    DONE, NO_MEMORY, NOT_CREATED, BAD_INPUT, BAD_PROGRAM, BAD_OPTION, NOT_COMPILED, BUILTIN_FAILED, TOO_LATE, TOO_EARLY, BAD_NAME, INTERNAL
};

typedef struct Words {
    char **items;
    int count;
} Words;
typedef struct Source {
    char *text, *name, key[80];
    Words header_names, headers, expressions, lowered, options;
    char *code, *log;
    size_t code_size, log_size;
} Source;

static void add_word(Words *into, const char *word) {
    into->items = realloc(into->items, (size_t)(into->count + 1) * sizeof *into->items);
    into->items[into->count++] = strdup(word ? word : "");
}

EXPORT const char *RTC(GetErrorString)(int status) {
    static const char *const names[] = {"SUCCESS", "ERROR_OUT_OF_MEMORY", "ERROR_PROGRAM_CREATION_FAILURE", "ERROR_INVALID_INPUT", "ERROR_INVALID_PROGRAM",
                                        "ERROR_INVALID_OPTION", "ERROR_COMPILATION", "ERROR_BUILTIN_OPERATION_FAILURE", "ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
                                        "ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION", "ERROR_NAME_EXPRESSION_NOT_VALID", "ERROR_INTERNAL_ERROR"};
    static char texts[sizeof names / sizeof *names][80];
    if (status < 0 || status >= (int)(sizeof names / sizeof *names)) return PREFIX "ERROR unknown";
    snprintf(texts[status], sizeof texts[status], PREFIX "%s", names[status]);
    return texts[status];
}
EXPORT int RTC(Version)(int *major, int *minor) { return *major = LANES == 32 ? 13 : VERSION, *minor = 0, DONE; }

EXPORT int RTC(CreateProgram)(void **into, const char *text, const char *name, int count, const char *const *headers, const char *const *names) {
    BEGIN;
    if (!into || !text || count < 0) return BAD_INPUT;
    Source *made = calloc(1, sizeof *made);
    made->text = strdup(text);
    made->name = strdup(name && *name ? name : "default_program");
    for (int i = 0; i < count; i++) add_word(&made->headers, headers[i]), add_word(&made->header_names, names[i]);
    return *into = made, DONE;
}
EXPORT int RTC(DestroyProgram)(void **program) { return *program = NULL, DONE; }
EXPORT int RTC(AddNameExpression)(void *program, const char *expression) {
    Source *s = program;
    if (s->code) return TOO_LATE;
    return add_word(&s->expressions, expression), DONE;
}

/* ---- the request, in files for the helper (runtime_compiler.py) -------------------------------------------------- */

typedef struct Buffer {
    char *data;
    size_t size, room;
} Buffer;
static void append(Buffer *b, const char *text) { /* with its zero: what is kept is a row of texts */
    size_t size = strlen(text) + 1;
    if (b->size + size > b->room) b->data = realloc(b->data, b->room = 2 * (b->size + size));
    memcpy(b->data + b->size, text, size);
    b->size += size;
}
static void append_words(Buffer *b, const Words *words) {
    char number[24];
    snprintf(number, sizeof number, "%d", words->count);
    append(b, number);
    for (int i = 0; i < words->count; i++) append(b, words->items[i]);
}
static void write_request(const Source *s, const Buffer *b, const char *folder) {
    char path[600], made[640];
    snprintf(path, sizeof path, "%s/request", folder);
    snprintf(made, sizeof made, "%s.%d", path, getpid());
    FILE *file = fopen(made, "w");
    int bad = !file || fwrite(b->data, 1, b->size, file) != b->size;
    if (file) bad |= fclose(file);
    if (bad || rename(made, path)) end_process(END_BROKEN, "%s cannot be written for %s", path, s->name);
}

static char *kept(const char *folder, char *made, const char *name, size_t *size) { /* null: not what was written */
    char path[640], *digest = line_of(made, name);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    char *content = digest ? read_whole(path, size) : NULL;
    if (content && !has_digest(content, *size, digest)) free(content), content = NULL;
    return content;
}
static int take(Source *s, const char *folder) {
    char path[640];
    size_t size = 0;
    snprintf(path, sizeof path, "%s/made", folder);
    char *made = read_sealed(path);
    if (!made) return 0;
    char *code = kept(folder, made, "code", &s->code_size), *names = kept(folder, made, "names", &size);
    s->log = kept(folder, made, "log", &s->log_size);
    free(made);
    if (!code || !names || !s->log) return free(code), free(names), 0;
    for (char *rest = names, *line = strsep(&rest, "\n"); line && *line; line = strsep(&rest, "\n")) add_word(&s->lowered, line);
    s->code = code;
    return 1;
}

EXPORT int RTC(CompileProgram)(void *program, int count, const char *const *options) {
    char folder[600], here[512] = "";
    Buffer b = {0};
    BEGIN;
    Source *s = program;
    if (!settings.folder) end_process(END_BROKEN, "start the program with `porter run`");
    for (int i = 0; i < count; i++) add_word(&s->options, options[i]);
    append(&b, getcwd(here, sizeof here) ? here : ""); /* what is included is looked for from here */
    append(&b, s->name);
    append(&b, s->text);
    append_words(&b, &s->options), append_words(&b, &s->header_names), append_words(&b, &s->headers), append_words(&b, &s->expressions);
    memcpy(s->key, "rtc-", 4);
    digest_of(b.data, b.size, s->key + 4);
    snprintf(folder, sizeof folder, "%s/%s", settings.folder, s->key);
    mkdir(folder, 0700);
    write_request(s, &b, folder);
    free(b.data);
    /* Files that are included may have changed: the compiler is asked each time unless nothing is included. */
    int includes = strstr(s->text, "#include") || strstr(s->text, "# include");
    if (!includes && take(s, folder)) return DONE;
    char *reason = ask_helper("rtc", s->key, "");
    if (!reason && take(s, folder)) return DONE;
    s->log = reason ? reason : strdup("what the compiler left is damaged");
    for (char *c = s->log; *c; c++)
        if (*c == '\v') *c = '\n';
    s->log_size = strlen(s->log) + 1;
    return NOT_COMPILED;
}

/* ---- what came of it ------------------------------------------------------------------------------------------------ */

EXPORT int RTC(GetProgramLogSize)(void *program, size_t *into) { return *into = ((Source *)program)->log ? strlen(((Source *)program)->log) + 1 : 1, DONE; }
EXPORT int RTC(GetProgramLog)(void *program, char *into) { return strcpy(into, ((Source *)program)->log ? ((Source *)program)->log : ""), DONE; }
EXPORT int RTC(GetLoweredName)(void *program, const char *expression, const char **into) {
    const Source *s = program;
    if (!s->code) return TOO_EARLY;
    for (int i = 0; i < s->expressions.count && i < s->lowered.count; i++)
        if (!strcmp(s->expressions.items[i], expression)) return *into = s->lowered.items[i], DONE;
    return BAD_NAME;
}
static int code_size(const Source *s, size_t *into) { return s->code ? (*into = s->code_size, DONE) : BAD_PROGRAM; }
static int code(const Source *s, char *into) { return s->code ? (memcpy(into, s->code, s->code_size), DONE) : BAD_PROGRAM; }
#if defined SIDE_CUDA
EXPORT int nvrtcGetPTXSize(void *program, size_t *into) { return code_size(program, into); }
EXPORT int nvrtcGetPTX(void *program, char *into) { return code(program, into); }
EXPORT int nvrtcGetCUBINSize(void *program, size_t *into) {
    BEGIN;
    note("nvrtcGetCUBIN gives PTX: there is no machine code on the virtual device");
    return code_size(program, into);
}
EXPORT int nvrtcGetCUBIN(void *program, char *into) { return code(program, into); }
EXPORT int nvrtcGetNumSupportedArchs(int *into) { return *into = 1, DONE; }
EXPORT int nvrtcGetSupportedArchs(int *into) { return *into = 80, DONE; }
#define REFUSED(name) EXPORT int name(void) { BEGIN; return refuse(#name, NULL), BUILTIN_FAILED; }
REFUSED(nvrtcGetLTOIRSize) REFUSED(nvrtcGetLTOIR) REFUSED(nvrtcGetNVVMSize) REFUSED(nvrtcGetNVVM) REFUSED(nvrtcGetOptiXIRSize) REFUSED(nvrtcGetOptiXIR)
REFUSED(nvrtcGetPCHHeapSize) REFUSED(nvrtcSetPCHHeapSize) REFUSED(nvrtcGetPCHCreateStatus) REFUSED(nvrtcGetPCHHeapSizeRequired) REFUSED(nvrtcSetFlowCallback)
#else
EXPORT int hiprtcGetCodeSize(void *program, size_t *into) { return code_size(program, into); }
EXPORT int hiprtcGetCode(void *program, char *into) { return code(program, into); }
#endif
