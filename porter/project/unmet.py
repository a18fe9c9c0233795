"""What was asked for and is not there to be had: said with the report, since the run goes on without it."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from porter.errors import Unusable
from porter.names.table import load_names, version_key
from porter.names.versions import NEWEST_ROCM, OLDEST_ROCM
from porter.settings import Choices
from porter.system.paths import real_inside

Matches = Callable[[str], bool]


def version_notes(rocm: str | None) -> Iterator[str]:
    """A version that the tables end before, or begin after."""
    if rocm is None:
        return
    newest = version_key(NEWEST_ROCM)
    if version_key(rocm)[: len(newest)] > newest:
        yield f"ROCm {rocm} is newer than all that porter's tables know: names are those of ROCm {NEWEST_ROCM}"
    elif version_key(rocm) < version_key(OLDEST_ROCM):
        yield f"ROCm {rocm} is older than all that porter's tables know: it may lack names that ROCm {OLDEST_ROCM} has"


def refuse_circles(choices: Choices) -> None:
    """Unusable where a name of `[names]` is what it becomes in the end, by the tables' renames as well."""
    custom = dict(choices.engine.custom_names)
    if not custom:
        return
    table = load_names(choices.engine.rocm, custom)
    for name in custom:
        seen, last = {name}, name
        while (row := table.get(last)) is not None and row.hip not in (None, last) and not row.gap:
            last = row.hip or ""
            if last == name:
                raise Unusable(f"{choices.origin or 'names'}: names: {name!r} comes back from what it is replaced by")
            if last in seen:
                break  # which is another name's circle, and said there
            seen.add(last)


def include_notes(globs: Sequence[str], matches: Callable[[str], Matches], paths: Iterable[str]) -> Iterator[str]:
    """Globs of `include` that fit no file; all other files are only copied."""
    files = tuple(paths)
    for glob in globs:
        if glob.startswith(("!", "#")) or not glob.strip():
            continue
        fits = matches(glob)
        if not any(map(fits, files)):
            yield f"include: no source fits {glob!r}"


def glob_notes(choices: Choices, below: str, matches: Callable[[str], Matches], seen: Iterable[str]) -> Iterator[str]:
    """Globs of the other settings that fit nothing. `seen`: all there is, folders with a slash at their end, and also
    what is left out; `below`: the tree as seen from the settings, which may be for other trees too."""
    paths = tuple(seen)
    globs = (("exclude", choices.exclude), ("omit", choices.omit), ("dialect", [glob for glob, _ in choices.dialect]))
    for key, glob in ((key, glob) for key, those in globs for glob in those):
        if _is_meant_here(glob, below) and not any(map(matches(glob), paths)):
            yield f"{key}: nothing fits {glob!r}"


def _is_meant_here(glob: str, below: str) -> bool:
    """Whether a glob is none that takes back, and is about this tree alone where the settings are those of more."""
    if glob.startswith(("!", "#")) or not glob.strip():
        return False
    return not below or glob.removeprefix("/").startswith(below)


def folder_notes(root: Path, choices: Choices) -> Iterator[str]:
    """Folders for clang that are not there."""
    for folder in choices.include_dirs:
        if not (root / folder).is_dir():
            yield f"include_dirs: there is no folder {folder!r}"
        elif real_inside(os.path.realpath(root), os.path.realpath(root / folder)) is None:
            yield f"include_dirs: {folder!r} leads out of the tree, and nothing of it is read"


def kernel_notes(choices: Choices, below: str, kernels: Iterable[str]) -> Iterator[str]:
    """Kernels that are to be widened, or not, and that no file has."""
    known = frozenset(kernels)
    engine = choices.engine
    for key, names in (("native_kernels", engine.native_kernels), ("preserve_kernels", engine.preserve_kernels)):
        for name in () if below else names:
            if name not in known:
                close = difflib.get_close_matches(name, sorted(known), 1)
                yield f"{key}: there is no kernel {name!r}" + (f"; did you mean {close[0]!r}?" if close else "")


def rule_notes(choices: Choices) -> Iterator[str]:
    """Codes and names in `disable` that no rule has. Reads the rules where something is disabled."""
    if not choices.engine.disabled:
        return
    from porter.buildfiles.registry import build_rules
    from porter.engine.registry import all_rules

    known = {word for rule in (*all_rules(), *build_rules()) for word in (rule.code, rule.name)}
    for word in sorted(choices.engine.disabled - known):
        close = difflib.get_close_matches(word, sorted(one for one in known if "-" in one), 1)
        yield f"disable: there is no rule {word!r}" + (f"; did you mean {close[0]!r}?" if close else "")
