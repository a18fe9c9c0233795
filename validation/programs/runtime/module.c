/* Modules, their variables and kernels: read from the cache, where a helper process puts what is not there yet. */
#define _GNU_SOURCE
#include "host.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static Module *modules;

/* ---- names of files -------------------------------------------------------------------------------------- */

static uint64_t mixed(uint64_t hash, uint64_t word, uint64_t factor) {
    hash = (hash ^ word) * factor;
    return hash ^ hash >> 29;
}

static void key_of(const void *const *blobs, const size_t *sizes, uint32_t count, char *key) {
    uint64_t a = 0x243f6a8885a308d3ull, b = 0x13198a2e03707344ull;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *data = blobs[i];
        for (size_t at = 0; at < sizes[i]; at += 8) {
            uint64_t word = 0;
            memcpy(&word, data + at, sizes[i] - at < 8 ? sizes[i] - at : 8);
            a = mixed(a, word, 0x9e3779b97f4a7c15ull);
            b = mixed(b, word, 0xc2b2ae3d27d4eb4full);
        }
        a = mixed(a, sizes[i], 0x9e3779b97f4a7c15ull);
        b = mixed(b, sizes[i], 0xc2b2ae3d27d4eb4full);
    }
    snprintf(key, 33, "%016llx%016llx", (unsigned long long)a, (unsigned long long)b);
}

static uint64_t name_hash(const char *name) { /* FNV-1a, as in store.py */
    uint64_t hash = 0xcbf29ce484222325ull;
    for (; *name; name++) hash = (hash ^ (uint8_t)*name) * 0x100000001b3ull;
    return hash;
}

enum { ROOM_BEHIND = 32 }; /* zeros: a text ends, and who looks for a head may look beyond a short file */
char *read_whole(const char *path, size_t *size) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat found;
    if (file < 0) return NULL;
    char *text = fstat(file, &found) ? NULL : calloc(1, (size_t)found.st_size + ROOM_BEHIND);
    size_t have = 0;
    while (text && have < (size_t)found.st_size) {
        ssize_t got = read(file, text + have, (size_t)found.st_size - have);
        if (got <= 0) break;
        have += (size_t)got;
    }
    close(file);
    if (!text || have != (size_t)found.st_size) return free(text), NULL;
    if (size) *size = have;
    return text;
}

#define DIGITS 64

int has_digest(const char *content, size_t size, const char *wanted) {
    char found[DIGITS + 1];
    if (!content) return 0;
    digest_of(content, size, found);
    return !strncmp(found, wanted, DIGITS);
}

/* A text of the helper's (loaded.py) without the last line, its digest; null when it is not what was written. */
char *read_sealed(const char *path) {
    size_t size = 0, tail = sizeof "sha256\t" - 1 + DIGITS + 1;
    char *text = read_whole(path, &size);
    if (!text) return NULL;
    if (size < tail || strncmp(text + size - tail, "sha256\t", 7) || !has_digest(text, size - tail, text + size - tail + 7))
        return free(text), NULL;
    text[size - tail] = 0;
    return text;
}

/* What a line `key<tab>...` of a text says; null when there is none. */
char *line_of(char *text, const char *key) {
    size_t length = strlen(key);
    for (char *line = text; line; line = strchr(line, '\n'), line = line ? line + 1 : NULL)
        if (!strncmp(line, key, length) && line[length] == '\t') return line + length + 1;
    return NULL;
}

/* Whether the library of a kernel's text is the one that was compiled for it. */
static int library_is_whole(char *text) {
    char path[512], *line = line_of(text, "library");
    size_t length = line ? strcspn(line, "\t\n") : 0, size = 0;
    if (!line || line[length] != '\t' || length >= sizeof path) return 0;
    memcpy(path, line, length);
    path[length] = 0;
    char *content = read_whole(path, &size);
    int whole = has_digest(content, size, line + length + 1);
    free(content);
    return whole;
}

static char *read_translated(const char *path) {
    char *text = read_sealed(path);
    if (text && !library_is_whole(text)) free(text), text = NULL;
    return text;
}

/* ---- the helper ------------------------------------------------------------------------------------------ */

