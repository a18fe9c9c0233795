"""From the edits of a port to a source for both vendors: names go to a header, the rest is guarded line by line.

With CUDA's compilers the result preprocesses to the tokens of the original: an edit is undone because a header that
only AMD builds see does its work, or it stands in a branch that only AMD builds take.
"""

from __future__ import annotations

import bisect
import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from porter.cpp.conditionals import find_groups
from porter.cpp.lex import IDENTIFIER, STRING, Directive, Include, Tokens, lex
from porter.engine import edits as editing
from porter.model import Edit

GUARD = "__HIP_PLATFORM_AMD__"
"""HIP defines it wherever code is compiled for AMD, host compilers included."""

_OURS = frozenset({GUARD, "__HIPCC__"})
_INCLUDE_LINES = re.compile(r'(?:\s*#[ \t]*include[ \t]+(?:<[^>\n]+>|"[^"\n]+")[ \t]*(?:\r?\n|\Z))+')
_OPERAND = re.compile(r'#[ \t]*include[ \t]+(<[^>\n]+>|"[^"\n]+")')
_SUPPORT = re.compile(r'"(?:\.\./)*(porter/[^"]+)"')
_GUARD_LINES = re.compile(
    r"\s*#(?:ifndef (?P<name>__HIPCC__|__HIP_PLATFORM_AMD__|__clang__)|if !defined\(__HIPCC__\)|endif)[^\n]*\s*"
)
_ANY_CHARACTER = re.compile(r"[^\r\n]")
_COMMENT_LINE = re.compile(r"//[^\n]*\n")
_NAME = re.compile(r"[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*")
_CUDA_NAME = re.compile(
    r"__\w+|cu[A-Z]\w*|CU_?[A-Za-z]\w*|cuda[A-Z_]\w*|make_cu\w+|(?:cub|thrust_cuda|cooperative_groups)|nv\w+|NV\w+"
    r"|(?:cublas|cufft|curand|cusparse|cusolver|nccl|nvrtc|nvtx|cudnn|CUDA|CUBLAS|CUFFT|CURAND|CUSPARSE|CUSOLVER)\w*"
)
_NEVER = frozenset({"__CUDACC__", "__CUDA_ARCH__", "__NVCC__", "cuda"})
_COMPILERS = frozenset({"__CUDACC__", "__NVCC__"})
_ARCHITECTURES = frozenset({"PORTER_CUDA_ARCH", "PORTER_CUDA_ARCH_SOLE"})
_BY_NAME = {"ifdef": ("", "||"), "ifndef": ("!", "&&")}
_CONDITION = re.compile(r"^\s*#\s*(ifdef|ifndef|elif|if)\b")
_CONDITIONS = frozenset({"if", "ifdef", "ifndef", "elif"})
_MERGED_LINES = 2
"""Guards with no more lines between them are one guard."""


@dataclass(frozen=True, slots=True)
class Dual:
    """A file for both vendors, and what the headers of AMD builds have to supply for it."""

    data: bytes
    macros: tuple[tuple[str, str], ...] = ()
    """CUDA's name and what stands for it on AMD."""
    headers: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """CUDA's headers that the file includes, and what each one includes on AMD."""
    includes: tuple[str, ...] = ()
    """Headers that the port included besides."""
    guards: int = 0


@dataclass
class _Draft:
    """What is known while the edits are sorted."""

    tokens: Tokens
    macros: dict[str, str] = field(default_factory=dict)
    names: list[Edit] = field(default_factory=list)
    """Those that the macros stand for."""
    headers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    includes: dict[str, None] = field(default_factory=dict)
    in_place: list[Edit] = field(default_factory=list)
    conditions: dict[Directive, list[Edit]] = field(default_factory=dict)
    guarded: list[Edit] = field(default_factory=list)
    guard_lines: list[Edit] = field(default_factory=list)


