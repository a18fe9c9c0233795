/* Bodies, macros and expressions as trees: the same as `porter.cpp.statements.Reader`, function by function. */
#include "reader.h"

#include <string.h>

/* Words that the reader asks for one by one; the sets of words come from Python. */
enum {
    NONE, OPEN, CLOSE, OPEN_SQUARE, CLOSE_SQUARE, OPEN_BRACE, CLOSE_BRACE, SEMICOLON, COMMA, COLON, SCOPE, QUESTION, LESS,
    GREATER, SHIFT_RIGHT, END_LAUNCH, LAUNCH, EQUALS, STAR, AMPERSAND, AND, DOT, ARROW, INCREMENT, DECREMENT, TILDE, OR,
    PLUS, MINUS, SAME, IF, FOR, WHILE, DO, SWITCH, RETURN, BREAK, CONTINUE, GOTO, CASE, DEFAULT, ELSE, ASM, ASM_2, ASM_1,
    TRY, CATCH, CONSTEXPR, EXTERN, STRUCT, CLASS, UNION, ENUM, CONST, VOLATILE, RESTRICT_2, RESTRICT_1, RESTRICT, NOT, NEW,
    DELETE, THROW, TEMPLATE, DEVICE, HOST, ALIGN, ALIGNAS, ATTRIBUTE,
    DECLTYPE, TYPEOF, TYPEOF_2, CONSTEVAL, PRAGMA_1, PRAGMA_2, NOT_MARK, DIFFERENT, AND_WORD, OR_WORD, WORDS,
};
static const char *const spellings[WORDS] = {
    "", "(", ")", "[", "]", "{", "}", ";", ",", ":", "::", "?", "<", ">", ">>", ">>>", "<<<", "=", "*", "&", "&&", ".",
    "->", "++", "--", "~", "||", "+", "-", "==", "if", "for", "while", "do", "switch", "return", "break", "continue",
    "goto", "case", "default", "else", "asm", "__asm__", "__asm", "try", "catch", "constexpr", "extern", "struct", "class",
    "union", "enum", "const", "volatile", "__restrict__", "__restrict", "restrict", "not", "new", "delete", "throw",
    "template", "__device__", "__host__", "__align__", "alignas", "__attribute__",
    "decltype", "typeof", "__typeof__", "consteval", "_Pragma", "__pragma", "!", "!=", "and", "or",
};
/* In the order in which Python gives the sets. */
enum {
    TYPE = 1, QUALIFIER = 2, CONTROL = 4, SKIPPED = 8, NAMED_CAST = 16, SIZE = 32, OPERATING = 64, CONTINUING = 128,
    PREFIX = 256, ASSIGN = 512, ENDING = 1024, ENDS = 2048, IN_TYPES = 4096, NOT_IN_ARGUMENTS = 8192, SETS = 14,
};

typedef struct {
    unsigned short set;
    unsigned char strength, code;
} Word;

static PyTypeObject *node_type;
static Py_ssize_t slots[7];
static PyObject *empty, *too_deep_key, *words, *blank, *scope, *no_text, *zero, *no_kids, *in_words, *consteval_text;
static PyObject *of_loops[2];
static int deepest, longest_chain, longest_arguments;

#define KINDS(X) \
    X(block) X(opaque) X(empty_statement) X(label) X(jump) X(macroloop) X(statement) X(declaration) X(variable) X(list) \
    X(comma) X(assign) X(ternary) X(binary) X(unary) X(name) X(number) X(string) X(size) X(cast) X(lambda) X(type) X(call) \
    X(index) X(member) X(postfix) X(launch) X(range) X(asm_statement) X(while_loop) X(for_loop) X(do_loop) X(if_else) \
    X(choice) X(returned)
#define DECLARE(kind) static PyObject *kind##_kind;
KINDS(DECLARE)

static int name_kinds(void)
{
#define NAME(kind) \
    if (kind##_kind == NULL && (kind##_kind = PyUnicode_InternFromString(#kind)) == NULL) \
        return 0;
    KINDS(NAME)
    PyObject **others[] = {
        &empty_statement_kind, &asm_statement_kind, &while_loop_kind, &for_loop_kind, &do_loop_kind, &if_else_kind,
        &choice_kind, &returned_kind,
    };
    static const char *const names[] = {"empty", "asm", "while", "for", "do", "if", "switch", "return"};
    for (size_t item = 0; item < sizeof others / sizeof *others; item++) {
        PyObject *made = PyUnicode_InternFromString(names[item]);
        if (made == NULL)
            return 0;
        Py_XSETREF(*others[item], made);
    }
    return 1;
}

static Word word_of(PyObject *text)
{
    Word word = {0, 0, NONE};
    PyObject *known = PyDict_GetItemWithError(words, text);
    if (known != NULL) {
        unsigned long value = PyLong_AsUnsignedLong(known);
        word.set = (unsigned short)(value & 0xffff);
        word.strength = (unsigned char)(value >> 16 & 0xff);
        word.code = (unsigned char)(value >> 24 & 0xff);
    }
    return word;
}

static int add_to_word(PyObject *text, unsigned long more)
{
    PyObject *known = PyDict_GetItemWithError(words, text);
    if (known == NULL && PyErr_Occurred())
        return 0;
    PyObject *made = PyLong_FromUnsignedLong((known ? PyLong_AsUnsignedLong(known) : 0) | more);
    int failed = made == NULL || PyDict_SetItem(words, text, made) < 0;
    Py_XDECREF(made);
    return !failed;
}

static int know_words(PyObject *sets, PyObject *strengths)
{
    Py_XSETREF(words, PyDict_New());
    if (words == NULL)
        return 0;
    for (unsigned long code = 1; code < WORDS; code++) {
        PyObject *text = PyUnicode_InternFromString(spellings[code]);
        int known = text != NULL && add_to_word(text, code << 24);
        Py_XDECREF(text);
        if (!known)
            return 0;
    }
    for (Py_ssize_t set = 0; set < SETS; set++) {
        PyObject *each = PyObject_GetIter(PyTuple_GET_ITEM(sets, set)), *text = NULL;
        while (each != NULL && (text = PyIter_Next(each)) != NULL) {
            int known = add_to_word(text, 1ul << set);
            Py_DECREF(text);
            if (!known)
                break;
        }
        Py_XDECREF(each);
        if (PyErr_Occurred())
            return 0;
    }
    PyObject *text, *strength;
    for (Py_ssize_t place = 0; PyDict_Next(strengths, &place, &text, &strength);)
        if (!add_to_word(text, PyLong_AsUnsignedLong(strength) << 16))
            return 0;
    return 1;
}

/* Where the node type keeps its fields. */
static int find_slots(PyObject *type)
{
    static const char *const names[] = {"kind", "first", "last", "text", "kids", "extra", "count"};
    for (int slot = 0; slot < 7; slot++) {
        PyObject *member = PyObject_GetAttrString(type, names[slot]);
        int found = member != NULL && Py_IS_TYPE(member, &PyMemberDescr_Type);
        if (found)
            slots[slot] = ((PyMemberDescrObject *)member)->d_member->offset;
        else if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "the node type has no such slot");
        Py_XDECREF(member);
        if (!found)
            return 0;
    }
    return 1;
}

PyObject *parser_configure(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *type, *no_node, *key, *sets, *strengths, *symbols, *loops;
    if (!PyArg_ParseTuple(arguments, "O!OO!O!O!O!iiiO", &PyType_Type, &type, &no_node, &PyTuple_Type, &sets, &PyDict_Type,
                          &strengths, &PyDict_Type, &symbols, &PyTuple_Type, &loops, &deepest, &longest_chain,
                          &longest_arguments, &key))
        return NULL;
    if (PyTuple_GET_SIZE(loops) != 2) {
        PyErr_SetString(PyExc_ValueError, "two parts of names are wanted");
        return NULL;
    }
    if (PyTuple_GET_SIZE(sets) != SETS) {
        PyErr_SetString(PyExc_ValueError, "another number of sets is wanted");
        return NULL;
    }
    if (!find_slots(type) || !name_kinds() || !know_words(sets, strengths))
        return NULL;
    Py_XSETREF(node_type, (PyTypeObject *)Py_NewRef(type));
    Py_XSETREF(empty, Py_NewRef(no_node));
    Py_XSETREF(too_deep_key, Py_NewRef(key));
    Py_XSETREF(in_words, Py_NewRef(symbols));
    Py_XSETREF(of_loops[0], Py_NewRef(PyTuple_GET_ITEM(loops, 0)));
    Py_XSETREF(of_loops[1], Py_NewRef(PyTuple_GET_ITEM(loops, 1)));
    Py_XSETREF(consteval_text, PyUnicode_InternFromString("consteval"));
    Py_XSETREF(blank, PyUnicode_InternFromString(" "));
    Py_XSETREF(scope, PyUnicode_InternFromString("::"));
    Py_XSETREF(no_text, PyUnicode_InternFromString(""));
    Py_XSETREF(zero, PyLong_FromLong(0));
    Py_XSETREF(no_kids, PyTuple_New(0));
    if (consteval_text == NULL || blank == NULL || scope == NULL || no_text == NULL || zero == NULL || no_kids == NULL)
        return NULL;
    Py_RETURN_NONE;
}