static pid_t helper_of; /* the process that started it: a fork starts its own */
static pid_t helper;
static FILE *asks, *answers;
static pthread_mutex_t helper_lock = PTHREAD_MUTEX_INITIALIZER;

static void helper_start(void) {
    int in[2], out[2];
    if (helper && helper_of == getpid()) return;
    if (!settings.python) end_process(END_BROKEN, "a kernel is not translated yet: start the program with `porter run`");
    if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC)) end_process(END_BROKEN, "no pipe to the translator");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    /* What belongs to the program must not get into the helper. */
    size_t count = 0, kept = 0;
    while (environ[count]) count++;
    char **environment = calloc(count + 1, sizeof *environment);
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], "LD_PRELOAD=", 11) && strncmp(environ[i], "LD_LIBRARY_PATH=", 16)) environment[kept++] = environ[i];
    char *words[] = {(char *)settings.python, "-c",
                     "import sys; sys.path[:] = filter(None, sys.path); "
                     "from porter.validation.programs.translate import main; main()",
                     (char *)settings.folder, SIDE, NULL};
    int status = posix_spawn(&helper, settings.python, &actions, NULL, words, environment);
    posix_spawn_file_actions_destroy(&actions);
    free(environment);
    close(in[0]);
    close(out[1]);
    if (status) end_process(END_BROKEN, "%s: %s", settings.python, strerror(status));
    helper_of = getpid();
    asks = fdopen(in[1], "w");
    answers = fdopen(out[0], "r");
}

static _Noreturn void helper_gone(const char *what) {
    int status = 0;
    for (int i = 0; i < 100 && !waitpid(helper, &status, WNOHANG); i++) usleep(10000);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
        end_process(END_TOO_LONG, "no end of the translation within its processor time (%s)", what);
    if (WIFSIGNALED(status)) end_process(END_BROKEN, "the translator was ended by signal %d (%s)", WTERMSIG(status), what);
    end_process(END_BROKEN, "the translator ended without an answer (%s)", what);
}

/* Empty: done. Else why not, to be freed. */
char *ask_helper(const char *what, const char *key, const char *rest) {
    static char line[8192];
    pthread_mutex_lock(&helper_lock);
    helper_start();
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);
    fprintf(asks, "%s\t%s\t%s\n", what, key, rest);
    fflush(asks);
    signal(SIGPIPE, before);
    if (!fgets(line, sizeof line, answers)) helper_gone(what);
    line[strcspn(line, "\n")] = 0;
    char *reason = strcmp(line, "ok") ? strdup(line) : NULL;
    pthread_mutex_unlock(&helper_lock);
    return reason;
}

static void tell(const char *what, const char *key, const char *rest) {
    pthread_mutex_lock(&helper_lock);
    helper_start();
    fprintf(asks, "%s\t%s\t%s\n", what, key, rest);
    fflush(asks);
    pthread_mutex_unlock(&helper_lock);
}

/* ---- modules --------------------------------------------------------------------------------------------- */

#if defined SIDE_CUDA
static uint32_t capability_of(const uint8_t *data, size_t size) { /* the newest PTX in it: 80 for sm_80 */
    uint32_t most = 0;
    for (size_t at = 16; at + 64 <= size;) {
        uint16_t kind;
        uint32_t head, architecture;
        uint64_t bytes;
        memcpy(&kind, data + at, 2);
        memcpy(&head, data + at + 4, 4);
        memcpy(&bytes, data + at + 8, 8);
        memcpy(&architecture, data + at + 28, 4);
        if (kind == 1 && architecture > most && architecture < 1000) most = architecture;
        if (head < 16 || bytes > size) break;
        at += head + bytes;
    }
    return most;
}
#endif

Module *module_add(const void *const *blobs, const size_t *sizes, uint32_t count) {
    Module *made = calloc(1, sizeof *made);
    made->blobs = calloc(count, sizeof *made->blobs);
    made->sizes = calloc(count, sizeof *made->sizes);
    memcpy(made->blobs, blobs, count * sizeof *blobs);
    memcpy(made->sizes, sizes, count * sizeof *sizes);
    made->blob_count = count;
#if defined SIDE_CUDA
    for (uint32_t i = 0; i < count; i++) {
        uint32_t found = capability_of(blobs[i], sizes[i]);
        if (found > made->capability) made->capability = found;
    }
#endif
    made->next = modules;
    modules = made;
    return made;
}

