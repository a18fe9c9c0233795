/* Tokens, comments and preprocessor directives of one file: the same as `porter.cpp.lex.lex_in_python`. */
#include "reader.h"

#include <string.h>

typedef struct {
    const unsigned char *text;
    Py_ssize_t length;
} Text;

typedef struct {
    Py_ssize_t *items;
    Py_ssize_t count, room;
} Numbers;

static PyTypeObject *comment_type, *directive_type, *include_type;
static Py_ssize_t behind;
static PyObject *empty_text;

enum { WORD = 1, SPACE = 2, DIGIT = 4, WORD_START = 8, BLANK = 16, IN_NAME = 32 };
static unsigned char classes[256];

static int is(unsigned char c, int class_) { return classes[c] & class_; }

static void fill_classes(void)
{
    for (int c = 0; c < 256; c++) {
        int letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'), digit = c >= '0' && c <= '9';
        int beyond = c >= 0x80;
        /* the letters, digits and blanks of Latin-1 as Python's str and re have them */
        int foreign = c >= 0xc0 ? c != 0xd7 && c != 0xf7 : c == 0xaa || c == 0xb5 || c == 0xba || c == 0xb2 || c == 0xb3
            || c == 0xb9 || (c >= 0xbc && c <= 0xbe);
        classes[c] = (unsigned char)((letter || digit || c == '_' || c == '$' || beyond ? WORD : 0)
            | (letter || c == '_' || c == '$' || beyond ? WORD_START : 0) | (digit ? DIGIT : 0)
            | (c == ' ' || (c >= '\t' && c <= '\r') ? SPACE : 0)
            | (c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f) || c == 0x85 || c == 0xa0 ? BLANK : 0)
            | (letter || digit || c == '_' || foreign ? IN_NAME : 0));
    }
}

PyObject *lexer_configure(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyTypeObject *comment, *directive, *include;
    if (!PyArg_ParseTuple(arguments, "O!O!O!n", &PyType_Type, &comment, &PyType_Type, &directive, &PyType_Type,
                          &include, &behind))
        return NULL;
    if (empty_text == NULL && (empty_text = PyUnicode_FromString("")) == NULL)
        return NULL;
    Py_INCREF(comment);
    Py_INCREF(directive);
    Py_INCREF(include);
    Py_XSETREF(comment_type, comment);
    Py_XSETREF(directive_type, directive);
    Py_XSETREF(include_type, include);
    fill_classes();
    Py_RETURN_NONE;
}