/* What all readers of one body share. */
typedef struct {
    PyObject *texts, *starts, *partner, *memo;
    int failed;
} Source;

typedef struct {
    Source *source;
    const Py_ssize_t *places;
    const Word *words;
    const char *kinds;
    Py_ssize_t count, position, *closings;
    int depth;
} Reader;

typedef struct {
    PyObject **items, *own[8];
    Py_ssize_t count, room;
} Kids;

static PyObject *fail(Reader *r)
{
    r->source->failed = 1;
    return NULL;
}

static int is_done(const Reader *r) { return r->source->failed || r->position >= r->count; }

static Word word_at(const Reader *r, Py_ssize_t at)
{
    static const Word none = {0, 0, NONE};
    return at >= 0 && at < r->count ? r->words[at] : none;
}

static int code_at(const Reader *r, Py_ssize_t at) { return word_at(r, at).code; }

static int in_set(const Reader *r, Py_ssize_t at, int set) { return word_at(r, at).set & set; }

static int kind_at(const Reader *r, Py_ssize_t at) { return at >= 0 && at < r->count ? r->kinds[at] : 0; }

static int code(const Reader *r) { return r->source->failed ? NONE : code_at(r, r->position); }

static PyObject *text_at(const Reader *r, Py_ssize_t at)
{
    return at >= 0 && at < r->count ? PyList_GET_ITEM(r->source->texts, r->places[at]) : no_text;
}

static Py_ssize_t here(const Reader *r)
{
    return r->position < r->count ? r->places[r->position] : r->count ? r->places[r->count - 1] : 0;
}

static Py_ssize_t before(const Reader *r)
{
    if (r->position == 0 || r->count == 0)
        return here(r);
    return r->places[(r->position < r->count ? r->position : r->count) - 1];
}

static int take(Reader *r, int wanted)
{
    if (r->position >= r->count || r->words[r->position].code != wanted)
        return 0;
    r->position++;
    return 1;
}

static int opens(int code) { return code == OPEN || code == OPEN_SQUARE || code == OPEN_BRACE; }

static int closes(int code) { return code == CLOSE || code == CLOSE_SQUARE || code == CLOSE_BRACE; }

/* Nodes */

static void put(Kids *kids, PyObject *node)
{
    if (kids->items == NULL) {
        kids->items = kids->own;
        kids->room = sizeof kids->own / sizeof *kids->own;
    }
    if (node != NULL && kids->count == kids->room) {
        Py_ssize_t room = kids->room * 2;
        PyObject **grown = kids->items == kids->own ? PyMem_New(PyObject *, room)
                                                    : PyMem_Realloc(kids->items, (size_t)room * sizeof *grown);
        if (grown == NULL) {
            Py_CLEAR(node);
            PyErr_NoMemory();
        } else {
            if (kids->items == kids->own)
                memcpy(grown, kids->own, sizeof kids->own);
            kids->items = grown;
            kids->room = room;
        }
    }
    if (node != NULL)
        kids->items[kids->count++] = node;
}

/* All of them as a tuple; what is kept for them is given back. */
static PyObject *tuple_of(Reader *r, Kids *kids)
{
    PyObject *tuple = r->source->failed || PyErr_Occurred() ? NULL : kids->count ? PyTuple_New(kids->count) : Py_NewRef(no_kids);
    for (Py_ssize_t item = 0; item < kids->count; item++) {
        if (tuple != NULL)
            PyTuple_SET_ITEM(tuple, item, kids->items[item]);
        else
            Py_DECREF(kids->items[item]);
    }
    if (kids->items != kids->own)
        PyMem_Free(kids->items);
    return tuple != NULL ? tuple : fail(r);
}

static void set_slot(PyObject *node, int slot, PyObject *value) { *(PyObject **)((char *)node + slots[slot]) = value; }

static PyObject *slot_of(PyObject *node, int slot) { return *(PyObject **)((char *)node + slots[slot]); }

enum { KIND, FIRST, LAST, TEXT, NODE_KIDS, EXTRA, COUNT };

/* A node; `kids` is taken over, and NULL says that something failed before. */
static PyObject *full_node(Reader *r, PyObject *kind, Py_ssize_t first, Py_ssize_t last, PyObject *text, PyObject *kids,
                           PyObject *extra, Py_ssize_t count)
{
    PyObject *one = PyLong_FromSsize_t(first), *other = PyLong_FromSsize_t(last);
    PyObject *number = count ? PyLong_FromSsize_t(count) : Py_NewRef(zero);
    PyObject *node = NULL;
    if (kids != NULL && one != NULL && other != NULL && number != NULL)
        node = node_type->tp_alloc(node_type, 0);
    if (node == NULL) {
        Py_XDECREF(one);
        Py_XDECREF(other);
        Py_XDECREF(number);
        Py_XDECREF(kids);
        return fail(r);
    }
    set_slot(node, KIND, Py_NewRef(kind));
    set_slot(node, FIRST, one);
    set_slot(node, LAST, other);
    set_slot(node, TEXT, Py_NewRef(text));
    set_slot(node, NODE_KIDS, kids);
    set_slot(node, EXTRA, Py_NewRef(extra));
    set_slot(node, COUNT, number);
    return node;
}

static PyObject *made(Reader *r, PyObject *kind, Py_ssize_t first, PyObject *text, PyObject *kids)
{
    return full_node(r, kind, first, before(r), text, kids, no_text, 0);
}

static PyObject *leaf(Reader *r, PyObject *kind, Py_ssize_t first, Py_ssize_t last, PyObject *text)
{
    return full_node(r, kind, first, last, text, Py_NewRef(no_kids), no_text, 0);
}

static PyObject *kids_1(Reader *r, PyObject *a)
{
    Kids kids = {0};
    put(&kids, a);
    return tuple_of(r, &kids);
}

static PyObject *kids_2(Reader *r, PyObject *a, PyObject *b)
{
    Kids kids = {0};
    put(&kids, a);
    put(&kids, b);
    return tuple_of(r, &kids);
}

static PyObject *kids_3(Reader *r, PyObject *a, PyObject *b, PyObject *c)
{
    Kids kids = {0};
    put(&kids, a);
    put(&kids, b);
    put(&kids, c);
    return tuple_of(r, &kids);
}

static Py_ssize_t first_of(PyObject *node) { return node != NULL ? PyLong_AsSsize_t(slot_of(node, FIRST)) : 0; }

static int is_kind(PyObject *node, PyObject *kind) { return node != NULL && slot_of(node, KIND) == kind; }

static PyObject *nothing(void) { return Py_NewRef(empty); }

/* Texts [first, last) with blanks between them. */
static PyObject *joined(Reader *r, Py_ssize_t first, Py_ssize_t last)
{
    if (last <= first)
        return Py_NewRef(no_text);
    PyObject *list = PyList_New(last - first);
    for (Py_ssize_t item = first; list != NULL && item < last; item++)
        PyList_SET_ITEM(list, item - first, Py_NewRef(text_at(r, item)));
    PyObject *text = list ? PyUnicode_Join(blank, list) : NULL;
    Py_XDECREF(list);
    return text != NULL ? text : fail(r);
}

/* Brackets */

static int pair_closings(Reader *r)
{
    Py_ssize_t *opened = PyMem_New(Py_ssize_t, r->count + 1), depth = 0;
    r->closings = PyMem_New(Py_ssize_t, r->count + 1);
    if (opened == NULL || r->closings == NULL) {
        PyMem_Free(opened);
        PyErr_NoMemory();
        fail(r);
        return 0;
    }
    for (Py_ssize_t at = 0; at < r->count; at++) {
        r->closings[at] = -1;
        if (opens(r->words[at].code))
            opened[depth++] = at;
        else if (closes(r->words[at].code) && depth)
            r->closings[opened[--depth]] = at;
    }
    PyMem_Free(opened);
    return 1;
}

/* Position of the bracket that closes the one at a position; -1: there is none. */
static Py_ssize_t matching(Reader *r, Py_ssize_t at)
{
    if (r->closings == NULL && !pair_closings(r))
        return -1;
    return at >= 0 && at < r->count ? r->closings[at] : -1;
}

static void skip_brackets(Reader *r)
{
    Py_ssize_t close = matching(r, r->position);
    r->position = close < 0 ? r->position + 1 : close + 1;
}

/* Behind the next token that is wanted; before a `}` or what else it may not be behind. */
static void run_to(Reader *r, int wanted, int never)
{
    while (!is_done(r) && code(r) != wanted) {
        if (opens(code(r)))
            skip_brackets(r);
        else if (code(r) == CLOSE_BRACE || code(r) == never)
            return;
        else
            r->position++;
    }
    take(r, wanted);
}

static void to_bracket(Reader *r, int close) { run_to(r, close, SEMICOLON); }

static void to_semicolon(Reader *r) { run_to(r, SEMICOLON, CLOSE); }

