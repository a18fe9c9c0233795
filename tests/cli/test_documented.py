"""What can be set is documented, and completion knows it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from porter.settings import known_settings

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_every_setting_is_documented() -> None:
    """In the example of docs/settings.md, and no other one is."""
    example = re.search(r"```toml\n(.*?)```", (DOCS / "settings.md").read_text("utf-8"), re.DOTALL)
    assert example is not None
    named = re.findall(r"^(?:\[)?([a-z_]+)(?:\]| =)", example[1], re.MULTILINE)
    assert set(named) == set(known_settings())


@pytest.mark.parametrize(
    ("words", "wanted"),
    [("porter ch", "check"), ("porter check --fail-on ", "hazard"), ("porter report --format m", "markdown")],
)
def test_completion(words: str, wanted: str) -> None:
    """As bash asks for it."""
    script = "from porter.cli import app; app(prog_name='porter')"
    environment = {
        **os.environ,
        "_PORTER_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
    assert wanted in done.stdout.split()
