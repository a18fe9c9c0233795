"""The documents as a site: every page is in its navigation, every link leads somewhere, and MkDocs builds it."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(path.name for path in DOCS.glob("*.md"))
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


def anchors(path: Path) -> set[str]:
    """Of the headings of a page, as MkDocs and Git hosts make them."""
    headings = re.findall(r"^#+ +(.+)$", path.read_text("utf-8"), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {re.sub(r" ", "-", words.strip()) for words in plain}


@pytest.mark.parametrize("name", [*PAGES, "../README.md", "../CONTRIBUTING.md"])
def test_links_lead_somewhere(name: str) -> None:
    """Relative ones: the file is there, and so is the heading."""
    page = DOCS / name
    text = _CODE.sub("", page.read_text("utf-8"))
    for target in _LINK.findall(text):
        if re.match(r"[a-z]+:", target):
            continue
        place, _, heading = target.partition("#")
        path = (page.parent / place).resolve() if place else page
        assert path.exists(), target
        if heading and path.suffix == ".md":
            assert heading in anchors(path), target


def test_the_navigation_has_every_page_once() -> None:
    """And none that is not there."""
    listed = re.findall(r": ([\w-]+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
    assert sorted(listed) == PAGES
    index = (DOCS / "index.md").read_text("utf-8")
    assert not [page for page in PAGES if page != "index.md" and f"({page})" not in index]


@pytest.mark.skipif(importlib.util.find_spec("mkdocs") is None, reason="pip install 'porter[docs]'")
def test_mkdocs_builds_it(tmp_path: Path) -> None:
    """Strictly: a warning is a failure. It asks no network, and no page does."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "site" / "index.html").read_text("utf-8")
    assert "<h1" in page and "fonts.googleapis" not in page
