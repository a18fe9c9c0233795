"""Property tests have no time limit per example, as machines are shared, and the same examples in every CI run; an
interrupt is one even where the tests run in the background, whose shells have it ignored."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("porter", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("porter"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "porter")

# Porter is started some thousand times, and each start would compile its modules anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)

_COMPILE = frozenset({"devices", "include", "ptx"})
"""Folders whose tests compile what they run."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """`make unit` leaves them out."""
    for item in items:
        if Path(item.path).parent.name in _COMPILE:
            item.add_marker(pytest.mark.slow)