def transform(data: bytes, edits: Iterable[Edit]) -> Dual:
    """The file for both vendors."""
    text = data.decode("latin-1")
    tokens = lex(text)
    away = _branches_without_hip(tokens)
    draft = _Draft(tokens)
    by_include: dict[Include, list[Edit]] = {}
    for edit in edits:
        if any(start <= edit.start and edit.end <= end for start, end in away):
            continue
        include = _include_at(tokens, edit)
        if include is not None:
            by_include.setdefault(include, []).append(edit)
        else:
            _sort(draft, edit)
    for include, changes in by_include.items():
        _header(draft, include, changes)
    for directive, changes in draft.conditions.items():
        draft.in_place += _condition_for_both(tokens, directive, changes)
    draft.in_place += _lines_of_guards(tokens, sorted(draft.guard_lines, key=lambda edit: edit.start))
    regions = _regions(text, tokens, draft.guarded)
    written = [*_in_place(draft, regions), *_guards(text, draft, regions)]
    return Dual(
        editing.apply(text, written).encode("latin-1"),
        tuple(sorted(_macros(draft, regions))),
        tuple(sorted(draft.headers.items())),
        tuple(draft.includes),
        len(regions),
    )


def as_amd_sees(data: bytes) -> bytes:
    """A file without what only CUDA's builds see of it, as blanks: each byte keeps its place, and a port its halves."""
    if not any(name.encode() in data for name in _OURS):
        return data
    text = data.decode("latin-1")
    for start, end in _branches_without_hip(lex(text)):
        start = min(text.find("\n", start, end) % (end + 1), end)
        text = text[:start] + _ANY_CHARACTER.sub(" ", text[start:end]) + text[end:]
    return text.encode("latin-1")


def _branches_without_hip(tokens: Tokens) -> list[tuple[int, int]]:
    """The `#else` branches of `#ifdef __HIP_PLATFORM_AMD__` and its kin: AMD builds never see them."""
    found: list[tuple[int, int]] = []
    for group in find_groups(tokens):
        first = group.directives[0]
        names = tokens.texts[first.first : first.last]
        if first.name == "ifdef" and names[:1] and names[0] in _OURS and len(group.directives) == 3:
            found.append((group.directives[1].start, group.directives[2].start))
        elif first.name == "ifndef" and names[:1] and names[0] in _OURS:
            found.append((first.start, group.directives[1].start))
    return found


def _include_at(tokens: Tokens, edit: Edit) -> Include | None:
    """The `#include` that an edit changes or takes out."""
    if edit.start == edit.end:
        return None
    place = bisect.bisect_right([include.line_end for include in tokens.includes], edit.start)
    for include in tokens.includes[place : place + 1]:
        if include.line_start <= edit.start and edit.end <= include.line_end + 2:
            return include
    return None


def _sort(draft: _Draft, edit: Edit) -> None:
    """Where one edit goes."""
    tokens = draft.tokens
    if _is_in_string(tokens, edit):
        draft.guarded.append(edit)
        return
    lines = _INCLUDE_LINES.match(edit.text)
    if lines is not None and edit.start < edit.end and _begins_line(tokens.text, edit.start):
        draft.includes.update(dict.fromkeys(map(_operand, _OPERAND.findall(lines[0]))))
        edit = edit._replace(text=edit.text[lines.end() :])
    if edit.start == edit.end:
        if _INCLUDE_LINES.fullmatch(edit.text):
            draft.includes.update(dict.fromkeys(map(_operand, _OPERAND.findall(edit.text))))
            return
        if _GUARD_LINES.fullmatch(edit.text):
            draft.guard_lines.append(edit)
            return
        if _COMMENT_LINE.fullmatch(edit.text):
            draft.in_place.append(edit)
            return
    directive = _directive_at(tokens, edit.start)
    old = tokens.text[edit.start : edit.end]
    if old.startswith("::") and edit.text == f"porter{old}" and is_renamed_by_macro(old[2:], edit.text):
        _sort(draft, edit._replace(start=tokens.starts[tokens.at(edit.start) + 1]))
        return
    if _is_whole_name(tokens, edit):
        by_macro = is_renamed_by_macro(old, edit.text) and _agrees(draft, old, edit.text)
        if by_macro and not (directive is not None and _asks_whether(tokens, directive, edit)):
            draft.macros[old] = edit.text
            draft.names.append(edit)
            return
        if not by_macro and _is_put_together(old, edit.text):
            return
    if directive is not None and directive.name in _CONDITIONS:
        if not _asks_both(tokens, directive, edit):
            draft.conditions.setdefault(directive, []).append(edit)
        return
    draft.guarded.append(edit)


