"""Inline PTX: read, and written as C++."""