/* Room for one more. */
static int grow(void **items, Py_ssize_t size, Py_ssize_t count, Py_ssize_t *room)
{
    if (count < *room)
        return 1;
    Py_ssize_t wanted = *room ? *room * 2 : 256;
    void *grown = PyMem_Realloc(*items, (size_t)(wanted * size));
    if (grown == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    *items = grown;
    *room = wanted;
    return 1;
}

/* One object for each spelling: copies would be a quarter of what the tokens take. */
enum { MOST_SPELLINGS = 1 << 16, SLOTS = 1 << 18 };
static struct {
    uint64_t hash;
    PyObject *text;
} *spellings;
static Py_ssize_t spelling_count;

static int begin_spellings(void)
{
    if (spellings == NULL) {
        spellings = PyMem_Calloc(SLOTS, sizeof *spellings);
        if (spellings == NULL) {
            PyErr_NoMemory();
            return 0;
        }
    }
    if (spelling_count <= MOST_SPELLINGS)
        return 1;
    for (Py_ssize_t slot = 0; slot < SLOTS; slot++) {
        PyObject *text = spellings[slot].text;
        spellings[slot].text = NULL;
        Py_XDECREF(text);
    }
    spelling_count = 0;
    return 1;
}

static PyObject *spelled(const unsigned char *start, Py_ssize_t length)
{
    uint64_t hash = 14695981039346656037u;
    for (Py_ssize_t place = 0; place < length; place++)
        hash = (hash ^ start[place]) * 1099511628211u;
    size_t slot = (size_t)(hash ^ hash >> 32) & (SLOTS - 1);
    for (; spellings[slot].text != NULL; slot = (slot + 1) & (SLOTS - 1)) {
        PyObject *text = spellings[slot].text;
        if (spellings[slot].hash == hash && PyUnicode_GET_LENGTH(text) == length
            && memcmp(PyUnicode_1BYTE_DATA(text), start, (size_t)length) == 0) {
            Py_INCREF(text);
            return text;
        }
    }
    PyObject *made = PyUnicode_FromKindAndData(PyUnicode_1BYTE_KIND, start, length);
    if (made != NULL && spelling_count < SLOTS / 2) { /* one file may have more than the limit, which is looked at before */
        spellings[slot].hash = hash;
        spellings[slot].text = made;
        spelling_count++;
        Py_INCREF(made);
    }
    return made;
}

/* Where a `\` and the end of a line at `at` end; `at`: there is none. */
static Py_ssize_t past_splice(Text s, Py_ssize_t at)
{
    if (at + 1 < s.length && s.text[at] == '\\') {
        if (s.text[at + 1] == '\n')
            return at + 2;
        if (at + 2 < s.length && s.text[at + 1] == '\r' && s.text[at + 2] == '\n')
            return at + 3;
    }
    return at;
}

/* Past blanks and spliced lines; `at`: there are none. */
static Py_ssize_t past_blanks(Text s, Py_ssize_t at)
{
    for (;;) {
        Py_ssize_t before = at;
        while (at < s.length && is(s.text[at], SPACE))
            at++;
        at = past_splice(s, at);
        if (at == before)
            return at;
    }
}

/* Past characters up to one of `stop`, or the end of the line; a backslash takes what follows with it. */
static Py_ssize_t past_escaped(Text s, Py_ssize_t at, unsigned char stop)
{
    while (at < s.length && s.text[at] != stop && s.text[at] != '\n') {
        if (s.text[at] != '\\') {
            at++;
            continue;
        }
        if (at + 1 >= s.length)
            return at;
        at += at + 2 < s.length && s.text[at + 1] == '\r' && s.text[at + 2] == '\n' ? 3 : 2;
    }
    return at;
}

static Py_ssize_t past_quoted(Text s, Py_ssize_t at, unsigned char quote)
{
    at = past_escaped(s, at + 1, quote);
    return at < s.length && s.text[at] == quote ? at + 1 : at;
}

static Py_ssize_t past_comment(Text s, Py_ssize_t at)
{
    if (s.text[at + 1] == '/')
        return past_escaped(s, at + 2, '\n');
    for (at += 2; at + 1 < s.length; at++)
        if (s.text[at] == '*' && s.text[at + 1] == '/')
            return at + 2;
    return s.length;
}

static int in_delimiter(unsigned char c)
{
    return !is(c, SPACE) && c != '(' && c != ')' && c != '\\' && c != '"';
}

/* Past a raw string whose `R` is at `at`, prefix gone; `at`: it is none. */
static Py_ssize_t past_raw(Text s, Py_ssize_t at)
{
    enum { LONGEST = 16 };
    if (at + 1 >= s.length || s.text[at] != 'R' || s.text[at + 1] != '"')
        return at;
    Py_ssize_t first = at + 2, open = first;
    while (open < s.length && open - first < LONGEST && in_delimiter(s.text[open]))
        open++;
    if (open >= s.length || s.text[open] != '(')
        return at;
    Py_ssize_t size = open - first;
    for (Py_ssize_t end = open + 1; end + size + 1 < s.length; end++)
        if (s.text[end] == ')' && s.text[end + size + 1] == '"'
            && memcmp(s.text + end + 1, s.text + first, (size_t)size) == 0)
            return end + size + 2;
    return s.length;
}

static Py_ssize_t past_word(Text s, Py_ssize_t at)
{
    while (at < s.length && is(s.text[at], WORD))
        at++;
    return at;
}

static Py_ssize_t past_number(Text s, Py_ssize_t at)
{
    at += s.text[at] == '.' ? 2 : 1;
    while (at < s.length) {
        unsigned char c = s.text[at], next = at + 1 < s.length ? s.text[at + 1] : 0;
        if ((c == 'e' || c == 'E' || c == 'p' || c == 'P') && (next == '+' || next == '-'))
            at += 2;
        else if (c == '\'' && next != '$' && (is(next, WORD) || next == '.'))
            at += 2;
        else if (c != '$' && (is(c, WORD) || c == '.'))
            at++;
        else
            break;
    }
    return at;
}

/* Past what begins with a letter that may be a prefix: a string, a character or a word. */
static Py_ssize_t past_prefixed(Text s, Py_ssize_t at, char *kind)
{
    Py_ssize_t bare = at;
    if (s.text[at] == 'u' && at + 1 < s.length && s.text[at + 1] == '8')
        bare = at + 2;
    else if (s.text[at] != 'R')
        bare = at + 1;
    Py_ssize_t raw = past_raw(s, bare);
    if (raw > bare) {
        *kind = STRING;
        return raw;
    }
    if (bare > at && bare < s.length && (s.text[bare] == '"' || s.text[bare] == '\'')) {
        Py_ssize_t end = past_quoted(s, bare, s.text[bare]);
        *kind = s.text[bare] == '"' || memchr(s.text + bare, '"', (size_t)(end - bare)) ? STRING : CHARACTER;
        return end;
    }
    *kind = IDENTIFIER;
    return past_word(s, at);
}

static Py_ssize_t past_operator(Text s, Py_ssize_t at)
{
    unsigned char a = s.text[at], b = at + 1 < s.length ? s.text[at + 1] : 0, c = at + 2 < s.length ? s.text[at + 2] : 0;
    switch (a) {
    case '<': return at + (b == '<' ? (c == '<' || c == '=' ? 3 : 2) : b == '=' ? 2 : 1);
    case '>': return at + (b == '>' ? (c == '>' || c == '=' ? 3 : 2) : b == '=' ? 2 : 1);
    case '.': return at + (b == '.' && c == '.' ? 3 : 1);
    case '-': return at + (b == '>' ? (c == '*' ? 3 : 2) : b == '-' || b == '=' ? 2 : 1);
    case ':': return at + (b == ':' ? 2 : 1);
    case '#': return at + (b == '#' ? 2 : 1);
    case '+': case '&': case '|': return at + (b == a || b == '=' ? 2 : 1);
    case '=': case '!': case '*': case '/': case '%': case '^': return at + (b == '=' ? 2 : 1);
    default: return at + 1;
    }
}

/* The end of the line of the `#` at `at`, spliced lines and comments being parts of it. */
static Py_ssize_t line_end(Text s, Py_ssize_t at)
{
    while (at < s.length && s.text[at] != '\n') {
        unsigned char c = s.text[at];
        if (c == '\\') {
            if (at + 1 >= s.length)
                break;
            at += at + 2 < s.length && s.text[at + 1] == '\r' && s.text[at + 2] == '\n' ? 3 : 2;
        } else if (c == '"') {
            at = past_quoted(s, at, '"');
        } else if (c == '/' && at + 1 < s.length && (s.text[at + 1] == '/' || s.text[at + 1] == '*')) {
            at = past_comment(s, at);
        } else {
            at++;
        }
    }
    return at;
}

/* Where the name after a `#` begins. */
static Py_ssize_t directive_name(Text s, Py_ssize_t at)
{
    for (at++; at < s.length;) {
        Py_ssize_t spliced = past_splice(s, at);
        if (s.text[at] == ' ' || s.text[at] == '\t') {
            at++;
        } else if (spliced > at) {
            at = spliced;
        } else if (s.text[at] == '/' && at + 1 < s.length && s.text[at + 1] == '*') {
            Py_ssize_t end = at + 2;
            while (end + 1 < s.length && s.text[end] != '\n' && !(s.text[end] == '*' && s.text[end + 1] == '/'))
                end++;
            if (end + 1 >= s.length || s.text[end] == '\n')
                break;
            at = end + 2;
        } else {
            break;
        }
    }
    return at;
}

typedef struct {
    Text s;
    Numbers starts, ends;
    char *kinds;
    Py_ssize_t kinds_room;
    PyObject *comments, *directives, *includes;
    Numbers lines; /* of each directive: its name's begin and end, then start, end and body */
    Py_ssize_t limit, body;
    int begins_line;
} Lexer;

static int add(Numbers *numbers, Py_ssize_t number)
{
    if (!grow((void **)&numbers->items, sizeof number, numbers->count, &numbers->room))
        return 0;
    numbers->items[numbers->count++] = number;
    return 1;
}

/* A named tuple of numbers, behind a name and whether it is in angles where there are some. */
static PyObject *tuple_of(PyTypeObject *type, PyObject *name, PyObject *angled, const Py_ssize_t *numbers, int count)
{
    int first = (name != NULL) + (angled != NULL);
    PyObject *items = PyTuple_New(first + count);
    for (int item = 0; items != NULL && item < first + count; item++) {
        PyObject *part = item >= first ? PyLong_FromSsize_t(numbers[item - first]) : Py_NewRef(item ? angled : name);
        if (part == NULL)
            Py_CLEAR(items);
        else
            PyTuple_SET_ITEM(items, item, part);
    }
    PyObject *arguments = items ? PyTuple_Pack(1, items) : NULL;
    PyObject *made = arguments ? PyTuple_Type.tp_new(type, arguments, NULL) : NULL;
    Py_XDECREF(items);
    Py_XDECREF(arguments);
    return made;
}

static int append(PyObject *list, PyObject *made)
{
    if (made == NULL)
        return 0;
    int failed = PyList_Append(list, made);
    Py_DECREF(made);
    return failed == 0;
}

static int is_named(Text s, Py_ssize_t first, Py_ssize_t last, const char *name)
{
    return (size_t)(last - first) == strlen(name) && memcmp(s.text + first, name, (size_t)(last - first)) == 0;
}

/* An #include whose name stands in one line behind nothing but blanks; 1: it is one, 0: none, -1: an error. */
static int include(Lexer *l, Py_ssize_t start, Py_ssize_t end)
{
    Text s = l->s;
    Py_ssize_t at = start + 1;
    while (at < s.length && (s.text[at] == ' ' || s.text[at] == '\t'))
        at++;
    Py_ssize_t word = at;
    while (at < s.length && (is(s.text[at], WORD)))
        at++;
    if (!is_named(s, word, at, "include") && !is_named(s, word, at, "include_next") && !is_named(s, word, at, "import"))
        return 0;
    while (at < s.length && (s.text[at] == ' ' || s.text[at] == '\t'))
        at++;
    if (at >= s.length || (s.text[at] != '<' && s.text[at] != '"'))
        return 0;
    unsigned char close = s.text[at] == '<' ? '>' : '"';
    Py_ssize_t first = at + 1, last = first;
    while (last < s.length && s.text[last] != close && s.text[last] != '\n')
        last++;
    if (last >= s.length || s.text[last] != close)
        return 0;
    const Py_ssize_t numbers[] = {first, last, start, end};
    PyObject *name = PyUnicode_FromKindAndData(PyUnicode_1BYTE_KIND, s.text + first, last - first);
    PyObject *made = name ? tuple_of(include_type, name, close == '>' ? Py_True : Py_False, numbers, 4) : NULL;
    Py_XDECREF(name);
    return append(l->includes, made) ? 1 : -1;
}

static int directive(Lexer *l, Py_ssize_t start)
{
    Text s = l->s;
    Py_ssize_t end = line_end(s, start), first = directive_name(s, start), last = first;
    if (end > start && s.text[end - 1] == '\r')
        end--;
    unsigned char c = first < s.length ? s.text[first] : 0;
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_')
        while (last < s.length && is(s.text[last], IN_NAME))
            last++;
    Py_ssize_t body = last < end ? last : end;
    if (is_named(s, first, last, "include") || is_named(s, first, last, "include_next")
        || is_named(s, first, last, "import")) {
        int found = include(l, start, end);
        if (found < 0)
            return 0;
        body = found ? end : body;
    }
    l->limit = end;
    l->body = body;
    return add(&l->lines, first) && add(&l->lines, last) && add(&l->lines, start) && add(&l->lines, end)
        && add(&l->lines, body);
}

static int is_blank(Text s, Py_ssize_t at, Py_ssize_t end)
{
    while (at < end && is(s.text[at], BLANK))
        at++;
    return at == end;
}

/* One piece of the text from `at` on: where it ends; -1: an error. */
static Py_ssize_t piece(Lexer *l, Py_ssize_t at)
{
    Text s = l->s;
    unsigned char c = s.text[at];
    Py_ssize_t end = past_blanks(s, at);
    if (end > at) {
        for (Py_ssize_t place = at; place < end; place++) {
            Py_ssize_t spliced = past_splice(s, place);
            if (spliced > place)
                place = spliced - 1;
            else if (s.text[place] == '\n')
                l->begins_line = 1;
        }
        return end;
    }
    char kind = PUNCTUATION;
    if (c == 'L' || c == 'R' || c == 'U' || c == 'u') {
        end = past_prefixed(s, at, &kind);
    } else if (is(c, WORD_START)) {
        end = past_word(s, at);
        kind = IDENTIFIER;
    } else if (is(c, DIGIT) || (c == '.' && at + 1 < s.length && is(s.text[at + 1], DIGIT))) {
        end = past_number(s, at);
        kind = NUMBER;
    } else if (c == '"' || c == '\'') {
        end = past_quoted(s, at, c);
        kind = c == '"' ? STRING : CHARACTER;
    } else if (c == '/' && at + 1 < s.length && (s.text[at + 1] == '/' || s.text[at + 1] == '*')) {
        end = past_comment(s, at);
        if (at < l->body) {
            l->begins_line = 0;
            return end;
        }
        const Py_ssize_t numbers[] = {at, end};
        return append(l->comments, tuple_of(comment_type, NULL, NULL, numbers, 2)) ? end : -1;
    } else {
        end = past_operator(s, at);
        if (c == '#' && end == at + 1 && at >= l->body && at >= l->limit && l->begins_line) {
            l->begins_line = 0;
            return directive(l, at) ? end : -1;
        }
        if (c == '\\' || is(c, BLANK)) {
            l->begins_line &= c != '\\';
            return end;
        }
    }
    l->begins_line &= is_blank(s, at, end);
    if (at < l->body)
        return end;
    if (l->starts.count >= l->kinds_room
        && !grow((void **)&l->kinds, 1, l->starts.count, &l->kinds_room))
        return -1;
    l->kinds[l->starts.count] = kind;
    return add(&l->starts, at) && add(&l->ends, end) ? end : -1;
}

PyObject *list_of_numbers(const Py_ssize_t *numbers, Py_ssize_t count, Py_ssize_t more, Py_ssize_t last)
{
    PyObject *list = PyList_New(count + more);
    for (Py_ssize_t item = 0; list != NULL && item < count + more; item++) {
        PyObject *number = PyLong_FromSsize_t(item < count ? numbers[item] : last);
        if (number == NULL)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, item, number);
    }
    return list;
}