def _is_in_string(tokens: Tokens, edit: Edit) -> bool:
    """Whether an edit is one of the text of a literal."""
    index = bisect.bisect_right(tokens.starts, edit.start) - 1
    return index >= 0 and tokens.kinds[index] == STRING and tokens.starts[index] < edit.start < tokens.end(index)


def _begins_line(text: str, offset: int) -> bool:
    return offset == 0 or text[offset - 1] == "\n"


def _operand(written: str) -> str:
    ours = _SUPPORT.fullmatch(written)
    return ours[1] if ours is not None else f"<{written[1:-1]}>"


def is_renamed_by_macro(old: str, new: str) -> bool:
    """Whether a name is CUDA's alone, so that a macro can stand for it in all of the project's code."""
    return _CUDA_NAME.fullmatch(old) is not None and old not in _NEVER and _NAME.fullmatch(new) is not None


def _is_put_together(old: str, new: str) -> bool:
    """Whether a macro makes a name of one of CUDA's (`p_##name`): what `##` is given is not expanded, so it stays."""
    start = next((i for i, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), 0)
    return start > 0 and old.startswith("cu", start) and new.startswith("hip", start)


def _asks_whether(tokens: Tokens, directive: Directive, edit: Edit) -> bool:
    """Whether a condition asks if a name is defined, which it would always be as a macro; versions are."""
    if directive.name not in _CONDITIONS or edit.text.startswith("PORTER_CUDA_VERSION"):
        return False
    return directive.name in _BY_NAME or _defined(tokens, tokens.at(edit.start))[0] is not None


def _asks_both(tokens: Tokens, directive: Directive, edit: Edit) -> bool:
    """Whether a condition was written for both vendors before."""
    asked = tokens.texts[directive.first : directive.last]
    written = _ARCHITECTURES if edit.text in _ARCHITECTURES else {edit.text}
    return not {GUARD, *written}.isdisjoint(asked)


def _agrees(draft: _Draft, old: str, new: str) -> bool:
    return draft.macros.get(old, new) == new


def _is_whole_name(tokens: Tokens, edit: Edit) -> bool:
    index = tokens.at(edit.start)
    return (
        index < len(tokens)
        and tokens.starts[index] == edit.start
        and tokens.end(index) == edit.end
        and tokens.kinds[index] == IDENTIFIER
    )


def _directive_at(tokens: Tokens, offset: int) -> Directive | None:
    for directive in tokens.directives:
        if directive.start <= offset < directive.end:
            return directive
    return None


def _condition_for_both(tokens: Tokens, directive: Directive, changes: list[Edit]) -> list[Edit]:
    """`#ifdef __CUDACC__`, which the port asks of HIP's compiler: both are asked for, each by its own names."""
    if all(_is_of_both(tokens, edit) for edit in changes):
        if directive.name not in _BY_NAME:
            return [_both_names(tokens, edit) for edit in changes]
        old, new, no, joint = *_names_of(tokens, changes[0]), *_BY_NAME[directive.name]
        end = max(edit.end for edit in changes)
        return [Edit(directive.start, end, f"#if {no}defined({old}) {joint} {no}defined({new})")]
    start = directive.start
    end = max(tokens.end(directive.last - 1), *(edit.end for edit in changes))
    old_text = tokens.text[start:end]
    shifted = [Edit(edit.start - start, edit.end - start, edit.text) for edit in changes]
    amd, cuda = _asked(editing.apply(old_text, shifted)), _asked(old_text)
    word = "elif" if directive.name == "elif" else "if"
    return [
        Edit(start, end, f"#{word} (defined({GUARD}) && {_grouped(amd)}) || (!defined({GUARD}) && {_grouped(cuda)})")
    ]


def _grouped(asked: str) -> str:
    """An expression that stands beside `&&`."""
    return asked if re.fullmatch(r"!?defined\(\w+\)", asked) else f"({asked})"


