"""setup.py and its kin for both vendors: whole statements behind `USE_HIP`, the original's beside them."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from typing import NamedTuple

from porter.engine import edits as editing
from porter.model import Edit

_STEP = "    "
_TORCH = "import torch{end}{end}USE_HIP = torch.version.hip is not None{end}"
_PLAIN = 'import os{end}{end}USE_HIP = bool(os.environ.get("USE_HIP")){end}'


class Stretch(NamedTuple):
    """Whole lines of whole statements."""

    start: int
    end: int


def guarded_python(text: str, changes: list[Edit], newline: str) -> str | None:
    """The file with both paths; None where it cannot be read, or a line has more than one statement."""
    tree = _parsed(text)
    if tree is None:
        return None
    starts = _line_starts(text)
    found = [_around(text, tree.body, starts, edit) for edit in changes]
    if any(one is None for one in found):
        return None
    stretches = _merged(text, sorted({one for one in found if one is not None}))
    inside_strings = _lines_in_strings(text)
    written: list[Edit] = []
    for start, end in stretches:
        old = text[start:end] if text[start:end].endswith("\n") else text[start:end] + newline
        inside = [Edit(e.start - start, e.end - start, e.text) for e in changes if start <= e.start and e.end <= end]
        new = editing.apply(old, inside)
        kept = {line - text.count("\n", 0, start) for line in inside_strings}
        space = re.match(r"[ \t]*", old)[0]  # type: ignore[index]
        sides = _indented(new, kept if new.count("\n") == old.count("\n") else _lines_in_strings(_shifted(new)))
        written.append(
            Edit(start, end, f"{space}if USE_HIP:{newline}{sides}{space}else:{newline}{_indented(old, kept)}")
        )
    place = _top_level(tree, starts, stretches[0].start)
    written.append(Edit(place, place, _switch(tree).format(end=newline) + newline))
    result = editing.apply(text, written)
    return result if _parsed(result) is not None else None


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text.encode("latin-1"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _line_starts(text: str) -> list[int]:
    return [0, *(match.end() for match in re.finditer("\n", text)), len(text)]


def _around(text: str, body: list[ast.stmt], starts: list[int], edit: Edit) -> Stretch | None:
    """The innermost statement that has all of an edit, and its lines to itself."""
    for statement in body:
        stretch = _lines_of(statement, starts)
        if not (stretch.start <= edit.start and edit.end <= stretch.end):
            continue
        for inner in _bodies(statement):
            if inner and (found := _around(text, inner, starts, edit)) is not None:
                return found
        return stretch if _is_alone(text, statement, starts) and not _goes_on(text, stretch) else None
    return None


def _lines_of(statement: ast.stmt, starts: list[int]) -> Stretch:
    decorators = getattr(statement, "decorator_list", [])
    first = min([statement.lineno, *(one.lineno for one in decorators)])
    return Stretch(starts[first - 1], starts[statement.end_lineno or first])


def _bodies(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        yield getattr(statement, name, [])
    for handler in getattr(statement, "handlers", []):
        yield handler.body


def _is_alone(text: str, statement: ast.stmt, starts: list[int]) -> bool:
    before = text[starts[statement.lineno - 1] :][: statement.col_offset]
    last = statement.end_lineno or statement.lineno
    after = text[starts[last - 1] : starts[last]][statement.end_col_offset :].strip()
    return not before.strip() and (not after or after.startswith("#"))


def _goes_on(text: str, stretch: Stretch) -> bool:
    """Whether a statement is the condition behind `elif`, which cannot stand in another one."""
    return text[stretch.start : stretch.end].lstrip().startswith("elif")


def _merged(text: str, stretches: list[Stretch]) -> list[Stretch]:
    merged: list[Stretch] = []
    for one in stretches:
        if merged and one.start < merged[-1].end:
            merged[-1] = Stretch(merged[-1].start, max(merged[-1].end, one.end))
        elif merged and one.start == merged[-1].end and _space(text, one) == _space(text, merged[-1]):
            merged[-1] = Stretch(merged[-1].start, one.end)
        else:
            merged.append(one)
    return merged


def _space(text: str, stretch: Stretch) -> int:
    line = text[stretch.start :]
    return len(line) - len(line.lstrip(" \t"))


def _shifted(text: str) -> str:
    """Statements of a block as a file of their own."""
    return f"if 1:\n{text}" if text[:1] in " \t" else f"\n{text}"


def _lines_in_strings(text: str) -> set[int]:
    """Lines, from 0, that begin within a string: blanks there belong to it."""
    found: set[int] = set()
    shift = 1 if text.startswith(("if 1:\n", "\n")) else 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.start[0] != token.end[0] and token.type not in (tokenize.NEWLINE, tokenize.NL):
                found.update(range(token.start[0] - shift, token.end[0] - shift))
    except (tokenize.TokenError, SyntaxError):
        return found
    return found


def _indented(text: str, kept: set[int]) -> str:
    lines = text.splitlines(keepends=True)
    written = "".join(line if number in kept or not line.strip() else _STEP + line for number, line in enumerate(lines))
    return written if written.strip() else f"{_STEP}pass\n"


def _top_level(tree: ast.Module, starts: list[int], offset: int) -> int:
    """Before the statement of the file that has a place."""
    lines = [_lines_of(statement, starts) for statement in tree.body]
    return next(one.start for one in lines if one.start <= offset < one.end)


def _switch(tree: ast.Module) -> str:
    """How the file tells: PyTorch knows which GPUs it was built for."""
    for statement in tree.body:
        if isinstance(statement, ast.Import) and any(one.name.split(".")[0] == "torch" for one in statement.names):
            return _TORCH
        if isinstance(statement, ast.ImportFrom) and (statement.module or "").split(".")[0] == "torch":
            return _TORCH
    return _PLAIN
