/* porter.cpp.compiled._c: the lexer, the reader of bodies, and the words of a quick look. */
#include "reader.h"

/* A digest of the files that it is made of, which setup.py knows. */
#ifndef SOURCES
#define SOURCES ""
#endif

static PyMethodDef functions[] = {
    {"configure_lexer", lexer_configure, METH_VARARGS, "The types of comments, directives and includes, and `BEHIND`."},
    {"lex", lexer_lex, METH_O, "The parts of `Tokens` for a text; None for one that is no Latin-1."},
    {"names", lexer_names, METH_VARARGS, "Identifier -> indices of its tokens."},
    {"first_characters", lexer_first_characters, METH_O, "The first character of each token."},
    {"pair", lexer_pair, METH_VARARGS, "Matching bracket for each that has one."},
    {"configure_parser", parser_configure, METH_VARARGS, "The node types, the sets of words, the strengths, the limits."},
    {"parse", parser_parse, METH_VARARGS, "A block, an expression or statements."},
    {"walk", parser_walk, METH_O, "A node and all below it, in the order of the text."},
    {"words", words_words, METH_O, "Every word of a file's bytes."},
    {"lines", words_lines, METH_VARARGS, "Lines that may declare one of some names, and directives."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "porter.cpp.compiled._c", "The readers of C++, compiled.", -1, functions, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__c(void);

PyMODINIT_FUNC PyInit__c(void)
{
    PyObject *made = PyModule_Create(&module);
    if (made != NULL && PyModule_AddStringConstant(made, "sources", SOURCES) < 0)
        Py_CLEAR(made);
    return made;
}