def _asked(directive: str) -> str:
    """What a condition asks, as an expression of `#if`."""
    _, word, rest = _CONDITION.split(directive, maxsplit=1)
    if word in _BY_NAME:
        return f"{'!' if word == 'ifndef' else ''}defined({rest.strip()})"
    return rest.strip()


def _lines_of_guards(tokens: Tokens, lines: list[Edit]) -> Iterator[Edit]:
    """What keeps code from HIP's compilers, or lets them see what a condition hides, and changes nothing for CUDA's."""
    open_guards, let_in = 0, False
    for edit in lines:
        found = _GUARD_LINES.fullmatch(edit.text)
        if edit.text.lstrip().startswith("#endif"):
            asked = _condition_around(tokens, edit.start) if not open_guards else ""
            if asked:
                let_in = True
                end = "\r\n" if edit.text.endswith("\r\n") else "\n"
                edit = edit._replace(text=f"{edit.text}#if defined({GUARD}) || {_grouped(asked)}{end}")
            open_guards = max(open_guards - 1, 0)
        elif let_in:
            let_in = False
            asked = _condition_around(tokens, edit.start)
            lines_of = re.sub(r"#ifndef.*", f"#endif\n#if !defined({GUARD}) && {_grouped(asked)}", edit.text)
            edit = edit._replace(text=lines_of)
        else:
            open_guards += 1
            if found is not None and found["name"] == "__clang__":
                asked = f"#if !defined({GUARD}) || !defined(__clang__)"
                edit = edit._replace(text=edit.text.replace("#ifndef __clang__", asked))
        yield edit


def _condition_around(tokens: Tokens, offset: int) -> str:
    """What the innermost condition asks whose first branch a place is in; empty: it is in none."""
    around = ""
    for group in find_groups(tokens):
        first, second = group.directives[0], group.directives[1]
        if first.end <= offset <= second.start:
            around = _asked(tokens.text[first.start : tokens.end(first.last - 1)])
    return around


def _is_of_both(tokens: Tokens, edit: Edit) -> bool:
    """Whether an edit replaces a macro of CUDA's that AMD's compilers never have by one that CUDA's never have."""
    old, new = _names_of(tokens, edit)
    return (old in _COMPILERS and new == "__HIPCC__") or (old == "__CUDA_ARCH__" and new in _ARCHITECTURES)


def _names_of(tokens: Tokens, edit: Edit) -> tuple[str, str]:
    return tokens.text[edit.start : edit.end], edit.text


def _both_names(tokens: Tokens, edit: Edit) -> Edit:
    """Asks for either macro; in a condition a macro that is not there is 0."""
    old, new = _names_of(tokens, edit)
    start, end = _defined(tokens, tokens.at(edit.start))
    if start is not None:
        return Edit(start, end, f"(defined({old}) || defined({new}))")
    if old in _COMPILERS:
        return Edit(edit.start, edit.end, f"({old} || defined({new}))")
    return Edit(edit.start, edit.end, f"({old} + {new})")


def _defined(tokens: Tokens, index: int) -> tuple[int | None, int]:
    """The range of `defined(NAME)` or `defined NAME`."""
    if index >= 2 and tokens.texts[index - 1] == "(" and tokens.texts[index - 2] == "defined":
        return tokens.starts[index - 2], tokens.end(index + 1)
    if index >= 1 and tokens.texts[index - 1] == "defined":
        return tokens.starts[index - 1], tokens.end(index)
    return None, 0


def _header(draft: _Draft, include: Include, changes: list[Edit]) -> None:
    """An `#include` of CUDA's stays: a header of that name, which only AMD builds find, includes what the port has."""
    tokens = draft.tokens
    start, end = include.line_start, max(include.line_end, *(edit.end for edit in changes))
    shifted = [Edit(edit.start - start, edit.end - start, edit.text) for edit in changes]
    new = editing.apply(tokens.text[start:end], shifted)
    operands = tuple(map(_operand, _OPERAND.findall(new)))
    rest = _OPERAND.sub("", new).strip()
    if rest and not rest.startswith(("//", "/*")):
        draft.guarded += changes
        return
    draft.headers[include.name] = operands


