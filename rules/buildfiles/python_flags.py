"""K201: nvcc's flags in setup.py and its kin."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from porter.buildfiles.flags import Change, Word, translate
from porter.buildfiles.python import (
    HIP_TEST,
    FlagList,
    decided,
    flag_lists,
    has_both_paths,
    literal,
    missing_imports,
    nodes_of,
    place,
    strings,
    tree,
)
from porter.buildfiles.rule import BuildRule, BuildUnit, Edit, Effort, Finding, Kind, apply, clean, fixes, reports


class PythonFlags(BuildRule):
    """Flags of nvcc in Python

    PyTorch hands the flags under "nvcc" (or extra_cuda_cflags) to hipcc as they are. What clang has under another name
    is rewritten (rules/buildfiles/flags.toml is the table); targets are left out, for PyTorch takes them from
    PYTORCH_ROCM_ARCH.
    """

    code = "K201"
    kinds = frozenset({Kind.PYTHON})
    hazards = ("cpp-extension-flags", "half-operators-flags", "wheel-arch-list", "fast-math-flag")
    examples = (
        fixes(
            'a = {"nvcc": ["-O3", "-lineinfo", "-gencode", "arch=compute_80,code=sm_80", "-Xcompiler=-Wall"]}',
            'a = {"nvcc": ["-O3", "-gline-tables-only", "-Wall"]}',
            path="setup.py",
        ),
        fixes(
            "f = ['-U__CUDA_NO_HALF_OPERATORS__', '--expt-extended-lambda']",
            "f = ['-U__HIP_NO_HALF_OPERATORS__']",
            path="setup.py",
        ),
        fixes(
            'f = []\nf.append("-gencode")\nf.append("arch=compute_70,code=sm_70")\nf.append("-O3")',
            'f = []\nf.append("-O3")',
            path="setup.py",
        ),
        fixes('a = ["-Xcompiler", flag] + b', "a = [flag] + b", path="setup.py"),
        fixes('a = {"nvcc": ["-Xcompiler", get("A", "B")]}', 'a = {"nvcc": [get("A", "B")]}', path="setup.py"),
        fixes('a = {"nvcc": ["-Xcompiler", "-Wall"]}', 'a = {"nvcc": ["-Wall"]}', path="setup.py"),
        reports('a = {"nvcc": ["--frobnicate"]}', path="setup.py", effort=Effort.REVIEW),
        reports('CUDAExtension("a", ["a.cpp"], dlink=True)', path="setup.py", effort=Effort.MANUAL),
        clean('CUDAExtension("a", ["a.cpp"], dlink=False)\nlink(dlink=True)', path="setup.py"),
        clean('a = {"nvcc": ["-O3", "-mllvm", "-enable-post-misched=0", "-mllvm", "--frobnicate=1"]}', path="setup.py"),
        clean('a = {"cxx": ["-O3", "-g", "-G"]}', path="setup.py"),
        clean('"""Use --use_fast_math."""', path="setup.py"),
        fixes(
            'def more():\n    return ["--threads", get("N") or "4"]\n\n\na = {"nvcc": ["-O3"] + more()}',
            'def more():\n    return []\n\n\na = {"nvcc": ["-O3"] + more()}',
            path="setup.py",
        ),
        fixes(
            'def more(flags):\n    return flags + ["--threads", "4"]\n\n\na = {"nvcc": more(["-O3"])}',
            'def more(flags):\n    return flags + []\n\n\na = {"nvcc": more(["-O3"])}',
            path="setup.py",
        ),
        clean('def more():\n    return ["--threads", "4"]\n\n\nrun(more())', path="setup.py"),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """Yields findings; changes nothing."""
        root = tree(unit)
        if root is None:
            return
        chosen = decided(root)
        for found in flag_lists(root):
            if any(id(element) in chosen for element in found.elements):
                continue
            words = [_word(unit, element, number) for number, element in enumerate(found.elements)]
            for change in translate([word.text for word in words], all_known=found.certain, arch_flags=False):
                yield self._change(unit, found, words, change)
        yield from self._long_strings(unit, root)
        yield from self._device_links(unit, root)

    def _device_links(self, unit: BuildUnit, root: ast.Module) -> Iterator[Finding]:
        """`dlink=True`: torch writes a step of nvcc's for it, on AMD too."""
        for call in nodes_of(root):
            if not isinstance(call, ast.Call) or not ast.unparse(call.func).endswith("CUDAExtension"):
                continue
            for keyword in call.keywords:
                off = isinstance(keyword.value, ast.Constant) and not keyword.value.value
                if keyword.arg in ("dlink", "dlink_libraries") and not off:
                    start, end = place(unit, keyword.value)
                    message = f"{keyword.arg}: torch calls nvcc -dlink for it, and hipcc has no device link of its own"
                    yield self.finding(unit, start, end, message, Effort.MANUAL)

    def _change(self, unit: BuildUnit, found: FlagList, words: list[Word], change: Change) -> Finding:
        start, end = words[change.first].start, words[change.last - 1].end
        old = " ".join(_shown(unit, words, word.text) for word in words[change.first : change.last])
        if change.row is None:
            message = f"{old}: no row for this flag of nvcc; see what it does and whether clang has it"
            return self.finding(unit, start, end, message, Effort.REVIEW)
        if list(change.new) == [word.text for word in words[change.first : change.last]]:
            return self.finding(unit, start, end, f"{old}: {change.row.why}", change.row.effort)
        new = " ".join(_shown(unit, words, part) for part in change.new)
        message = f"{old} becomes {new}" if new else f"{old} is left out"
        if unit.settings.style == "dual":
            root = tree(unit)
            assert root is not None
            edits = (*_both(unit, found, words, change), *missing_imports(unit, root, "torch"))
        else:
            edits = _edits(unit, found, words, change)
        return self.finding(unit, start, end, f"{message}: {change.row.why}", change.row.effort, edits)

    def _long_strings(self, unit: BuildUnit, root: ast.Module) -> Iterator[Finding]:
        """Several flags in one string."""
        away = [place(unit, node) for node in nodes_of(root) if isinstance(node, ast.expr) and has_both_paths(node)]
        for string in strings(unit):
            if any(start <= string.start < end for start, end in away):
                continue
            if not string.value.lstrip().startswith("-") or " " not in string.value.strip():
                continue
            matches = re.finditer(r"\S+", string.value)
            words = [Word(string.inner + m.start(), string.inner + m.end(), m[0]) for m in matches]
            found = list(self.flags(unit, words, all_known=False, arch_flags=False))
            if unit.settings.style == "dual" and any(finding.edits for finding in found):
                changes = sorted(edit for finding in found for edit in finding.edits)
                old = unit.text[string.start : string.end]
                shifted = [Edit(e.start - string.start, e.end - string.start, e.text) for e in changes]
                new = f"({apply(old, shifted)} if {HIP_TEST} else {old})"
                edits = (Edit(string.start, string.end, new), *missing_imports(unit, root, "torch"))
                yield self.finding(unit, string.start, string.end, f"{old} gets a path for AMD", Effort.NONE, edits)
            else:
                yield from found