static void skip_too_deep(Reader *r)
{
    Source *s = r->source;
    PyObject *offset = PyList_GET_SIZE(s->starts) > here(r) ? PyList_GET_ITEM(s->starts, here(r)) : zero;
    if (PyDict_SetDefault(s->memo, too_deep_key, offset) == NULL)
        fail(r);
    while (!is_done(r) && !closes(code(r)) && code(r) != SEMICOLON && code(r) != COMMA) {
        if (opens(code(r)))
            skip_brackets(r);
        else
            r->position++;
    }
}

/* Types */

/* The token after the `>` that closes the `<` at `index`; -1: it is a comparison, -2: an error. */
static Py_ssize_t template_end(Source *s, Py_ssize_t index, Py_ssize_t last)
{
    Py_ssize_t limit = index + longest_arguments < last ? index + longest_arguments : last;
    int depth = 0;
    for (; index < limit; index++) {
        Word word = word_of(PyList_GET_ITEM(s->texts, index));
        int angles = word.code == LESS ? 1 : word.code == GREATER ? -1 : word.code == SHIFT_RIGHT ? -2
            : word.code == END_LAUNCH ? -3 : 0;
        if (opens(word.code)) {
            PyObject *key = PyLong_FromSsize_t(index), *found = key ? PyDict_GetItemWithError(s->partner, key) : NULL;
            Py_XDECREF(key);
            if (found == NULL)
                return PyErr_Occurred() ? -2 : -1;
            Py_ssize_t close = PyLong_AsSsize_t(found);
            if (close <= index || close >= limit)
                return -1;
            index = close;
        } else if (angles) {
            depth += angles;
            if (depth <= 0)
                return depth == 0 ? index + 1 : -1;
        } else if (closes(word.code) || word.set & NOT_IN_ARGUMENTS) {
            return -1;
        }
    }
    return -1;
}

/* Position after the `>` of template arguments that open at a position; -1: there are none. */
static Py_ssize_t past_template(Reader *r, Py_ssize_t at)
{
    if (at >= r->count)
        return -1;
    Py_ssize_t after = template_end(r->source, r->places[at], r->places[r->count - 1] + 1);
    if (after == -2)
        fail(r);
    if (after < 0)
        return -1;
    while (at < r->count && r->places[at] < after)
        at++;
    return at;
}

/* Position after a type's words, scopes and template arguments; -1: there is none. */
static Py_ssize_t past_type(Reader *r, Py_ssize_t at)
{
    Py_ssize_t start = at;
    while (kind_at(r, at) == IDENTIFIER && in_set(r, at, TYPE | QUALIFIER))
        at++;
    if (at > start && code_at(r, at) != LESS)
        return at;
    if (at == start) {
        if (in_set(r, at, CONTROL))
            return -1;
        int word = code_at(r, at);
        Py_ssize_t end = word == DECLTYPE || word == TYPEOF || word == TYPEOF_2 ? matching(r, at + 1) : -1;
        at = end < 0 ? at + 1 : end + 1;
    }
    while (at < r->count) {
        if (code_at(r, at) == SCOPE && at + 1 < r->count) {
            at += code_at(r, at + 1) == TEMPLATE ? 3 : 2;
        } else if (code_at(r, at) == LESS) {
            at = past_template(r, at);
            if (at < 0)
                return -1;
        } else {
            return at;
        }
    }
    return -1;
}

/* Behind `__align__(16)` or the like that stands at a token; else the same. */
static Py_ssize_t past_attribute(Reader *r, Py_ssize_t at)
{
    int word = code_at(r, at);
    if ((word != ALIGN && word != ALIGNAS && word != ATTRIBUTE) || code_at(r, at + 1) != OPEN)
        return at;
    Py_ssize_t end = matching(r, at + 1);
    return end < 0 ? at : end + 1;
}

static Py_ssize_t past_attributes(Reader *r, Py_ssize_t at)
{
    while (at < r->count) {
        Py_ssize_t after = past_attribute(r, at);
        if (after == at) {
            if (!in_set(r, at, QUALIFIER) && !(in_set(r, at, TYPE) && kind_at(r, at + 1) == IDENTIFIER))
                return at;
            after++;
        }
        at = after;
    }
    return at;
}

/* The words [first, end) of a type with blanks between them, attributes left out. */
static PyObject *written(Reader *r, Py_ssize_t first, Py_ssize_t end)
{
    PyObject *list = PyList_New(0), *text = NULL;
    while (list != NULL && first < end) {
        Py_ssize_t after = past_attribute(r, first);
        if (after == first && PyList_Append(list, text_at(r, after++)) < 0)
            Py_CLEAR(list);
        first = after;
    }
    if (list != NULL)
        text = PyUnicode_Join(blank, list);
    Py_XDECREF(list);
    return text != NULL ? text : fail(r);
}

/* Expressions */

static PyObject *expression(Reader *r);
static PyObject *unary(Reader *r);
static PyObject *block(Reader *r);
static PyObject *statement(Reader *r);
static PyObject *ternary(Reader *r);

static PyObject *comma(Reader *r)
{
    Py_ssize_t first = here(r);
    PyObject *value = expression(r);
    if (code(r) != COMMA)
        return value;
    Kids kids = {0};
    put(&kids, value);
    while (take(r, COMMA))
        put(&kids, expression(r));
    PyObject *all = tuple_of(r, &kids);
    return made(r, comma_kind, first, no_text, all);
}

static PyObject *too_deep(Reader *r)
{
    Py_ssize_t first = here(r);
    skip_too_deep(r);
    return leaf(r, opaque_kind, first, before(r), no_text);
}

/* A name or a number that nothing belongs to; NULL without an error: the operand is more. */
static PyObject *plain_operand(Reader *r)
{
    Py_ssize_t at = r->position;
    if (at + 1 >= r->count || in_set(r, at + 1, CONTINUING) || r->source->failed)
        return NULL;
    int kind = r->kinds[at];
    if (kind == IDENTIFIER) {
        if (in_set(r, at, OPERATING))
            return NULL;
    } else if (kind != NUMBER || r->kinds[at + 1] == IDENTIFIER) {
        return NULL;
    }
    r->position = at + 1;
    return leaf(r, kind == IDENTIFIER ? name_kind : number_kind, r->places[at], r->places[at], text_at(r, at));
}

/* `T x(a, b)`, `f(a, b)`, `{a, b}`: what stands up to a closing bracket. */
static PyObject *list(Reader *r, int close);

static PyObject *braced(Reader *r)
{
    if (r->depth >= deepest)
        return too_deep(r);
    r->depth++;
    Py_ssize_t first = here(r);
    r->position++;
    PyObject *kids = list(r, CLOSE_BRACE);
    r->depth--;
    return made(r, list_kind, first, no_text, kids);
}

static PyObject *initialiser(Reader *r) { return code(r) == OPEN_BRACE ? braced(r) : expression(r); }

/* Whether the brace that opens here is a block: a list has no semicolons of its own. */
static int holds_statements(Reader *r)
{
    Py_ssize_t close = matching(r, r->position);
    for (Py_ssize_t at = r->position + 1; at < close; at++) {
        if (code_at(r, at) == SEMICOLON)
            return 1;
        Py_ssize_t inner = opens(code_at(r, at)) ? matching(r, at) : -1;
        at = inner < 0 ? at : inner;
    }
    return 0;
}

/* One of a list: a value, that of a member (`.a = 1`) or element (`[2] = 1`), or statements for a macro. */
static PyObject *item(Reader *r)
{
    int word = code(r), after = code_at(r, r->position + 2);
    if (word == OPEN_BRACE)
        return holds_statements(r) ? block(r) : braced(r);
    if (word == DOT && kind_at(r, r->position + 1) == IDENTIFIER && (after == EQUALS || after == OPEN_BRACE)) {
        r->position += 2;
        take(r, EQUALS);
        return initialiser(r);
    }
    if (word == OPEN_SQUARE) {
        Py_ssize_t close = matching(r, r->position);
        if (close >= 0 && code_at(r, close + 1) == EQUALS) {
            r->position = close + 2;
            return initialiser(r);
        }
    }
    return in_set(r, r->position, CONTROL) ? statement(r) : expression(r);
}

static PyObject *list(Reader *r, int close)
{
    Kids kids = {0};
    while (!is_done(r) && code(r) != close) {
        Py_ssize_t start = r->position;
        put(&kids, item(r));
        take(r, COMMA);
        if (r->position == start)
            r->position++;
    }
    take(r, close);
    return tuple_of(r, &kids);
}

/* The symbol of an operator that may be written as a word. */
static PyObject *symbol_at(Reader *r, Py_ssize_t at)
{
    PyObject *text = text_at(r, at), *symbol = kind_at(r, at) == IDENTIFIER ? PyDict_GetItemWithError(in_words, text) : NULL;
    return symbol != NULL ? symbol : text;
}

