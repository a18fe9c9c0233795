"""What was asked for and is not there to be had: said with the report, since the run goes on without it."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Sequence

from porter.names.table import version_key
from porter.names.versions import NEWEST_ROCM, OLDEST_ROCM
from porter.settings import Choices

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


def include_notes(globs: Sequence[str], matches: Callable[[str], Matches], paths: Iterable[str]) -> Iterator[str]:
    """Globs of `include` that fit no file; all other files are only copied."""
    files = tuple(paths)
    for glob in globs:
        if glob.startswith(("!", "#")) or not glob.strip():
            continue
        fits = matches(glob)
        if not any(map(fits, files)):
            yield f"include: no source fits {glob!r}"


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