_EXPRESSION = re.compile(r"\$\(element_(\d+)\)")
"""A word that Python computes, by the number of its element: what it is in the source may hold blanks and commas."""


def _word(unit: BuildUnit, node: ast.expr, number: int) -> Word:
    start, end = place(unit, node)
    found = literal(unit, node)
    return Word(start, end, found.value if found is not None else f"$(element_{number})")


def _shown(unit: BuildUnit, words: list[Word], part: str) -> str:
    """A word as a message says it."""
    return _EXPRESSION.sub(lambda found: _source(unit, words, found), part)


def _quoted(unit: BuildUnit, words: list[Word], part: str, quote: str) -> str:
    """A word as Python's source: a literal, an expression of the file, or a sum of both."""
    pieces: list[str] = []
    done = 0
    for found in _EXPRESSION.finditer(part):
        pieces += [f"{quote}{part[done : found.start()]}{quote}"] if found.start() > done else []
        pieces.append(_source(unit, words, found))
        done = found.end()
    if done < len(part) or not pieces:
        pieces.append(f"{quote}{part[done:]}{quote}")
    return " + ".join(pieces)


def _source(unit: BuildUnit, words: list[Word], found: re.Match[str]) -> str:
    word = words[int(found[1])]
    return unit.text[word.start : word.end]


