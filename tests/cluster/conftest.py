"""Schedulers and workers are processes that wait for each other by the clock."""

from __future__ import annotations

from pathlib import Path

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Once more for what failed: distributed's own limits, ten seconds for a thread among them, cannot be set, and a
    machine that stood still breaks them. What fails twice has failed, and the summary counts what was tried again."""
    here = str(Path(__file__).parent)
    for item in items if config.pluginmanager.hasplugin("rerunfailures") else ():
        if str(item.path).startswith(here):
            item.add_marker(pytest.mark.flaky(reruns=1))
