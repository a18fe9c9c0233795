"""launch.hpp: launches with attributes; what they do is run by tests/programs/test_compare.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.include import hip


@pytest.mark.slow
def test_everywhere(tmp_path: Path) -> None:
    hip.check_everywhere(hip.snippet("launch_everything"), tmp_path)
