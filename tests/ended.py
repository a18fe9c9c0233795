"""What ends with a process of the tests."""

from __future__ import annotations

import contextlib

AFTERWARDS = contextlib.ExitStack()