static PyObject *expression(Reader *r)
{
    if (in_set(r, r->position + 1, ENDING)) {
        PyObject *plain = plain_operand(r);
        if (plain != NULL || r->source->failed)
            return plain;
    }
    if (r->depth >= deepest)
        return too_deep(r);
    r->depth++;
    PyObject *node = ternary(r);
    if (in_set(r, r->position, ASSIGN)) {
        PyObject *operator = symbol_at(r, r->position);
        r->position++;
        Py_ssize_t first = first_of(node);
        PyObject *kids = kids_2(r, node, initialiser(r));
        node = made(r, assign_kind, first, operator, kids);
    }
    r->depth--;
    return node;
}

/* The rest of a chain of operators in one node, which says no more than what is in it. */
static PyObject *long_chain(Reader *r, PyObject *left)
{
    Py_ssize_t first = first_of(left);
    Kids kids = {0};
    put(&kids, left);
    while (!is_done(r) && !in_set(r, r->position, ENDS | ASSIGN) && code(r) != QUESTION) {
        r->position++;
        put(&kids, unary(r));
    }
    PyObject *all = tuple_of(r, &kids);
    return made(r, opaque_kind, first, no_text, all);
}

/* What an operand begins, with all operators that bind more strongly than `lowest`. */
static PyObject *operators(Reader *r, PyObject *left, int lowest)
{
    for (int chain = 0; chain < longest_chain; chain++) {
        int strength = word_at(r, r->position).strength;
        if (strength <= lowest || r->source->failed)
            return left;
        PyObject *operator = symbol_at(r, r->position);
        r->position++;
        PyObject *right = unary(r);
        if (word_at(r, r->position).strength > strength)
            right = operators(r, right, strength);
        Py_ssize_t first = first_of(left);
        PyObject *kids = kids_2(r, left, right);
        left = made(r, binary_kind, first, operator, kids);
    }
    return long_chain(r, left);
}

static PyObject *ternary(Reader *r)
{
    PyObject *condition = operators(r, unary(r), 0);
    if (!take(r, QUESTION))
        return condition;
    PyObject *yes = code(r) != COLON ? comma(r) : nothing();
    take(r, COLON);
    PyObject *no = expression(r);
    Py_ssize_t first = first_of(condition);
    PyObject *kids = kids_3(r, condition, yes, no);
    return made(r, ternary_kind, first, no_text, kids);
}

/* Whether the parenthesis that opens here holds a type and an operand follows. */
static int is_cast(Reader *r)
{
    Py_ssize_t first = r->position + 1, close = matching(r, r->position);
    if (close < 0 || close == first)
        return 0;
    int known = 0, scopes = 0;
    for (Py_ssize_t at = first; at < close; at++) {
        if (r->kinds[at] != IDENTIFIER && !in_set(r, at, IN_TYPES))
            return 0;
        known |= in_set(r, at, TYPE | QUALIFIER);
        scopes |= code_at(r, at) == SCOPE || code_at(r, at) == LESS;
    }
    int after = code_at(r, close + 1), last = code_at(r, close - 1);
    if (known || last == STAR || last == AMPERSAND) {
        int ends = in_set(r, close + 1, ENDS);
        return (!ends && after != QUESTION && after != EQUALS && after != SAME && after != CLOSE_SQUARE) || after == OPEN;
    }
    if (close - first > 1 && !scopes)
        return 0;
    if (after == OPEN_BRACE)
        return 1;
    int kind = kind_at(r, close + 1);
    return (kind == IDENTIFIER || kind == NUMBER || kind == STRING || kind == CHARACTER) && !word_at(r, close + 1).strength;
}

/* A node with one text of its own making, which is given back. */
static PyObject *with_text(Reader *r, PyObject *kind, Py_ssize_t first, PyObject *text, PyObject *kids)
{
    if (text == NULL) {
        Py_XDECREF(kids);
        return fail(r);
    }
    PyObject *node = made(r, kind, first, text, kids);
    Py_DECREF(text);
    return node;
}

static PyObject *cast(Reader *r, Py_ssize_t first)
{
    Py_ssize_t close = matching(r, r->position);
    PyObject *text = joined(r, r->position + 1, close);
    r->position = close + 1;
    PyObject *kids = kids_1(r, code(r) == OPEN_BRACE ? braced(r) : unary(r));
    return with_text(r, cast_kind, first, text, kids);
}

static PyObject *named_cast(Reader *r, Py_ssize_t first)
{
    Py_ssize_t start = r->position + 2, after = past_template(r, r->position + 1);
    if (after < 0) {
        r->position++;
        return leaf(r, opaque_kind, first, first, no_text);
    }
    PyObject *text = joined(r, start, after - 1);
    r->position = after;
    take(r, OPEN);
    PyObject *operand = comma(r);
    to_bracket(r, CLOSE);
    PyObject *kids = kids_1(r, operand);
    return with_text(r, cast_kind, first, text, kids);
}

/* Whether nothing between two positions makes what could be template arguments a comparison. */
static int are_plain_arguments(const Reader *r, Py_ssize_t first, Py_ssize_t last)
{
    for (Py_ssize_t at = first; at < last; at++) {
        int word = code_at(r, at);
        if (word == AND || word == OR || word == PLUS || word == MINUS || word == SAME || word == OPEN || word == OPEN_SQUARE)
            return 0;
    }
    return 1;
}

static Py_ssize_t template_arguments_end(Reader *r)
{
    Py_ssize_t after = past_template(r, r->position);
    if (after < 0)
        return -1;
    switch (code_at(r, after)) {
    case OPEN: case SCOPE: case OPEN_BRACE: case LAUNCH: case OR: case AND: case OR_WORD: case AND_WORD: case QUESTION:
    case SAME: case DIFFERENT:
        return after;
    case CLOSE: case COMMA: case SEMICOLON: case LESS:
        return are_plain_arguments(r, r->position + 1, after - 1) ? after : -1;
    default:
        return -1;
    }
}

static PyObject *template_argument(Reader *r, Py_ssize_t limit)
{
    Py_ssize_t first = here(r), start = r->position, end = start;
    int is_type = 0;
    for (int depth = 0; end < limit; end++) {
        int word = code_at(r, end);
        if (opens(word) || word == LESS)
            depth++;
        else if (closes(word) || word == GREATER)
            depth--;
        else if (word == COMMA && depth == 0)
            break;
        is_type |= in_set(r, end, TYPE | QUALIFIER);
    }
    r->position = end;
    if (is_type || end == start || r->source->failed)
        return leaf(r, type_kind, first, r->places[end - 1], no_text);
    Reader inner = {r->source, r->places + start, r->words + start, r->kinds + start, end - start, 0, NULL, r->depth};
    PyObject *node = ternary(&inner);
    PyMem_Free(inner.closings);
    return node;
}

static PyObject *template_arguments(Reader *r, Py_ssize_t after)
{
    Kids kids = {0};
    r->position++;
    while (r->position < after - 1) {
        Py_ssize_t start = r->position;
        put(&kids, template_argument(r, after - 1));
        take(r, COMMA);
        if (r->position == start)
            r->position++;
    }
    r->position = after;
    return tuple_of(r, &kids);
}

static PyObject *name(Reader *r, Py_ssize_t first)
{
    PyObject *text = NULL, *kids = Py_NewRef(no_kids), *extra = Py_NewRef(no_text);
    take(r, SCOPE);
    while (kind_at(r, r->position) == IDENTIFIER && !r->source->failed) {
        PyObject *part = text_at(r, r->position);
        PyObject *parts = text ? PyTuple_Pack(2, text, part) : NULL;
        PyObject *longer = text ? (parts ? PyUnicode_Join(scope, parts) : NULL) : Py_NewRef(part);
        Py_XDECREF(parts);
        Py_XSETREF(text, longer);
        if (text == NULL)
            fail(r);
        r->position++;
        if (code(r) == LESS) {
            Py_ssize_t after = template_arguments_end(r);
            if (after >= 0) {
                Py_XSETREF(extra, joined(r, r->position + 1, after - 1));
                Py_XSETREF(kids, template_arguments(r, after));
            }
        }
        if (code(r) != SCOPE || kind_at(r, r->position + 1) != IDENTIFIER)
            break;
        r->position++;
        take(r, TEMPLATE);
    }
    PyObject *node = NULL;
    if (extra == NULL || r->source->failed)
        Py_CLEAR(kids);
    node = full_node(r, name_kind, first, before(r), text ? text : no_text, kids, extra ? extra : no_text, 0);
    Py_XDECREF(text);
    Py_XDECREF(extra);
    return node;
}

/* The variables that a lambda makes of its own: `[a = f(b), &c]`. */
static void captured(Reader *r, Kids *found)
{
    Py_ssize_t close = matching(r, r->position);
    r->position++;
    while (r->position < close && !r->source->failed) {
        Py_ssize_t at = r->position, place = r->places[at];
        int is_made = kind_at(r, at) == IDENTIFIER && code_at(r, at + 1) == EQUALS;
        r->position++;
        if (is_made) {
            r->position++;
            PyObject *kids = kids_1(r, initialiser(r));
            put(found, made(r, variable_kind, place, text_at(r, at), kids));
        }
    }
    if (close >= 0)
        r->position = close + 1;
}

