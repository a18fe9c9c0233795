"""Errors that end a run with a sentence instead of a traceback."""

from __future__ import annotations


class Unusable(Exception):
    """Wrong usage or unusable input: the message says what and where; the exit code is 2."""


class Interrupted(Exception):
    """The user stopped the run; the message says how far it came."""
