/* What kernels print, and what failed assertions say: the messages of a launch as text, on the program's stdout. */
#define _GNU_SOURCE
#include "host.h"

#include <ctype.h>

typedef struct Values { /* what a printf was given */
    const uint8_t *data, *end;
    int packed; /* every value at a multiple of its size, a string's its place behind them; else all padded to 8, strings in line */
    const uint8_t *at;
} Values;

static uint64_t word(Values *v, size_t size) {
    uint64_t value = 0;
    size_t step = v->packed ? size : 8;
    if (v->packed) v->at = v->data + ((size_t)(v->at - v->data) + size - 1) / size * size;
    if (v->at + step <= v->end) memcpy(&value, v->at, step);
    v->at += step;
    return value;
}

static const char *device_string(uint64_t address) {
    const Allocation *row = memory_find((void *)address);
    if (!row || !memchr((void *)address, 0, row->end - address)) return "?";
    return (const char *)address;
}

static const char *string(Values *v) {
    if (v->packed) {
        uint64_t place = word(v, 8), room = (uint64_t)(v->end - v->data);
        return place < room && memchr(v->data + place, 0, room - place) ? (const char *)v->data + place : "?";
    }
    const uint8_t *start = v->at, *zero = start < v->end ? memchr(start, 0, (size_t)(v->end - start)) : NULL;
    if (!zero) return v->at = v->end, "";
    v->at = start + ((size_t)(zero - start) + 8) / 8 * 8;
    return (const char *)start;
}

/* One conversion: flags, width and precision as given, then the value with the length that fits it. */
static const char *convert(FILE *out, const char *p, Values *v) {
    char spec[64] = "%";
    size_t n = 1;
    const char *start = p++;
    int wide = 0;
    for (; *p && n < sizeof spec - 24; p++) {
        if (*p == '*') n += (size_t)sprintf(spec + n, "%d", (int)word(v, 4));
        else if (strchr("-+ #0'123456789.", *p)) spec[n++] = *p;
        else if (strchr("lLjztqh", *p)) wide |= *p != 'h';
        else break;
    }
    const char *lengths = p;
    int is_short = lengths > start && lengths[-1] == 'h', is_byte = is_short && lengths[-2] == 'h';
    char kind = *p;
    if (!kind) return fputs(start, out), p;
    if (kind == '%') return fputc('%', out), p + 1;
    if (strchr("aAeEfFgG", kind)) {
        uint64_t bits = word(v, 8);
        double value;
        memcpy(&value, &bits, 8);
        spec[n++] = kind, spec[n] = 0;
        fprintf(out, spec, value);
    } else if (kind == 's') {
        spec[n++] = kind, spec[n] = 0;
        fprintf(out, spec, string(v));
    } else if (kind == 'p') {
        char text[32];
        snprintf(text, sizeof text, "%#llx", (unsigned long long)word(v, 8));
        spec[n++] = 's', spec[n] = 0;
        fprintf(out, spec, text);
    } else if (kind == 'n') {
        word(v, 8);
    } else if (kind == 'c') {
        spec[n++] = kind, spec[n] = 0;
        fprintf(out, spec, (int)word(v, 4));
    } else if (strchr("dioux" "X", kind)) {
        uint64_t bits = word(v, wide ? 8 : 4);
        long long value = (long long)bits;
        if (!wide) value = strchr("di", kind) ? (int32_t)bits : (long long)(uint32_t)bits;
        if (is_byte) value = strchr("di", kind) ? (signed char)bits : (long long)(uint8_t)bits;
        else if (is_short) value = strchr("di", kind) ? (short)bits : (long long)(uint16_t)bits;
        spec[n++] = 'l', spec[n++] = 'l', spec[n++] = kind, spec[n] = 0;
        fprintf(out, spec, value);
    } else {
        fwrite(start, 1, (size_t)(p + 1 - start), out);
    }
    return p + 1;
}

static void printf_to(FILE *out, const char *format, Values *v) {
    while (*format) {
        if (*format == '%') format = convert(out, format, v);
        else fputc(*format++, out);
    }
}

#define MESSAGES(l) (const uint8_t *at = (l)->messages, *end = at + (l)->message_bytes; at && at < end; at += sizeof(MessageHead) + (((const MessageHead *)at)->bytes + 7) / 8 * 8)

#if defined SIDE_CUDA
enum { PRINT }; /* ptx/services.c */

static void said(const uint64_t *data, char *text, size_t size) {
    if (text[0]) return;
    snprintf(text, size, "%s:%u: %s: Assertion `%s` failed.", device_string(data[1]), (uint32_t)data[2], device_string(data[3]),
             device_string(data[0]));
}

void print_messages(const Launch *l, char *assertion, size_t room) {
    assertion[0] = 0;
    for MESSAGES(l) {
        const MessageHead *head = (const MessageHead *)at;
        const uint8_t *data = at + sizeof *head;
        uint64_t words[4] = {0};
        memcpy(words, data, head->bytes < 32 ? head->bytes : 32);
        if (head->kind == PRINT) printf_to(stdout, device_string(words[0]), &(Values){data + 8, data + head->bytes, 1, data + 8});
        else said(words, assertion, room);
    }
}
#else
enum { ENDS = 2, LENGTH = 5, NUMBER_BIT = 8 }; /* descriptor of a fragment, as in gfx942/printed.py */

typedef struct Call {
    uint64_t number;
    uint8_t *data;
    size_t size;
} Call;

/* Assertions are printed before they trap. */
static void finish(Call *c, char *assertion, size_t room) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    Values v = {c->data + 8, c->data + c->size, 0, c->data + 8}; /* the control word tells stdout from stderr */
    const char *format = string(&v);
    printf_to(out, format, &v);
    fclose(out);
    fwrite(text, 1, size, stdout);
    if (!assertion[0] && strcasestr(text, "assertion") && strstr(text, "failed")) {
        snprintf(assertion, room, "%s", text);
        assertion[strcspn(assertion, "\n")] = 0;
    }
    free(text);
    free(c->data);
}

void print_messages(const Launch *l, char *assertion, size_t room) {
    Call *calls = NULL;
    size_t count = 0;
    assertion[0] = 0;
    for MESSAGES(l) {
        uint64_t words[8];
        memcpy(words, at + sizeof(MessageHead), 64);
        uint64_t number = words[0] >> NUMBER_BIT;
        size_t bytes = 8 * (words[0] >> LENGTH & 7), i = 0;
        while (i < count && calls[i].number != number) i++;
        if (i == count) {
            calls = realloc(calls, ++count * sizeof *calls);
            calls[i] = (Call){number, NULL, 0};
        }
        calls[i].data = realloc(calls[i].data, calls[i].size + bytes + 8);
        memcpy(calls[i].data + calls[i].size, &words[1], bytes);
        calls[i].size += bytes;
        if (words[0] & ENDS) finish(&calls[i], assertion, room), calls[i] = calls[--count];
    }
    for (size_t i = 0; i < count; i++) free(calls[i].data);
    free(calls);
}
#endif