def _in_place(draft: _Draft, regions: list[tuple[int, int]]) -> list[Edit]:
    inside = [e for e in draft.in_place if not any(start <= e.start and e.end <= end for start, end in regions)]
    return sorted(set(inside))


def _macros(draft: _Draft, regions: list[tuple[int, int]]) -> set[tuple[str, str]]:
    """The names that stand outside guards; AMD's lines inside of them have HIP's."""
    tokens = draft.tokens
    used = {tokens.text[e.start : e.end] for e in draft.names if not _is_inside(e, regions)}
    return {(old, new) for old, new in draft.macros.items() if old in used}


def _is_inside(edit: Edit, regions: list[tuple[int, int]]) -> bool:
    place = bisect.bisect_right(regions, edit.start, key=lambda region: region[0]) - 1
    return place >= 0 and edit.end <= regions[place][1]


def _regions(text: str, tokens: Tokens, guarded: list[Edit]) -> list[tuple[int, int]]:
    """Whole lines to be guarded, wide enough that no comment, string, directive or bracket is cut."""
    wanted = sorted(_widened(text, tokens, edit.start, edit.end) for edit in guarded)
    merged: list[tuple[int, int]] = []
    for start, end in wanted:
        if (
            merged
            and text.count("\n", merged[-1][1], start) <= _MERGED_LINES
            and not _crosses(tokens, merged[-1][1], start)
        ) or (merged and start < merged[-1][1]):
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _crosses(tokens: Tokens, start: int, end: int) -> bool:
    """Whether a directive lies between two places."""
    return bool(tokens.directives_in(start, end))


def _widened(text: str, tokens: Tokens, start: int, end: int) -> tuple[int, int]:
    while True:
        first, last = _lines(text, start, end)
        for comment in tokens.comments:
            if comment.start < first < comment.end or comment.start < last < comment.end:
                first, last = min(first, comment.start), max(last, comment.end)
        for directive in tokens.directives:
            if directive.start < last and first < directive.end:
                first, last = min(first, directive.start), max(last, directive.end)
        for index in range(tokens.at(first), tokens.at(last)):
            if tokens.end(index) > last:
                last = tokens.end(index)
            partner = tokens.partner.get(index)
            if partner is not None and tokens.texts[index] in "()[]":
                first, last = min(first, tokens.starts[partner]), max(last, tokens.end(partner))
        before = tokens.at(first) - 1
        if before >= 0 and tokens.end(before) > first:
            first = tokens.starts[before]
        wider = _lines(text, first, last)
        if wider == (start, end):
            return wider
        start, end = wider


def _lines(text: str, start: int, end: int) -> tuple[int, int]:
    """Whole lines around a range, the last line end included."""
    first = text.rfind("\n", 0, start) + 1
    if end > first and text[end - 1 : end] == "\n":
        return first, end
    newline = text.find("\n", end)
    return first, len(text) if newline < 0 else newline + 1


def _guards(text: str, draft: _Draft, regions: list[tuple[int, int]]) -> list[Edit]:
    """`#ifdef __HIP_PLATFORM_AMD__`, the port's lines, `#else`, the original's lines, `#endif`."""
    newline = "\r\n" if 2 * text.count("\r\n") > text.count("\n") else "\n"
    written: list[Edit] = []
    for start, end in regions:
        inside = {e for e in (*draft.guarded, *draft.in_place) if start <= e.start and e.end <= end}
        named = {e for e in draft.names if start <= e.start and e.end <= end}
        inside |= {e for e in named if not any(map(functools.partial(editing.overlaps, e), inside))}
        changes = [Edit(e.start - start, e.end - start, e.text) for e in inside]
        old = text[start:end]
        tail = "" if old.endswith("\n") else newline
        new = editing.apply(old, changes)
        new_tail = "" if new.endswith("\n") else newline
        head = f"#ifdef {GUARD}{newline}{new}{new_tail}#else" if new.strip() else f"#ifndef {GUARD}"
        written.append(Edit(start, start, f"{head}{newline}"))
        written.append(Edit(end, end, f"{tail}#endif{newline if not tail else ''}"))
    return written