static PyObject *lambda(Reader *r, Py_ssize_t first)
{
    Kids made_here = {0}, kids = {0};
    captured(r, &made_here);
    while (!is_done(r) && code(r) != OPEN_BRACE && code(r) != SEMICOLON && code(r) != COMMA && !closes(code(r))) {
        Py_ssize_t past = code(r) == LESS ? past_template(r, r->position) : -1;
        if (past >= 0)
            r->position = past;
        else if (opens(code(r)))
            skip_brackets(r);
        else
            r->position++;
    }
    PyObject *variables = tuple_of(r, &made_here);
    if (code(r) == OPEN_BRACE) {
        put(&kids, block(r));
        for (Py_ssize_t item = 0; variables != NULL && item < PyTuple_GET_SIZE(variables); item++)
            put(&kids, Py_NewRef(PyTuple_GET_ITEM(variables, item)));
    }
    Py_XDECREF(variables);
    PyObject *all = tuple_of(r, &kids);
    return made(r, lambda_kind, first, no_text, all);
}

/* Whether the token here begins right behind the one before. */
static int is_glued(const Reader *r)
{
    PyObject *starts = r->source->starts;
    Py_ssize_t last = before(r), next = here(r);
    Py_ssize_t length = PyUnicode_GET_LENGTH(PyList_GET_ITEM(r->source->texts, last));
    return PyLong_AsSsize_t(PyList_GET_ITEM(starts, next)) == PyLong_AsSsize_t(PyList_GET_ITEM(starts, last)) + length;
}

static PyObject *primary(Reader *r)
{
    Py_ssize_t first = here(r), at = r->position;
    int kind = kind_at(r, at), word = code(r);
    PyObject *text = text_at(r, at);
    if (word == OPEN) {
        r->position++;
        PyObject *kids = kids_1(r, code(r) == OPEN_BRACE ? block(r) : code(r) != CLOSE ? comma(r) : nothing());
        to_bracket(r, CLOSE);
        return made(r, cast_kind, first, no_text, kids);
    }
    if (word == OPEN_BRACE)
        return braced(r);
    if (word == OPEN_SQUARE)
        return lambda(r, first);
    if (kind == NUMBER || kind == CHARACTER) {
        r->position++;
        while (kind_at(r, r->position) == IDENTIFIER && is_glued(r))
            r->position++;
        return leaf(r, number_kind, first, before(r), text);
    }
    if (kind == STRING) {
        while (kind_at(r, r->position) == STRING)
            r->position++;
        return leaf(r, string_kind, first, before(r), text);
    }
    if (in_set(r, at, NAMED_CAST) && code_at(r, at + 1) == LESS)
        return named_cast(r, first);
    if (kind == IDENTIFIER || word == SCOPE)
        return name(r, first);
    if (is_done(r) || in_set(r, at, ENDS))
        return leaf(r, opaque_kind, first, first - 1, no_text);
    r->position++;
    return leaf(r, opaque_kind, first, first, text);
}

static PyObject *member(Reader *r, PyObject *node)
{
    Py_ssize_t first = first_of(node);
    r->position++;
    take(r, TEMPLATE);
    take(r, TILDE);
    PyObject *text = text_at(r, r->position);
    if (kind_at(r, r->position) != IDENTIFIER)
        return made(r, opaque_kind, first, no_text, kids_1(r, node));
    r->position++;
    if (code(r) == LESS) {
        Py_ssize_t after = template_arguments_end(r);
        r->position = after < 0 ? r->position : after;
    }
    return made(r, member_kind, first, text, kids_1(r, node));
}

/* `kernel<<<grid, block>>>(...)`: a call whose callee is a launch node. */
static PyObject *launch(Reader *r, PyObject *node)
{
    Py_ssize_t first = first_of(node);
    Kids kids = {0};
    put(&kids, node);
    r->position++;
    while (!is_done(r) && code(r) != END_LAUNCH) {
        Py_ssize_t start = r->position;
        put(&kids, expression(r));
        take(r, COMMA);
        if (r->position == start)
            r->position++;
    }
    take(r, END_LAUNCH);
    PyObject *all = tuple_of(r, &kids);
    return made(r, launch_kind, first, no_text, all);
}

/* A call of what stands before, with arguments, which are taken over. */
static PyObject *call(Reader *r, PyObject *callee, PyObject *arguments)
{
    Py_ssize_t first = first_of(callee);
    Kids kids = {0};
    put(&kids, callee);
    for (Py_ssize_t item = 0; arguments != NULL && item < PyTuple_GET_SIZE(arguments); item++)
        put(&kids, Py_NewRef(PyTuple_GET_ITEM(arguments, item)));
    Py_XDECREF(arguments);
    PyObject *all = tuple_of(r, &kids);
    return made(r, call_kind, first, no_text, all);
}

/* Whether the brace that opens here, after a name, is the end of an expression: `Sum{}`, no body. */
static int is_constructed(Reader *r)
{
    Py_ssize_t close = matching(r, r->position);
    int after = close < 0 ? NONE : code_at(r, close + 1);
    if (after == OPEN)
        return !holds_statements(r);
    return after == CLOSE || after == COMMA || after == SEMICOLON || after == DOT;
}

static PyObject *postfix(Reader *r, PyObject *node)
{
    for (int chain = 0; chain < longest_chain; chain++) {
        int word = code(r);
        if (node == NULL || r->source->failed || !in_set(r, r->position, CONTINUING))
            return node;
        if (word == OPEN) {
            r->position++;
            node = call(r, node, list(r, CLOSE));
        } else if (word == OPEN_SQUARE) {
            r->position++;
            PyObject *place = code(r) != CLOSE_SQUARE ? comma(r) : nothing();
            to_bracket(r, CLOSE_SQUARE);
            Py_ssize_t first = first_of(node);
            PyObject *kids = kids_2(r, node, place);
            node = made(r, index_kind, first, no_text, kids);
        } else if (word == DOT || word == ARROW) {
            node = member(r, node);
        } else if (word == INCREMENT || word == DECREMENT) {
            PyObject *text = text_at(r, r->position);
            r->position++;
            Py_ssize_t first = first_of(node);
            node = made(r, postfix_kind, first, text, kids_1(r, node));
        } else if (word == OPEN_BRACE && is_kind(node, name_kind)
                   && (word_of(slot_of(node, TEXT)).set & TYPE || is_constructed(r))) {
            PyObject *inner = braced(r);
            PyObject *kids = inner ? Py_NewRef(slot_of(inner, NODE_KIDS)) : NULL;
            Py_XDECREF(inner);
            node = call(r, node, kids);
        } else if (word == LAUNCH) {
            node = launch(r, node);
        } else {
            return node;
        }
    }
    return long_chain(r, node);
}

static PyObject *size(Reader *r, Py_ssize_t first)
{
    r->position++;
    if (code(r) == OPEN)
        skip_brackets(r);
    else
        Py_XDECREF(unary(r));
    return postfix(r, leaf(r, size_kind, first, before(r), no_text));
}

static PyObject *operand(Reader *r)
{
    Py_ssize_t first = here(r), at = r->position;
    int word = code(r);
    PyObject *text = symbol_at(r, at);
    if (in_set(r, at, PREFIX)) {
        r->position++;
        PyObject *kids = kids_1(r, unary(r));
        return made(r, unary_kind, first, text, kids);
    }
    if (in_set(r, at, SIZE))
        return size(r, first);
    if (word == NEW || word == DELETE || word == THROW) {
        r->position++;
        Py_ssize_t last = before(r); /* of the keyword, not of what follows it */
        PyObject *kids = kids_1(r, unary(r));
        return full_node(r, opaque_kind, first, last, text, kids, no_text, 0);
    }
    if (word == OPEN && is_cast(r))
        return cast(r, first);
    return postfix(r, primary(r));
}

static PyObject *unary(Reader *r)
{
    PyObject *plain = plain_operand(r);
    if (plain != NULL || r->source->failed)
        return plain;
    if (r->depth >= deepest)
        return too_deep(r);
    r->depth++;
    PyObject *node = operand(r);
    r->depth--;
    return node;
}

/* Declarations */

/* Whether the statement that starts here declares variables. */
static int declares(Reader *r)
{
    Py_ssize_t start = r->position;
    for (Py_ssize_t after; !is_done(r) && (after = past_attribute(r, start)) != start;)
        start = after;
    if (kind_at(r, start) != IDENTIFIER)
        return 0;
    if (in_set(r, start, QUALIFIER))
        return 1;
    Py_ssize_t at = past_type(r, start);
    if (at < 0)
        return 0;
    for (;; at++) {
        int word = code_at(r, at);
        if (word != STAR && word != AMPERSAND && word != AND && word != CONST && word != VOLATILE && word != RESTRICT_2)
            break;
    }
    if (kind_at(r, at) != IDENTIFIER || word_at(r, at).strength || in_set(r, at, ASSIGN))
        return in_set(r, start, TYPE) && code_at(r, at) == OPEN_SQUARE;
    int after = code_at(r, at + 1), last = code_at(r, at - 1);
    if (in_set(r, start, TYPE))
        return after != SCOPE;
    if (after == OPEN)
        return !((last == STAR || last == AMPERSAND) && at - start == 2);
    return after == EQUALS || after == SEMICOLON || after == COMMA || opens(after);
}

