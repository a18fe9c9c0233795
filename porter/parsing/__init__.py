"""Clang's view of one file: the parts behind `porter.parse`."""