uint32_t modules_capability(void) {
    uint32_t most = settings.capability;
    for (const Module *m = modules; m; m = m->next)
        if (m->capability > most) most = m->capability;
    return most;
}

/* For the helper to read; once per process, whatever is there. */
static void write_blob(Module *m) {
    char path[512], made[600];
    if (m->is_written) return;
    snprintf(path, sizeof path, "%s/%s/blob", settings.folder, m->key);
    snprintf(made, sizeof made, "%s.%d", path, getpid());
    FILE *file = fopen(made, "w");
    int bad = !file;
    for (uint32_t i = 0; file && i < m->blob_count; i++) bad |= fwrite(m->blobs[i], 1, m->sizes[i], file) != m->sizes[i];
    if (file) bad |= fclose(file);
    if (bad || rename(made, path)) end_process(END_BROKEN, "%s cannot be written", path);
    m->is_written = 1;
}

/* The content of a module's variables; null when it is not what the text says. */
static char *read_data(const Module *m, char *text) {
    char path[512], *digest = line_of(text, "data");
    size_t size = 0;
    snprintf(path, sizeof path, "%s/%s/data", settings.folder, m->key);
    char *data = read_whole(path, &size);
    if (digest && has_digest(data, size, digest)) return data;
    return free(data), NULL;
}

/* The words of a line, split at tabs; the last one may hold spaces. */
static int words_of(char *line, char **words, int most) {
    int count = 0;
    while (line && count < most) words[count++] = strsep(&line, "\t");
    return count;
}

#define NUMBER(i) strtoull(words[i], NULL, 0)

static void place_variables(Module *m, char *text, const char *data) {
    char *words[8];
    uint64_t image = 0;
    const char **targets = calloc(1, sizeof *targets);
    for (char *line = strsep(&text, "\n"); line; line = strsep(&text, "\n")) {
        int count = words_of(line, words, 8);
        if (!count) continue;
        if (!strcmp(words[0], "kernel")) {
            m->names = realloc(m->names, (m->name_count + 1) * sizeof *m->names);
            m->names[m->name_count++] = words[1];
        } else if (!strcmp(words[0], "variable")) { /* name size read-only offset */
            size_t size = NUMBER(2);
            uint32_t state = NUMBER(3) ? ALLOCATION_READ_ONLY : ALLOCATION_LIVE;
            void *at = memory_allocate(size ? size : 1, SORT_SYMBOL, state, shown_name(words[1]));
            if (!at) end_process(END_BROKEN, "no device memory for %s", words[1]);
            m->variables = realloc(m->variables, (m->variable_count + 1) * sizeof *m->variables);
            m->variables[m->variable_count++] = (Variable){words[1], (uint64_t)at, size};
            if (strcmp(words[4], "-")) memcpy(at, data + NUMBER(4), size);
        } else if (!strcmp(words[0], "address")) { /* variable offset target addend, or an absolute one */
            uint64_t value = NUMBER(4);
            Variable *into = module_variable(m, words[1]), *target = module_variable(m, words[3]);
            if (target) value += target->address;
            if (into) memcpy((void *)(into->address + NUMBER(2)), &value, 8);
        } else if (!strcmp(words[0], "image")) {
            image = memory_reserve(NUMBER(1));
            if (!image) end_process(END_BROKEN, "no device memory for a code object");
            m->variables = realloc(m->variables, (m->variable_count + 1) * sizeof *m->variables);
            m->variables[m->variable_count++] = (Variable){"image of the code object", image, NUMBER(1)};
        } else if (!strcmp(words[0], "section")) { /* address size read-only offset name */
            memory_place(image + NUMBER(1), NUMBER(2), SORT_SYMBOL, NUMBER(3) ? ALLOCATION_READ_ONLY : ALLOCATION_LIVE, words[5]);
            memcpy((void *)(image + NUMBER(1)), data + NUMBER(4), NUMBER(2));
        } else if (!strcmp(words[0], "pointer")) { /* place target */
            uint64_t value = image + NUMBER(2);
            memcpy((void *)(image + NUMBER(1)), &value, 8);
        } else if (!strcmp(words[0], "object")) { /* name address size */
            m->variables = realloc(m->variables, (m->variable_count + 1) * sizeof *m->variables);
            m->variables[m->variable_count++] = (Variable){words[1], image + NUMBER(2), NUMBER(3)};
        }
    }
    free(targets);
}