/* `T x(a, b)` and `T x{a, b}`: the single value, or a list of several. */
static PyObject *constructed(Reader *r)
{
    Py_ssize_t first = here(r);
    int close = code(r) == OPEN ? CLOSE : CLOSE_BRACE;
    r->position++;
    PyObject *kids = list(r, close);
    if (kids == NULL || PyTuple_GET_SIZE(kids) != 1)
        return made(r, list_kind, first, no_text, kids);
    PyObject *only = Py_NewRef(PyTuple_GET_ITEM(kids, 0));
    Py_DECREF(kids);
    return only;
}

/* One declared variable; NULL without an error: there is none. */
static PyObject *declarator(Reader *r, PyObject *written_type)
{
    PyObject *type = Py_NewRef(written_type);
    for (;; r->position++) {
        int word = code(r);
        if (word == STAR || word == AMPERSAND || word == AND) {
            PyObject *longer = type ? PyUnicode_Concat(type, text_at(r, r->position)) : NULL;
            Py_XSETREF(type, longer);
        } else if (word != CONST && word != VOLATILE && word != RESTRICT_2 && word != RESTRICT_1 && word != RESTRICT
                   && word != OPEN) {
            break;
        }
    }
    if (type == NULL)
        fail(r);
    if (kind_at(r, r->position) != IDENTIFIER || r->source->failed) {
        Py_XDECREF(type);
        return NULL;
    }
    PyObject *text = text_at(r, r->position);
    Py_ssize_t first = here(r), dimensions = 0;
    r->position++;
    while (code(r) == CLOSE)
        r->position++;
    for (Py_ssize_t at = -1; at != r->position && !is_done(r);) { /* `int a [[maybe_unused]]` */
        at = r->position;
        if (code(r) == OPEN_SQUARE && code_at(r, at + 1) == OPEN_SQUARE)
            skip_brackets(r);
        else
            r->position = past_attribute(r, at);
    }
    Kids kids = {0};
    for (; code(r) == OPEN_SQUARE; dimensions++) {
        r->position++;
        put(&kids, code(r) == CLOSE_SQUARE ? nothing() : expression(r));
        to_bracket(r, CLOSE_SQUARE);
    }
    if (take(r, EQUALS))
        put(&kids, initialiser(r));
    else if (code(r) == OPEN || code(r) == OPEN_BRACE)
        put(&kids, constructed(r));
    else if (take(r, COLON))
        Py_XDECREF(expression(r));
    PyObject *all = tuple_of(r, &kids);
    PyObject *node = full_node(r, variable_kind, first, before(r), text, all, type, dimensions);
    Py_DECREF(type);
    return node;
}

static PyObject *skip_statement(Reader *r, Py_ssize_t first)
{
    while (!is_done(r) && code(r) != SEMICOLON && code(r) != CLOSE_BRACE) {
        if (opens(code(r)))
            skip_brackets(r);
        else
            r->position++;
    }
    take(r, SEMICOLON);
    return leaf(r, opaque_kind, first, before(r), no_text);
}

/* The names of `auto &[a, b] = value`: the first one has the value, the others have that of the first. */
static void bound(Reader *r, PyObject *written_type, Kids *found)
{
    Py_ssize_t at = r->position, one = -1;
    while (code_at(r, at) == AMPERSAND || code_at(r, at) == AND)
        at++;
    if (code(r) == NONE || code_at(r, at) != OPEN_SQUARE)
        return;
    Py_ssize_t names = at;
    r->position = at;
    while (!is_done(r) && code(r) != CLOSE_SQUARE && code(r) != SEMICOLON)
        r->position++;
    Py_ssize_t end = r->position;
    take(r, CLOSE_SQUARE);
    for (at = names; at < end && !r->source->failed; at++) {
        if (kind_at(r, at) != IDENTIFIER)
            continue;
        Py_ssize_t first = r->places[at], last = first;
        PyObject *kids = NULL;
        if (one < 0) {
            one = at;
            if (take(r, EQUALS))
                kids = kids_1(r, initialiser(r));
            else if (code(r) == OPEN || code(r) == OPEN_BRACE)
                kids = kids_1(r, constructed(r));
            else
                kids = Py_NewRef(no_kids);
            last = before(r);
        } else {
            kids = kids_1(r, leaf(r, name_kind, r->places[one], r->places[one], text_at(r, one)));
        }
        put(found, full_node(r, variable_kind, first, last, text_at(r, at), kids, written_type, 0));
    }
}

/* An expression and what follows it up to the semicolon, be it a branch of `#if` or what nobody understands. */
static PyObject *with_rest(Reader *r, PyObject *node)
{
    if (is_done(r) || code(r) == SEMICOLON || code(r) == CLOSE || code(r) == CLOSE_BRACE)
        return node;
    Py_ssize_t first = first_of(node);
    Kids kids = {0};
    put(&kids, node);
    while (!is_done(r) && code(r) != SEMICOLON && code(r) != CLOSE && code(r) != CLOSE_BRACE) {
        Py_ssize_t start = r->position;
        put(&kids, expression(r));
        if (r->position == start)
            r->position++;
    }
    PyObject *all = tuple_of(r, &kids);
    return made(r, opaque_kind, first, no_text, all);
}

/* A variable whose initial value goes on where it should end; what it was is given back. */
static PyObject *going_on(Reader *r, PyObject *variable)
{
    PyObject *old = slot_of(variable, NODE_KIDS);
    Py_ssize_t count = PyLong_AsSsize_t(slot_of(variable, COUNT));
    if (is_done(r) || code(r) == CLOSE_BRACE || PyTuple_GET_SIZE(old) <= count)
        return variable;
    Kids kids = {0};
    for (Py_ssize_t item = 0; item < count; item++)
        put(&kids, Py_NewRef(PyTuple_GET_ITEM(old, item)));
    put(&kids, with_rest(r, Py_NewRef(PyTuple_GET_ITEM(old, count))));
    PyObject *all = tuple_of(r, &kids);
    PyObject *node = full_node(r, variable_kind, first_of(variable), before(r), slot_of(variable, TEXT), all,
                               slot_of(variable, EXTRA), count);
    Py_DECREF(variable);
    return node;
}

static PyObject *declaration(Reader *r, Py_ssize_t first)
{
    Py_ssize_t start = r->position, at = start;
    for (Py_ssize_t after; (after = past_attribute(r, at)) != at || in_set(r, at, QUALIFIER);) {
        at = after > at ? after : at + 1;
        if (code_at(r, at - 1) == EXTERN && kind_at(r, at) == STRING)
            at++;
    }
    Py_ssize_t past = at < r->count ? past_type(r, at) : -1;
    if (past < 0)
        return skip_statement(r, first);
    r->position = past_attributes(r, past);
    PyObject *written_type = written(r, start, r->position);
    if (written_type == NULL)
        return NULL;
    Kids kids = {0};
    bound(r, written_type, &kids);
    int is_bound = kids.count > 0;
    while (!is_bound && !is_done(r)) {
        PyObject *variable = declarator(r, written_type);
        if (variable == NULL)
            break;
        put(&kids, variable);
        if (!take(r, COMMA))
            break;
    }
    if (code(r) != CLOSE && !take(r, SEMICOLON)) {
        if (kids.count && !is_bound && !r->source->failed)
            kids.items[kids.count - 1] = going_on(r, kids.items[kids.count - 1]);
        if (kids.count && kids.items[kids.count - 1] == NULL)
            kids.count--;
        to_semicolon(r);
    }
    PyObject *all = tuple_of(r, &kids);
    return with_text(r, declaration_kind, first, written_type, all);
}

/* Statements */

/* Whether what looks like a declaration is one, no `a && b[c]`: it begins with a type or has a value. */
static int is_initialised(const Reader *r)
{
    if (in_set(r, r->position, TYPE | QUALIFIER))
        return 1;
    for (Py_ssize_t at = r->position; at < r->count; at++) {
        int word = code_at(r, at);
        if (word == EQUALS || word == OPEN_BRACE)
            return 1;
        if (word == SEMICOLON || word == CLOSE || word == OPEN || word == OPEN_SQUARE)
            return 0;
    }
    return 0;
}

/* One part of a condition, with its semicolon. */
static PyObject *clause(Reader *r)
{
    if (in_set(r, r->position, SKIPPED))
        return skip_statement(r, here(r));
    if (declares(r) && is_initialised(r))
        return declaration(r, here(r));
    PyObject *node = code(r) != SEMICOLON ? with_rest(r, comma(r)) : nothing();
    take(r, SEMICOLON);
    return node;
}

