"""What git knows about the tree that is ported; nothing of the repository's own configuration is executed."""

from __future__ import annotations

import os
from pathlib import Path

from porter.command import Completed, run

SAFE = ("git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
"""git without the programs that a repository's own configuration could name."""


def _git(folder: Path, *arguments: str) -> Completed:
    return run([*SAFE, *arguments], folder)


def in_work_tree(folder: Path) -> bool:
    """Whether a folder lies in a git work tree."""
    return any((place / ".git").exists() for place in (folder.absolute(), *folder.absolute().parents))


def ignored(folder: Path) -> frozenset[str] | None:
    """Untracked paths below a folder that git ignores, folders without their content; None: git did not answer."""
    listed = _git(folder, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
    if not listed.ok:
        return None
    paths = {os.fsdecode(path).rstrip("/") for path in listed.stdout.split(b"\0") if path}
    return frozenset() if paths & {".", ""} else frozenset(paths)


def ignores(folder: Path, place: Path) -> bool:
    """Whether git would ignore a folder below another one, be it there or not."""
    return _git(folder, "check-ignore", "--quiet", f"{place}/").ok


def why_not_clean(path: Path) -> str | None:
    """Why the files at a path cannot be changed in place; None when git could bring all of them back."""
    folder = path if path.is_dir() else path.parent
    if not in_work_tree(folder):
        return "it is not in a git work tree"
    status = _git(folder, "status", "--porcelain", "-z", "--untracked-files=normal", "--", str(path.absolute()))
    if not status.ok:
        return f"git does not answer: {status.stderr.decode(errors='replace').strip()}"
    changed = [os.fsdecode(line[3:]) for line in status.stdout.split(b"\0") if line]
    return f"git has uncommitted changes there: {changed[0]}" if changed else None
