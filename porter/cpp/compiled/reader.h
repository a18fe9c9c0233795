/* What the lexer and the reader of bodies share. */
#ifndef PORTER_READER_H
#define PORTER_READER_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

/* Tokens' kinds, as in porter/cpp/lex.py. */
enum { IDENTIFIER = 'i', NUMBER = 'n', STRING = 's', CHARACTER = 'q', PUNCTUATION = 'p' };

/* What Python's side calls; each of them fails with an exception set. */
PyObject *lexer_configure(PyObject *self, PyObject *arguments);
PyObject *lexer_lex(PyObject *self, PyObject *text);
PyObject *lexer_names(PyObject *self, PyObject *arguments);
PyObject *lexer_first_characters(PyObject *self, PyObject *texts);
PyObject *lexer_pair(PyObject *self, PyObject *arguments);
PyObject *parser_configure(PyObject *self, PyObject *arguments);
PyObject *parser_parse(PyObject *self, PyObject *arguments);
PyObject *parser_walk(PyObject *self, PyObject *node);
PyObject *words_words(PyObject *self, PyObject *data);
PyObject *words_lines(PyObject *self, PyObject *arguments);

/* A new list of `count` numbers, then `behind` times the same one. */
PyObject *list_of_numbers(const Py_ssize_t *numbers, Py_ssize_t count, Py_ssize_t behind, Py_ssize_t last);

#endif
