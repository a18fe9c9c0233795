"""Property tests have no time limit per example, as machines are shared, and the same examples in every CI run; an
interrupt is one even where the tests run in the background, whose shells have it ignored."""

from __future__ import annotations

import atexit
import functools
import gc
import os
import signal
import sys
import threading
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import ended, folders, order

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


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays to the end: whoever looks for garbage need not look at it, now or later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """`make unit` leaves some out; long ones come first."""
    items.sort(key=lambda item: order.place(item.path))
    for item in items:
        if item.path.parent.name in _COMPILE:
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish() -> None:
    """What porter starts for itself are forks; tests/validate/test_crew.py has it as users do."""
    if "porter.validation.run.crew" in sys.modules:
        from tests.forking.children import use_forks  # which takes a while to import

        use_forks()


def pytest_configure(config: pytest.Config) -> None:
    """The processes that xdist starts find the folder taken."""
    if not hasattr(config, "workerinput"):
        config.add_cleanup(functools.partial(os.close, folders.take()))
    atexit.register(gc.unfreeze)  # libraries that are unloaded want to see their garbage gone


def pytest_unconfigure() -> None:
    """Ends what tests left for others to use."""
    ended.AFTERWARDS.close()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object | None:
    """Unless another way to share them out is asked for."""
    from tests import units  # which needs xdist

    return units.scheduler(config, log) if config.getoption("dist") == "load" else None


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest) -> Path:
    """An empty folder, which has the same name in every run and in every process."""
    return folders.named(f"{request.node.path}::{request.node.getmodpath()}")


@pytest.fixture(scope="module")
def module_path(request: pytest.FixtureRequest) -> Path:
    """The same for what the tests of a module share; one process has them all."""
    return folders.named(str(request.node.path))