def _edits(unit: BuildUnit, found: FlagList, words: list[Word], change: Change) -> tuple[Edit, ...]:
    text = unit.text
    quote = next((text[w.start] for w in words[change.first : change.last] if text[w.start] in "'\""), '"')
    start, end = words[change.first].start, words[change.last - 1].end
    quoted = [_quoted(unit, words, part, quote) for part in change.new]
    if not found.statements:
        if quoted:
            return (Edit(start, end, ", ".join(quoted)),)
        return (_without(text, words, change),)
    statements = found.statements[change.first : change.last]
    edits: list[Edit] = []
    for number, statement in enumerate(statements):
        first, last = place(unit, statement)
        if number < len(quoted):
            edits.append(Edit(words[change.first + number].start, words[change.first + number].end, quoted[number]))
        else:
            edits.append(_without_statement(text, first, last))
    if len(quoted) > len(statements):
        return (Edit(start, end, ", ".join(quoted)),) if len(statements) > 1 else _extended(text, words, change, quoted)
    return tuple(edits)


def _both(unit: BuildUnit, found: FlagList, words: list[Word], change: Change) -> tuple[Edit, ...]:
    """Both vendors' words, chosen by what PyTorch was built for."""
    text = unit.text
    start, end = words[change.first].start, words[change.last - 1].end
    quoted = ", ".join(_quoted(unit, words, part, '"') for part in change.new)
    if not found.statements:
        return (Edit(start, end, f"*([{quoted}] if {HIP_TEST} else [{text[start:end]}])"),)
    edits = []
    for number, statement in enumerate(found.statements[change.first : change.last]):
        first, _ = place(unit, statement)
        name = text[first : text.rfind(".append", first, words[change.first + number].start)]
        added = f"{name}.extend([{quoted}] if {HIP_TEST} else [])\n" if quoted and number == 0 else ""
        line = text.rfind("\n", 0, first) + 1
        edits.append(Edit(first, first, f"{added}{text[line:first] if added else ''}if not {HIP_TEST}: "))
    return tuple(edits)


def _extended(text: str, words: list[Word], change: Change, quoted: list[str]) -> tuple[Edit, ...]:
    """`x.append(a)` with more than one new word: `x.extend([b, c])`."""
    start, end = words[change.first].start, words[change.first].end
    name = text.rfind("append", 0, start)
    return (Edit(name, name + len("append"), "extend"), Edit(start, end, f"[{', '.join(quoted)}]"))


def _without(text: str, words: list[Word], change: Change) -> Edit:
    """Takes elements out of a list, with one comma."""
    start, end = words[change.first].start, words[change.last - 1].end
    if change.last < len(words):
        return (
            Edit(start, words[change.last].start, "")
            if _same_line(text, start, words[change.last].start)
            else _lines(text, start, end, words[change.last].start)
        )
    if change.first > 0:
        return Edit(words[change.first - 1].end, end, "")
    return Edit(start, end, "")


def _same_line(text: str, start: int, end: int) -> bool:
    return "\n" not in text[start:end]


def _lines(text: str, start: int, end: int, following: int) -> Edit:
    """Elements that end their line: with the blanks before them when they stand alone on it."""
    comma = text.find(",", end, following)
    last = comma + 1 if comma >= 0 else end
    line = text.rfind("\n", 0, start) + 1
    if text[line:start].isspace() or line == start:
        newline = text.find("\n", last)
        if text[last:newline].strip() == "":
            return Edit(line, newline + 1, "")
        return Edit(start, last, "")
    before = start
    while text[before - 1] in " \t":
        before -= 1
    return Edit(before, last, "")


def _without_statement(text: str, start: int, end: int) -> Edit:
    """Takes a whole line out, or leaves `pass` where the block would be empty."""
    line = text.rfind("\n", 0, start) + 1
    newline = text.find("\n", end)
    if newline < 0 or text[line:start].strip() or text[end:newline].strip() or text[line:start] != "":
        return Edit(start, end, "pass")
    return Edit(line, newline + 1, "")