int module_load(Module *m) {
    char path[512];
    if (m->loaded) return m->loaded;
    if (!settings.folder) end_process(END_BROKEN, "start the program with `porter run`");
    key_of(m->blobs, m->sizes, m->blob_count, m->key);
    snprintf(path, sizeof path, "%s/%s", settings.folder, m->key);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/%s/module", settings.folder, m->key);
    char *text = read_sealed(path), *data = text ? read_data(m, text) : NULL;
    if (!data) {
        free(text);
        write_blob(m);
        m->reason = ask_helper("module", m->key, "");
        text = m->reason ? NULL : read_sealed(path);
        data = text ? read_data(m, text) : NULL;
        if (!m->reason && !data) m->reason = strdup("what the translator left is damaged");
        if (!data) return m->loaded = -1;
    }
    place_variables(m, text, data);
    free(data);
    return m->loaded = 1;
}

Variable *module_variable(Module *m, const char *name) {
    for (uint32_t i = 0; i < m->variable_count; i++)
        if (!strcmp(m->variables[i].name, name)) return &m->variables[i];
    return NULL;
}

/* ---- kernels --------------------------------------------------------------------------------------------- */

static uint64_t symbol_address(Kernel *k, const char *name);

static void *grown(void *list, uint32_t count, size_t size) { /* room for one more; doubles at powers of two */
    if (count && (count & (count - 1))) return list;
    void *made = realloc(list, (count ? 2 * count : 1) * size);
    if (!made) end_process(END_BROKEN, "no host memory for a kernel");
    return made;
}

static void read_kernel(Kernel *k, char *text) {
    char *words[8];
    const char **files = NULL;
    uint32_t file_count = 0;
    for (char *line = strsep(&text, "\n"); line; line = strsep(&text, "\n")) {
        int count = words_of(line, words, 8);
        if (!strcmp(words[0], "s")) { /* segment weight where file line memory text */
            uint32_t i = k->site_count;
            k->site_texts = grown(k->site_texts, i, sizeof *k->site_texts);
            k->site_lines = grown(k->site_lines, i, sizeof *k->site_lines);
            uint32_t file = (uint32_t)NUMBER(4);
            k->site_lines[i] = (uint32_t)NUMBER(3);
            k->site_texts[i] = (SiteText){words[7], file < file_count ? files[file] : NULL, (uint32_t)NUMBER(5), (uint32_t)NUMBER(5)};
            if (NUMBER(1) < k->segment_count) k->weights[NUMBER(1)] += (uint32_t)NUMBER(2);
            k->site_count++;
        } else if (!strcmp(words[0], "file")) {
            files = realloc(files, (file_count + 1) * sizeof *files);
            files[file_count++] = words[1];
        } else if (!strcmp(words[0], "symbol")) {
            k->symbol_names = grown(k->symbol_names, k->symbol_count, sizeof *k->symbol_names);
            k->symbol_names[k->symbol_count++] = words[1];
        } else if (!strcmp(words[0], "parameter")) { /* offset size hidden */
            k->parameters = grown(k->parameters, k->parameter_count, sizeof *k->parameters);
            Parameter *p = &k->parameters[k->parameter_count++];
            *p = (Parameter){(uint32_t)NUMBER(1), (uint32_t)NUMBER(2), ""};
            if (strcmp(words[3], "-")) snprintf(p->hidden, sizeof p->hidden, "%s", words[3]);
        } else if (!strcmp(words[0], "shown")) k->shown = words[1];
        else if (!strcmp(words[0], "library")) snprintf(k->path, sizeof k->path, "%s", words[1]);
        else if (!strcmp(words[0], "level")) k->level = (uint32_t)NUMBER(1);
        else if (!strcmp(words[0], "lanes")) k->lanes = (uint32_t)NUMBER(1);
        else if (!strcmp(words[0], "shared")) k->shared = (uint32_t)NUMBER(1);
        else if (!strcmp(words[0], "private")) k->private_bytes = (uint32_t)NUMBER(1);
        else if (!strcmp(words[0], "group")) k->private_segment = (uint32_t)NUMBER(1);
        else if (!strcmp(words[0], "threads")) k->max_threads = (uint32_t)NUMBER(1);
        else if (!strcmp(words[0], "heap")) k->uses_heap = (uint32_t)NUMBER(1);
        else if (!strcmp(words[0], "arguments")) k->argument_bytes = (uint32_t)NUMBER(1);
        else if (!strcmp(words[0], "registers")) k->registers = (int)NUMBER(1);
        else if (!strcmp(words[0], "segments")) {
            k->segment_count = (uint32_t)NUMBER(1);
            k->weights = calloc(k->segment_count + 1, sizeof *k->weights);
        }
        (void)count;
    }
}