/* A condition, an expression or a declaration; what is done first in its parentheses is put to the others. */
static PyObject *condition(Reader *r, Kids *begun)
{
    Py_ssize_t first = here(r), at = r->position;
    if (kind_at(r, at) == IDENTIFIER && code_at(r, at + 1) == OPEN) { /* `if LIKELY(a)`: the macro has the parentheses */
        r->position += 2;
        PyObject *callee = leaf(r, name_kind, first, first, text_at(r, at));
        return call(r, callee, list(r, CLOSE));
    }
    if (!take(r, OPEN))
        return nothing();
    PyObject *last = nothing();
    for (int number = 0; !is_done(r) && code(r) != CLOSE; number++) {
        if (number)
            put(begun, last);
        else
            Py_XDECREF(last);
        Py_ssize_t start = r->position;
        last = clause(r);
        if (r->position == start || code_at(r, r->position - 1) != SEMICOLON)
            break;
    }
    to_bracket(r, CLOSE);
    return last;
}

/* A statement behind what is done before it: `if (int a = f(); a > 3)`. */
static PyObject *behind(Reader *r, Py_ssize_t first, Kids *begun, PyObject *node)
{
    if (begun->count == 0) {
        return node;
    }
    put(begun, node);
    PyObject *all = tuple_of(r, begun);
    return made(r, block_kind, first, no_text, all);
}

static PyObject *statement_list(Reader *r)
{
    Kids kids = {0};
    while (!is_done(r) && code(r) != CLOSE_BRACE) {
        Py_ssize_t start = r->position;
        put(&kids, statement(r));
        if (r->position == start)
            r->position++;
    }
    return tuple_of(r, &kids);
}

static PyObject *block(Reader *r)
{
    Py_ssize_t first = here(r);
    take(r, OPEN_BRACE);
    PyObject *kids = statement_list(r);
    take(r, CLOSE_BRACE);
    return made(r, block_kind, first, no_text, kids);
}

/* The `:` of a `for` over a range; -1: it is none. */
static Py_ssize_t range_colon(const Reader *r)
{
    enum { FURTHEST = 40 };
    Py_ssize_t last = r->position + FURTHEST < r->count ? r->position + FURTHEST : r->count;
    int depth = 0;
    for (Py_ssize_t at = r->position; at < last; at++) {
        int word = code_at(r, at);
        if (opens(word))
            depth++;
        else if (closes(word) && depth-- == 0)
            return -1;
        else if (word == SEMICOLON || (word == QUESTION && depth == 0))
            return -1;
        else if (word == COLON && depth == 0)
            return at;
    }
    return -1;
}

/* The statement of a condition or loop, with the labels before it. */
static PyObject *governed(Reader *r)
{
    Py_ssize_t first = here(r);
    PyObject *node = statement(r);
    if (!is_kind(node, label_kind) || is_done(r))
        return node;
    Kids kids = {0};
    put(&kids, node);
    while (is_kind(node, label_kind) && !is_done(r) && code(r) != CLOSE_BRACE)
        put(&kids, node = statement(r));
    PyObject *all = tuple_of(r, &kids);
    return made(r, block_kind, first, no_text, all);
}

static PyObject *range_statement(Reader *r, Py_ssize_t first, Py_ssize_t colon)
{
    Py_ssize_t place = r->places[colon - 1];
    PyObject *variable = leaf(r, variable_kind, place, place, text_at(r, colon - 1));
    r->position = colon + 1;
    PyObject *over = comma(r);
    take(r, CLOSE);
    PyObject *kids = kids_3(r, variable, over, governed(r));
    return made(r, range_kind, first, no_text, kids);
}

static PyObject *for_statement(Reader *r, Py_ssize_t first)
{
    if (!take(r, OPEN))
        return leaf(r, opaque_kind, first, before(r), no_text);
    Py_ssize_t colon = range_colon(r);
    if (colon > 0)
        return range_statement(r, first, colon);
    Kids kids = {0};
    PyObject *start = !take(r, SEMICOLON) ? statement(r) : nothing();
    if ((colon = range_colon(r)) > 0) {
        put(&kids, start);
        return behind(r, first, &kids, range_statement(r, first, colon));
    }
    put(&kids, start);
    if (declares(r) && is_initialised(r)) {
        put(&kids, declaration(r, here(r)));
    } else {
        put(&kids, code(r) == SEMICOLON ? nothing() : comma(r));
        take(r, SEMICOLON);
    }
    put(&kids, code(r) == CLOSE ? nothing() : comma(r));
    to_bracket(r, CLOSE);
    put(&kids, governed(r));
    PyObject *all = tuple_of(r, &kids);
    return made(r, for_loop_kind, first, no_text, all);
}

static PyObject *if_statement(Reader *r, Py_ssize_t first)
{
    take(r, CONSTEXPR);
    Kids kids = {0}, begun = {0};
    int negated = code(r) == NOT_MARK || code(r) == NOT;
    if (code_at(r, r->position + negated) == CONSTEVAL) { /* both sides are code, whatever they are for */
        r->position += 1 + negated;
        put(&kids, leaf(r, name_kind, before(r), before(r), consteval_text));
    } else {
        put(&kids, condition(r, &begun));
    }
    put(&kids, governed(r));
    if (take(r, ELSE))
        put(&kids, governed(r));
    PyObject *all = tuple_of(r, &kids);
    return behind(r, first, &begun, made(r, if_else_kind, first, no_text, all));
}

static PyObject *do_statement(Reader *r, Py_ssize_t first)
{
    Kids begun = {0};
    PyObject *body = governed(r), *until = take(r, WHILE) ? condition(r, &begun) : nothing();
    Py_XDECREF(tuple_of(r, &begun));
    take(r, SEMICOLON);
    PyObject *kids = kids_2(r, body, until);
    return made(r, do_loop_kind, first, no_text, kids);
}

/* The expressions in the parentheses after each constraint. */
static PyObject *asm_statement(Reader *r, Py_ssize_t first)
{
    while (kind_at(r, r->position) == IDENTIFIER)
        r->position++;
    Py_ssize_t opened = r->position;
    skip_brackets(r);
    Py_ssize_t end = r->position;
    Kids kids = {0};
    for (r->position = opened + 1; r->position < end - 1 && !r->source->failed;) {
        int is_operand = code(r) == OPEN && kind_at(r, r->position - 1) == STRING;
        r->position++;
        if (is_operand) {
            put(&kids, comma(r));
            to_bracket(r, CLOSE);
        }
    }
    r->position = end;
    PyObject *all = tuple_of(r, &kids);
    take(r, SEMICOLON);
    return made(r, asm_statement_kind, first, no_text, all);
}

static PyObject *ended(Reader *r, PyObject *kind, Py_ssize_t first, PyObject *text, PyObject *kids)
{
    to_semicolon(r);
    return made(r, kind, first, text, kids);
}

static PyObject *control(Reader *r, Py_ssize_t first)
{
    int word = code(r);
    PyObject *text = text_at(r, r->position), *kids;
    Kids begun = {0};
    r->position++;
    switch (word) {
    case IF:
        return if_statement(r, first);
    case FOR:
        return for_statement(r, first);
    case WHILE: case SWITCH: {
        PyObject *chosen = condition(r, &begun);
        kids = kids_2(r, chosen, governed(r));
        return behind(r, first, &begun, made(r, word == WHILE ? while_loop_kind : choice_kind, first, no_text, kids));
    }
    case DO:
        return do_statement(r, first);
    case RETURN:
        kids = code(r) == SEMICOLON ? Py_NewRef(no_kids) : kids_1(r, comma(r));
        return ended(r, returned_kind, first, no_text, kids);
    case BREAK: case CONTINUE: case GOTO:
        r->position += word == GOTO;
        return ended(r, jump_kind, first, text, Py_NewRef(no_kids));
    case CASE:
        kids = kids_1(r, expression(r));
        while (!is_done(r) && !take(r, COLON))
            r->position++;
        return made(r, label_kind, first, text, kids);
    case DEFAULT:
        take(r, COLON);
        return leaf(r, label_kind, first, before(r), text);
    case ASM: case ASM_2: case ASM_1:
        return asm_statement(r, first);
    case TRY:
        return block(r);
    case CATCH:
        Py_XDECREF(condition(r, &begun));
        Py_XDECREF(tuple_of(r, &begun));
        return block(r);
    default:
        return !is_done(r) ? statement(r) : leaf(r, empty_statement_kind, first, first, no_text);
    }
}

static int is_tag(int word)
{
    return word == STRUCT || word == CLASS || word == UNION || word == ENUM;
}

/* `__shared__ union { ... } both;` */
static int is_variable_of_own_type(const Reader *r)
{
    Py_ssize_t at = r->position;
    while (in_set(r, at, QUALIFIER))
        at++;
    return is_tag(code_at(r, at - 1)) && (code_at(r, at) == OPEN_BRACE || code_at(r, at + 1) == OPEN_BRACE);
}

static int is_type_definition(const Reader *r)
{
    int word = code(r);
    if (!is_tag(word))
        return in_set(r, r->position, QUALIFIER) && is_variable_of_own_type(r);
    for (Py_ssize_t at = r->position + 1; at < r->count; at++) {
        word = code_at(r, at);
        if (word == OPEN_BRACE || word == SEMICOLON || word == EQUALS || word == OPEN)
            return word == OPEN_BRACE;
    }
    return 0;
}

