"""Where a port may be written: never into its own source, never over a folder that is not porter's."""

from __future__ import annotations

import os
from pathlib import Path

from porter.errors import Unusable
from porter.project.discovery import omits
from porter.project.manifest import is_ours
from porter.project.writing import is_temporary
from porter.settings import Choices, Handling
from porter.system import git


def check_output(source: Path, out: Path, choices: Choices, *, force: bool) -> None:
    """Raises Unusable when a folder cannot take the port of a folder or file."""
    root = Path(os.path.realpath(source if source.is_dir() else source.parent))
    place = Path(os.path.realpath(out))
    if source.is_dir():
        if place == root:
            raise Unusable(f"{out}: the output is the source itself; use --in-place")
        if place in root.parents:
            raise Unusable(f"{out}: the source {source} lies inside the output folder")
        if root in place.parents and not _left_out(root, place, choices):
            raise Unusable(
                f"{out}: lies inside the source {source} and would be ported the next time; "
                "choose a folder outside, or add it to `omit` in porter.toml or to .gitignore"
            )
    if out.exists() and not out.is_dir():
        raise Unusable(f"{out}: exists and is not a folder")
    if out.is_dir() and not force and not is_ours(out) and not all(is_temporary(path.name) for path in out.iterdir()):
        raise Unusable(f"{out}: exists, is not empty and was not written by porter; use --force to write into it")


def _left_out(root: Path, place: Path, choices: Choices) -> bool:
    """Whether the listing of the source will skip a folder inside it."""
    if omits(choices, root, place.relative_to(root).as_posix()):
        return True
    return choices.gitignored is Handling.SKIP and git.in_work_tree(root) and git.ignores(root, place)