/* Takes the library that a file names; false when there is none. */
static int take_library(Kernel *k) {
    void *library = dlopen(k->path, RTLD_NOW | RTLD_LOCAL);
    if (!library) return 0;
    k->library = library;
    k->init = dlsym(library, "wave_init");
    k->wave_bytes = *(uint32_t *)dlsym(library, "wave_bytes");
    __atomic_store_n(&k->step, dlsym(library, "wave_step"), __ATOMIC_RELEASE);
    return k->init && k->step;
}

static void kernel_file(const Kernel *k, const Module *m, char *path, size_t size) {
    snprintf(path, size, "%s/%s/%016llx%s", settings.folder, m->key, (unsigned long long)name_hash(k->name),
             settings.poison ? ".poison" : "");
}

Kernel *module_kernel(Module *m, const char *name) {
    char path[512];
    for (Kernel *k = m->kernels; k; k = k->next)
        if (!strcmp(k->name, name)) return k->step ? k : NULL;
    if (module_load(m) < 0) return NULL;
    Kernel *k = calloc(1, sizeof *k);
    k->name = strdup(name);
    k->shown = k->name;
    k->module = m;
    k->next = m->kernels;
    m->kernels = k;
    kernel_file(k, m, path, sizeof path);
    char *text = read_translated(path);
    if (!text) {
        char what[4096];
        write_blob(m);
        snprintf(what, sizeof what, "%s\t%u", name, settings.poison);
        char *reason = ask_helper("kernel", m->key, what);
        if (reason) return m->reason = reason, NULL;
        text = read_translated(path);
        if (!text) return m->reason = strdup("what the translator left is not there, or damaged"), NULL;
    }
    read_kernel(k, text);
    if (!take_library(k)) { /* cleared away beneath us: once more */
        unlink(path);
        return m->reason = strdup(dlerror()), NULL;
    }
    k->sites = calloc(k->site_count + 1, sizeof *k->sites);
    k->segments = calloc(k->segment_count + 1, sizeof *k->segments);
    k->divergence = calloc(k->site_count + 1, sizeof *k->divergence);
    k->symbols = calloc(k->symbol_count + 1, sizeof *k->symbols);
    if (!k->sites || !k->segments || !k->divergence || !k->symbols) end_process(END_BROKEN, "no host memory for a kernel");
    for (uint32_t i = 0; i < k->symbol_count; i++) k->symbols[i] = symbol_address(k, k->symbol_names[i]);
    return k;
}

/* 0 for what is made at the launch (launch.c). */
static uint64_t symbol_address(Kernel *k, const char *name) {
    Variable *found = module_variable(k->module, name);
    if (!found && !strncmp(name, "data ", 5)) found = module_variable(k->module, name + 5);
    return found ? found->address : 0;
}

/* A kernel that runs for long is built again, a level better each time, behind the program's back; the state of a wave
 * is the same. 1: it has better code now. */
int kernel_better(Kernel *k) {
    char path[512], what[4096];
    if (k->level >= BEST || settings.poison) return 0;
    kernel_file(k, k->module, path, sizeof path);
    if (k->asked_for <= k->level) {
        k->asked_for = k->level + 1;
        snprintf(what, sizeof what, "%s\t%u", k->name, k->asked_for);
        write_blob(k->module);
        tell("better", k->module->key, what);
        return 0;
    }
    char *text = read_sealed(path);
    if (!text) return 0;
    char *level = line_of(text, "level"), *library = line_of(text, "library");
    uint32_t made = level ? (uint32_t)atoi(level) : 0;
    int better = library && made > k->level && library_is_whole(text);
    if (better) {
        library[strcspn(library, "\t\n")] = 0;
        snprintf(k->path, sizeof k->path, "%s", library);
        if ((better = take_library(k))) k->level = made;
    }
    free(text);
    return better;
}