static PyObject *texts_of(const Lexer *l)
{
    Py_ssize_t count = l->starts.count;
    PyObject *list = PyList_New(count + behind);
    for (Py_ssize_t item = 0; list != NULL && item < count + behind; item++) {
        Py_ssize_t start = item < count ? l->starts.items[item] : 0;
        PyObject *text = item < count ? spelled(l->s.text + start, l->ends.items[item] - start) : Py_NewRef(empty_text);
        if (text == NULL)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, item, text);
    }
    return list;
}

static PyObject *kinds_of(const Lexer *l)
{
    PyObject *kinds = PyUnicode_New(l->starts.count + behind, 127);
    if (kinds != NULL) {
        char *data = (char *)PyUnicode_1BYTE_DATA(kinds);
        if (l->starts.count)
            memcpy(data, l->kinds, (size_t)l->starts.count);
        memset(data + l->starts.count, '.', (size_t)behind);
    }
    return kinds;
}

static Py_ssize_t first_from(const Numbers *starts, Py_ssize_t from, Py_ssize_t offset)
{
    Py_ssize_t low = from, high = starts->count;
    while (low < high) {
        Py_ssize_t middle = low + (high - low) / 2;
        if (starts->items[middle] < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The directives with the numbers of their tokens. */
static int tell_directives(Lexer *l)
{
    Py_ssize_t from = 0;
    for (Py_ssize_t line = 0; line < l->lines.count; line += 5) {
        const Py_ssize_t *n = l->lines.items + line;
        Py_ssize_t first = first_from(&l->starts, from, n[4]);
        const Py_ssize_t numbers[] = {n[2], n[3], first, first_from(&l->starts, first, n[3])};
        from = first;
        PyObject *name = spelled(l->s.text + n[0], n[1] - n[0]);
        PyObject *made = name ? tuple_of(directive_type, name, NULL, numbers, 4) : NULL;
        Py_XDECREF(name);
        if (!append(l->directives, made))
            return 0;
    }
    return 1;
}

static PyObject *lexed(Lexer *l)
{
    static const unsigned char byte_order_mark[] = {0xef, 0xbb, 0xbf};
    Py_ssize_t at = l->s.length >= 3 && memcmp(l->s.text, byte_order_mark, 3) == 0 ? 3 : 0;
    while (at >= 0 && at < l->s.length)
        at = piece(l, at);
    if (at < 0 || !tell_directives(l))
        return NULL;
    PyObject *parts[6] = {
        kinds_of(l),
        list_of_numbers(l->starts.items, l->starts.count, behind, l->s.length),
        texts_of(l),
        PyList_AsTuple(l->comments),
        PyList_AsTuple(l->directives),
        PyList_AsTuple(l->includes),
    };
    PyObject *found = PyTuple_New(6);
    for (int part = 0; part < 6; part++) {
        if (parts[part] == NULL)
            Py_CLEAR(found);
        if (found != NULL)
            PyTuple_SET_ITEM(found, part, parts[part]);
        else
            Py_XDECREF(parts[part]);
    }
    return found;
}

/* The parts of `Tokens`; None for a text that is no Latin-1. */
PyObject *lexer_lex(PyObject *self, PyObject *text)
{
    (void)self;
    if (!PyUnicode_Check(text) || comment_type == NULL) {
        PyErr_SetString(PyExc_TypeError, "a text is wanted, and the types of what is found");
        return NULL;
    }
    if (PyUnicode_KIND(text) != PyUnicode_1BYTE_KIND)
        Py_RETURN_NONE;
    Lexer l = {.s = {PyUnicode_1BYTE_DATA(text), PyUnicode_GET_LENGTH(text)}, .begins_line = 1};
    l.comments = PyList_New(0);
    l.directives = PyList_New(0);
    l.includes = PyList_New(0);
    PyObject *found = NULL;
    if (l.comments != NULL && l.directives != NULL && l.includes != NULL && begin_spellings())
        found = lexed(&l);
    Py_XDECREF(l.comments);
    Py_XDECREF(l.directives);
    Py_XDECREF(l.includes);
    PyMem_Free(l.starts.items);
    PyMem_Free(l.ends.items);
    PyMem_Free(l.lines.items);
    PyMem_Free(l.kinds);
    return found;
}

/* Identifier -> the numbers of its tokens. */
PyObject *lexer_names(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *texts, *kinds;
    if (!PyArg_ParseTuple(arguments, "O!U", &PyList_Type, &texts, &kinds))
        return NULL;
    PyObject *found = PyDict_New();
    Py_ssize_t count = PyList_GET_SIZE(texts);
    count = PyUnicode_KIND(kinds) != PyUnicode_1BYTE_KIND ? 0
        : PyUnicode_GET_LENGTH(kinds) < count ? PyUnicode_GET_LENGTH(kinds) : count;
    for (Py_ssize_t item = 0; found != NULL && item < count; item++) {
        if (PyUnicode_1BYTE_DATA(kinds)[item] != IDENTIFIER)
            continue;
        PyObject *text = PyList_GET_ITEM(texts, item);
        PyObject *places = PyDict_GetItemWithError(found, text);
        if (places == NULL && !PyErr_Occurred() && (places = PyList_New(0)) != NULL) {
            int failed = PyDict_SetItem(found, text, places);
            Py_DECREF(places);
            places = failed ? NULL : places;
        }
        PyObject *number = places ? PyLong_FromSsize_t(item) : NULL;
        if (number == NULL || PyList_Append(places, number) < 0)
            Py_CLEAR(found);
        Py_XDECREF(number);
    }
    return found;
}

/* The first character of each token but for the `behind` empty ones; None for texts that are no Latin-1. */
PyObject *lexer_first_characters(PyObject *self, PyObject *texts)
{
    (void)self;
    if (!PyList_Check(texts)) {
        PyErr_SetString(PyExc_TypeError, "a list of texts is wanted");
        return NULL;
    }
    Py_ssize_t count = PyList_GET_SIZE(texts) - behind, item = 0;
    Py_UCS1 *first = PyMem_Malloc(count > 0 ? (size_t)count : 1);
    if (first == NULL)
        return PyErr_NoMemory();
    for (; item < count; item++) {
        PyObject *text = PyList_GET_ITEM(texts, item);
        if (!PyUnicode_Check(text) || PyUnicode_GET_LENGTH(text) == 0 || PyUnicode_KIND(text) != PyUnicode_1BYTE_KIND)
            break;
        first[item] = PyUnicode_1BYTE_DATA(text)[0];
    }
    PyObject *found = item < count ? Py_NewRef(Py_None)
        : PyUnicode_FromKindAndData(PyUnicode_1BYTE_KIND, first, count > 0 ? count : 0);
    PyMem_Free(first);
    return found;
}

static unsigned char bracket(PyObject *texts, Py_ssize_t item)
{
    PyObject *text = PyList_GET_ITEM(texts, item);
    if (!PyUnicode_Check(text) || PyUnicode_GET_LENGTH(text) != 1 || PyUnicode_KIND(text) != PyUnicode_1BYTE_KIND)
        return 0;
    unsigned char c = PyUnicode_1BYTE_DATA(text)[0];
    return c && strchr("()[]{}", c) ? c : 0;
}

static unsigned char opens(unsigned char c)
{
    return c == ')' ? '(' : c == ']' ? '[' : c == '}' ? '{' : 0;
}

static int join(PyObject *pairs, Py_ssize_t one, Py_ssize_t other)
{
    PyObject *first = PyLong_FromSsize_t(one), *last = PyLong_FromSsize_t(other);
    int done = first && last && PyDict_SetItem(pairs, first, last) == 0 && PyDict_SetItem(pairs, last, first) == 0;
    Py_XDECREF(first);
    Py_XDECREF(last);
    return done;
}

/* Pairs the brackets of [first, last) with one another and with those open in `stack`; a closing one skips back over
 * unclosed ones of another shape. */
static int pair(PyObject *texts, Py_ssize_t first, Py_ssize_t last, Numbers *stack, PyObject *pairs)
{
    enum { FURTHEST_BACK = 7 };
    for (Py_ssize_t item = first; item < last; item++) {
        unsigned char c = bracket(texts, item), wanted = opens(c);
        if (c == 0)
            continue;
        if (wanted == 0) {
            if (!add(stack, item))
                return 0;
            continue;
        }
        Py_ssize_t depth = stack->count - 1, least = stack->count > FURTHEST_BACK ? stack->count - FURTHEST_BACK : 0;
        while (depth >= least && bracket(texts, stack->items[depth]) != wanted)
            depth--;
        if (depth < least)
            continue;
        if (!join(pairs, stack->items[depth], item))
            return 0;
        stack->count = depth;
    }
    return 1;
}

/* Bracket -> its partner; those of a directive do not pair with code. */
PyObject *lexer_pair(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *texts, *directives;
    Py_ssize_t count;
    if (!PyArg_ParseTuple(arguments, "O!nO!", &PyList_Type, &texts, &count, &PyTuple_Type, &directives))
        return NULL;
    count = count > PyList_GET_SIZE(texts) ? PyList_GET_SIZE(texts) : count;
    Numbers code = {0}, inner = {0};
    PyObject *pairs = PyDict_New();
    Py_ssize_t done = 0;
    for (Py_ssize_t item = 0; pairs != NULL && item < PyTuple_GET_SIZE(directives); item++) {
        PyObject *one = PyTuple_GET_ITEM(directives, item);
        if (!PyTuple_Check(one) || PyTuple_GET_SIZE(one) != 5) {
            PyErr_SetString(PyExc_TypeError, "directives are wanted");
            Py_CLEAR(pairs);
            break;
        }
        Py_ssize_t first = PyLong_AsSsize_t(PyTuple_GET_ITEM(one, 3)), last = PyLong_AsSsize_t(PyTuple_GET_ITEM(one, 4));
        first = first < done ? done : first > count ? count : first;
        last = last < first ? first : last > count ? count : last;
        inner.count = 0;
        if (PyErr_Occurred() || !pair(texts, done, first, &code, pairs) || !pair(texts, first, last, &inner, pairs))
            Py_CLEAR(pairs);
        done = last;
    }
    if (pairs != NULL && !pair(texts, done, count, &code, pairs))
        Py_CLEAR(pairs);
    PyMem_Free(code.items);
    PyMem_Free(inner.items);
    return pairs;
}
