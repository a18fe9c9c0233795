/* Words of a file's bytes: the same as `porter.cpp.prescan.words_in_python`, and where a quick look is worth it. */
#include "reader.h"

#include <string.h>

typedef struct {
    const unsigned char *at;
    Py_ssize_t length;
    size_t hash;
} Word;

static unsigned char in_word[256];

static void fill_in_word(void)
{
    for (int c = 0; c < 256; c++)
        in_word[c] = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$'
            || c >= 0x80;
}

static int add_word(PyObject *found, const Word *word)
{
    PyObject *text = PyBytes_FromStringAndSize((const char *)word->at, word->length);
    int failed = text == NULL || PySet_Add(found, text) < 0;
    Py_XDECREF(text);
    return !failed;
}

/* The place of a word in a table, or the free one where it belongs; there always is one. */
static Word *place_of(Word *table, size_t room, const Word *word)
{
    size_t place = word->hash & (room - 1);
    while (table[place].at != NULL
           && (table[place].hash != word->hash || table[place].length != word->length
               || memcmp(table[place].at, word->at, (size_t)word->length) != 0))
        place = (place + 1) & (room - 1);
    return &table[place];
}

static Word *grown(Word *table, size_t room)
{
    Word *larger = PyMem_Calloc(2 * room, sizeof *larger);
    for (size_t place = 0; larger != NULL && place < room; place++)
        if (table[place].at != NULL)
            *place_of(larger, 2 * room, &table[place]) = table[place];
    PyMem_Free(table);
    return larger;
}

PyObject *words_words(PyObject *self, PyObject *data)
{
    (void)self;
    if (!PyBytes_Check(data)) {
        PyErr_SetString(PyExc_TypeError, "words of bytes");
        return NULL;
    }
    fill_in_word();
    const unsigned char *at = (const unsigned char *)PyBytes_AS_STRING(data), *end = at + PyBytes_GET_SIZE(data);
    size_t room = 1024, count = 0;
    Word *table = PyMem_Calloc(room, sizeof *table);
    PyObject *found = table != NULL ? PyFrozenSet_New(NULL) : PyErr_NoMemory();
    while (found != NULL && at < end) {
        if (!in_word[*at]) {
            at++;
            continue;
        }
        Word word = {at, 0, 5381};
        for (; at < end && in_word[*at]; at++)
            word.hash = word.hash * 33 ^ *at;
        word.hash ^= word.hash >> 15;
        word.length = at - word.at;
        Word *place = place_of(table, room, &word);
        if (place->at != NULL)
            continue;
        *place = word;
        if (!add_word(found, &word))
            Py_CLEAR(found);
        else if (2 * ++count > room && (room *= 2, table = grown(table, room / 2)) == NULL) {
            Py_CLEAR(found);
            PyErr_NoMemory();
        }
    }
    PyMem_Free(table);
    return found;
}

static int begins_with_one(const Word *word, PyObject *begins)
{
    for (Py_ssize_t item = 0; item < PyTuple_GET_SIZE(begins); item++) {
        PyObject *begin = PyTuple_GET_ITEM(begins, item);
        if (PyBytes_Check(begin) && PyBytes_GET_SIZE(begin) <= word->length
            && memcmp(PyBytes_AS_STRING(begin), word->at, (size_t)PyBytes_GET_SIZE(begin)) == 0)
            return 1;
    }
    return 0;
}

/* 1: one of the names, or it begins like one; 0: none; -1: an error. */
static int is_wanted(const Word *word, PyObject *known, PyObject *begins)
{
    if (begins_with_one(word, begins))
        return 1;
    PyObject *text = PyBytes_FromStringAndSize((const char *)word->at, word->length);
    int found = text != NULL ? PySet_Contains(known, text) : -1;
    Py_XDECREF(text);
    return found;
}

/* The words before which, or between which and a name, anything may stand. */
static int is_special(const Word *word)
{
    static const char *const known[] = {"template", "typedef", "struct", "class", "union", "enum", "extern", "using"};
    for (size_t item = 0; item < sizeof known / sizeof *known; item++)
        if ((Py_ssize_t)strlen(known[item]) == word->length && memcmp(known[item], word->at, strlen(known[item])) == 0)
            return 1;
    return 0;
}

static const unsigned char *after_blanks(const unsigned char *at, const unsigned char *end)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return at;
}

static int is_one_of(const unsigned char *at, const unsigned char *end, const char *signs)
{
    return at < end && *at != 0 && strchr(signs, *at) != NULL;
}

/* Whether an include or a macro follows a `#`. */
static int is_told_of(const unsigned char *at, const unsigned char *end)
{
    at = after_blanks(at, end);
    return end - at > 2 && ((at[0] == 'i' && (at[1] == 'n' || at[1] == 'm')) || (at[0] == 'd' && at[1] == 'e'));
}

/* Lines, by the newline before each, that include something or define a macro, or in which a wanted name stands where
   one that is declared can: behind a blank, a sign of a pointer or a bracket, and before a bracket, a sign, the end of
   the line or `final`. Where a line begins with none of the special words, no more than types stand before the name. */
PyObject *words_lines(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *data, *known, *begins;
    if (!PyArg_ParseTuple(arguments, "SO!O!", &data, &PyFrozenSet_Type, &known, &PyTuple_Type, &begins))
        return NULL;
    fill_in_word();
    const unsigned char *text = (const unsigned char *)PyBytes_AS_STRING(data), *end = text + PyBytes_GET_SIZE(data);
    const unsigned char *line = memchr(text, '\n', (size_t)(end - text));
    PyObject *found = PyList_New(0);
    while (found != NULL && line != NULL) {
        const unsigned char *at = after_blanks(line + 1, end), *first = at;
        int wanted = is_one_of(at, end, "#") && is_told_of(at + 1, end), special = is_one_of(at, end, "}");
        while (wanted == 0 && at < end && *at != '\n') {
            if (!in_word[*at]) {
                if (!special && !is_one_of(at, end, ":<>, \t*&"))
                    break;
                at++;
                continue;
            }
            Word word = {at, 0, 0};
            while (at < end && in_word[*at])
                at++;
            word.length = at - word.at;
            special |= word.at == first && is_special(&word);
            if (is_one_of(word.at - 1, end, "\n \t*&})") && is_one_of(after_blanks(at, end), end, "=;,([{:\n\rf"))
                wanted = is_wanted(&word, known, begins);
        }
        PyObject *number = wanted > 0 ? PyLong_FromSsize_t(line - text) : NULL;
        if (wanted < 0 || (wanted > 0 && (number == NULL || PyList_Append(found, number) < 0)))
            Py_CLEAR(found);
        Py_XDECREF(number);
        line = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
    }
    return found;
}