const Kernel *kernels_next(const Kernel *k) {
    const Module *m = k ? k->module : modules;
    if (k && k->next) return k->next;
    for (m = k ? m->next : m; m; m = m->next)
        if (m->kernels) return m->kernels;
    return NULL;
}

void forget_launches(void) {
    for (Module *m = modules; m; m = m->next)
        for (Kernel *k = m->kernels; k; k = k->next) k->launches = k->known = k->recorded = k->blocks = k->lane_instructions = 0, k->seconds = 0;
}

/* ---- what the program knows them by ------------------------------------------------------------------------ */

typedef struct Symbol {
    const void *host;
    const char *name;
    Module *module;
    void **managed;
    size_t size;
} Symbol;

static Function *functions;
static Symbol *symbols;
static uint32_t function_count, function_room, symbol_count, symbol_room;

static uint32_t slot_of(const void *host, uint32_t room) {
    return (uint32_t)((uint64_t)host * 0x9e3779b97f4a7c15ull >> 32) & (room - 1);
}

static void insert(Function *into, uint32_t room, Function item) {
    uint32_t slot = slot_of(item.host, room);
    while (into[slot].host && into[slot].host != item.host) slot = (slot + 1) & (room - 1);
    into[slot] = item;
}

Function *function_add(Module *m, const void *host, const char *name) {
    if (2 * (function_count + 1) > function_room) {
        uint32_t room = function_room ? 2 * function_room : 256;
        Function *made = calloc(room, sizeof *made);
        for (uint32_t i = 0; i < function_room; i++)
            if (functions[i].host) insert(made, room, functions[i]);
        free(functions);
        functions = made;
        function_room = room;
    }
    function_count++;
    insert(functions, function_room, (Function){host, name, m, NULL, 0});
    return function_find(host);
}

Function *function_find(const void *host) {
    if (!function_room) return NULL;
    for (uint32_t slot = slot_of(host, function_room); functions[slot].host; slot = (slot + 1) & (function_room - 1))
        if (functions[slot].host == host) return &functions[slot];
    return NULL;
}

void symbol_add(Module *m, const void *host, const char *name, void **managed, size_t size) {
    if (symbol_count == symbol_room) {
        symbol_room = symbol_room ? 2 * symbol_room : 64;
        symbols = realloc(symbols, symbol_room * sizeof *symbols);
    }
    symbols[symbol_count++] = (Symbol){host, name, m, managed, size};
}

int symbol_find(const void *host, uint64_t *address, size_t *size) {
    for (uint32_t i = 0; i < symbol_count; i++) {
        Symbol *s = &symbols[i];
        if (s->host != host) continue;
        if (module_load(s->module) < 0) return unsupported_kernel(s->name, s->module->reason), NOT_SUPPORTED;
        Variable *found = module_variable(s->module, s->name);
        if (!found) return INVALID_SYMBOL;
        *address = found->address;
        *size = s->size && s->size < found->size ? s->size : found->size;
        return OK;
    }
    return INVALID_SYMBOL;
}

void symbols_manage(Module *m) {
    for (uint32_t i = 0; i < symbol_count; i++) {
        Symbol *s = &symbols[i];
        uint64_t address = 0;
        size_t size = 0;
        if (s->module != m || !s->managed) continue;
        if (module_load(m) > 0 && module_variable(m, s->name)) {
            address = module_variable(m, s->name)->address;
            *s->managed = (void *)address;
            memory_share(memory_find((void *)address));
        }
        (void)size;
    }
}

const char *shown_name(const char *mangled) {
    static char *(*demangle)(const char *, char *, size_t *, int *);
    static int looked;
    int status = 1;
    if (!looked) looked = 1, *(void **)&demangle = dlsym(RTLD_DEFAULT, "__cxa_demangle");
    char *made = demangle && !strncmp(mangled, "_Z", 2) ? demangle(mangled, NULL, NULL, &status) : NULL;
    return made && !status ? made : strdup(mangled);
}