static PyObject *expression_statement(Reader *r, Py_ssize_t first)
{
    PyObject *value = comma(r);
    if (!take(r, SEMICOLON)) {
        if (is_kind(value, call_kind) && code(r) == OPEN_BRACE) {
            PyObject *kids = kids_2(r, value, block(r));
            return made(r, macroloop_kind, first, no_text, kids);
        }
        int alone = (is_kind(value, call_kind) || is_kind(value, name_kind)) && !in_set(r, r->position, ENDS);
        if (!is_done(r) && !alone && code(r) != CLOSE_BRACE) {
            value = with_rest(r, value);
            to_semicolon(r);
        }
    }
    PyObject *kids = kids_1(r, value);
    return made(r, statement_kind, first, no_text, kids);
}

static int is_assembly(int word) { return word == ASM || word == ASM_1 || word == ASM_2; }

/* Behind what stands before a statement and says nothing, `[[likely]]`, `_Pragma("unroll")`; -1: it is none. */
static Py_ssize_t past_prefix(Reader *r)
{
    int word = code(r), is_pragma = word == PRAGMA_1 || word == PRAGMA_2;
    if (word == OPEN_SQUARE && code_at(r, r->position + 1) == OPEN_SQUARE) {
        Py_ssize_t end = matching(r, r->position);
        return end < 0 ? -1 : end + 1;
    }
    if (code_at(r, r->position + 1) != OPEN || kind_at(r, r->position) != IDENTIFIER)
        return -1;
    Py_ssize_t end = matching(r, r->position + 1);
    int after = end < 0 ? NONE : code_at(r, end + 1);
    if (end < 0 || (!is_pragma && after != FOR && after != WHILE && after != DO))
        return -1;
    PyObject *text = text_at(r, r->position);
    if (is_pragma || word == ATTRIBUTE || PyUnicode_Contains(text, of_loops[0]) > 0 || PyUnicode_Contains(text, of_loops[1]) > 0)
        return end + 1;
    return -1;
}

static PyObject *shallow_statement(Reader *r)
{
    for (Py_ssize_t past; (past = past_prefix(r)) >= 0;)
        r->position = past;
    Py_ssize_t first = here(r), at = r->position;
    int word = code(r);
    if (word == OPEN_BRACE)
        return block(r);
    if (word == SEMICOLON) {
        r->position++;
        return leaf(r, empty_statement_kind, first, first, no_text);
    }
    if (in_set(r, at, CONTROL))
        return control(r, first);
    if (kind_at(r, at) == IDENTIFIER && in_set(r, at + 1, CONTROL) && !is_assembly(code_at(r, at + 1))) {
        int after = code_at(r, ++r->position);
        /* what a macro stands before is its statement, unless it goes on with one before */
        if (after != ELSE && after != CASE && after != DEFAULT && after != CATCH)
            return control(r, first);
        PyObject *kids = kids_1(r, leaf(r, name_kind, first, first, text_at(r, at)));
        return made(r, statement_kind, first, no_text, kids);
    }
    if (in_set(r, at, SKIPPED) || is_type_definition(r))
        return skip_statement(r, first);
    if (kind_at(r, at) == IDENTIFIER && code_at(r, at + 1) == COLON && code_at(r, at + 2) != COLON) {
        r->position += 2;
        return leaf(r, label_kind, first, before(r), text_at(r, at));
    }
    if (declares(r))
        return declaration(r, first);
    return expression_statement(r, first);
}

static PyObject *statement(Reader *r)
{
    if (r->depth >= deepest) {
        Py_ssize_t first = here(r);
        skip_too_deep(r);
        take(r, SEMICOLON);
        return leaf(r, opaque_kind, first, before(r), no_text);
    }
    r->depth++;
    PyObject *node = shallow_statement(r);
    r->depth--;
    return node;
}

/* The tokens of all stretches, and what they are. */
static int collect(PyObject *stretches, PyObject *texts, PyObject *kinds, Py_ssize_t **places, Word **found, char **letters,
                   Py_ssize_t *count)
{
    Py_ssize_t most = PyList_GET_SIZE(texts), total = 0;
    most = PyUnicode_GET_LENGTH(kinds) < most ? PyUnicode_GET_LENGTH(kinds) : most;
    for (int filling = 0; filling < 2; filling++) {
        total = 0;
        for (Py_ssize_t item = 0; item < PyList_GET_SIZE(stretches); item++) {
            PyObject *stretch = PyList_GET_ITEM(stretches, item);
            if (!PyTuple_Check(stretch) || PyTuple_GET_SIZE(stretch) != 2) {
                PyErr_SetString(PyExc_TypeError, "pairs of numbers are wanted");
                return 0;
            }
            Py_ssize_t first = PyLong_AsSsize_t(PyTuple_GET_ITEM(stretch, 0));
            Py_ssize_t last = PyLong_AsSsize_t(PyTuple_GET_ITEM(stretch, 1));
            if (PyErr_Occurred())
                return 0;
            if (first < 0 || last > most) {
                PyErr_SetString(PyExc_IndexError, "there are not so many tokens");
                return 0;
            }
            for (Py_ssize_t place = first; place < last; place++, total++) {
                if (!filling)
                    continue;
                (*places)[total] = place;
                (*found)[total] = word_of(PyList_GET_ITEM(texts, place));
                (*letters)[total] = (char)PyUnicode_1BYTE_DATA(kinds)[place];
            }
        }
        if (filling)
            break;
        *places = PyMem_New(Py_ssize_t, total + 1);
        *found = PyMem_New(Word, total + 1);
        *letters = PyMem_New(char, total + 1);
        if (*places == NULL || *found == NULL || *letters == NULL) {
            PyErr_NoMemory();
            return 0;
        }
    }
    *count = total;
    return !PyErr_Occurred();
}

enum { BLOCK, EXPRESSION, STATEMENTS };

/* What stands in some stretches of tokens; statements are said to reach from `first` to `last` at least. */
PyObject *parser_parse(PyObject *self, PyObject *arguments)
{
    (void)self;
    Source source = {0};
    PyObject *kinds, *stretches, *found = NULL;
    int what;
    Py_ssize_t first, last;
    if (!PyArg_ParseTuple(arguments, "iO!UO!O!O!O!nn", &what, &PyList_Type, &source.texts, &kinds, &PyList_Type,
                          &source.starts, &PyDict_Type, &source.partner, &PyDict_Type, &source.memo, &PyList_Type,
                          &stretches, &first, &last))
        return NULL;
    if (node_type == NULL || PyUnicode_KIND(kinds) != PyUnicode_1BYTE_KIND
        || PyList_GET_SIZE(source.starts) < PyList_GET_SIZE(source.texts)) {
        PyErr_SetString(PyExc_ValueError, "tokens are wanted, and the type of nodes");
        return NULL;
    }
    Py_ssize_t *places = NULL, count = 0;
    Word *all = NULL;
    char *letters = NULL;
    if (collect(stretches, source.texts, kinds, &places, &all, &letters, &count)) {
        Reader r = {&source, places, all, letters, count, 0, NULL, 0};
        if (what == BLOCK)
            found = block(&r);
        else if (what == EXPRESSION)
            found = count ? comma(&r) : nothing();
        else {
            PyObject *kids = statement_list(&r);
            Py_ssize_t end = before(&r);
            found = full_node(&r, block_kind, first, end > last ? end : last, no_text, kids, no_text, 0);
        }
        PyMem_Free(r.closings);
        if (source.failed)
            Py_CLEAR(found);
        if (source.failed && !PyErr_Occurred())
            PyErr_NoMemory();
    }
    PyMem_Free(places);
    PyMem_Free(all);
    PyMem_Free(letters);
    return found;
}

/* A stack of nodes without a limit: chains of operators are deep. */
static int stack_kids(Kids *stack, PyObject *node)
{
    PyObject *kids = slot_of(node, NODE_KIDS);
    for (Py_ssize_t item = kids && PyTuple_Check(kids) ? PyTuple_GET_SIZE(kids) : 0; item > 0; item--) {
        PyObject *kid = PyTuple_GET_ITEM(kids, item - 1);
        if (!Py_IS_TYPE(kid, node_type)) {
            PyErr_SetString(PyExc_TypeError, "a node is wanted");
            return 0;
        }
        put(stack, Py_NewRef(kid));
        if (PyErr_Occurred())
            return 0;
    }
    return 1;
}

/* The nodes in the order of the text, as a list. */
PyObject *parser_walk(PyObject *self, PyObject *node)
{
    (void)self;
    if (node_type == NULL) {
        PyErr_SetString(PyExc_ValueError, "the type of nodes is wanted");
        return NULL;
    }
    if (!Py_IS_TYPE(node, node_type)) {
        PyErr_SetString(PyExc_TypeError, "a node is wanted");
        return NULL;
    }
    PyObject *found = PyList_New(0);
    Kids stack = {0};
    put(&stack, Py_NewRef(node));
    while (stack.count) {
        PyObject *next = stack.items[--stack.count];
        if (found != NULL && (PyList_Append(found, next) < 0 || !stack_kids(&stack, next)))
            Py_CLEAR(found);
        Py_DECREF(next);
    }
    if (stack.items != stack.own)
        PyMem_Free(stack.items);
    return found;
}
