"""Derives the name tables from installed headers: `python -m porter.names.derive`."""

from porter.names.derive.cli import main

__all__ = ["main"]
