"""Clang's view of one file: types, overloads, and what a name refers to."""
