"""K401: compilation databases."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from porter.buildfiles.flags import Word
from porter.buildfiles.rule import BuildRule, BuildUnit, Edit, Effort, Finding, Kind, clean, fixes

_COMMAND = re.compile(r'"command"\s*:\s*"((?:[^"\\]|\\.)*)"')
_ARGUMENTS = re.compile(r'"arguments"\s*:\s*\[((?:[^\]"]|"(?:[^"\\]|\\.)*")*)\]')
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_NVCC = re.compile(r"(?:\S*/)?nvcc")


class CompileCommands(BuildRule):
    """nvcc in a compilation database

    Commands that call nvcc call hipcc, with the flags of rules/buildfiles/flags.toml. The file is usually made by the
    build: configure again where that is possible.
    """

    code = "K401"
    kinds = frozenset({Kind.COMMANDS})
    hazards = ("nvcc-flags-rejected",)
    examples = (
        fixes(
            '[{"file": "a.c", "command": "/usr/bin/nvcc -arch=sm_80 -Xcompiler -Wall -c a.c"}]',
            '[{"file": "a.c", "command": "hipcc --offload-arch=gfx942 -Wall -c a.c"}]',
            path="compile_commands.json",
        ),
        fixes(
            '[{"arguments": ["nvcc", "-lineinfo", "-c"]}]',
            '[{"arguments": ["hipcc", "-gline-tables-only", "-c"]}]',
            path="compile_commands.json",
        ),
        clean('[{"file": "nvcc", "command": "g++ -G -c a.c"}]', path="compile_commands.json"),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """Yields findings; changes nothing."""
        for match in _COMMAND.finditer(unit.text):
            words = [
                Word(match.start(1) + w.start(), match.start(1) + w.end(), w[0]) for w in re.finditer(r"\S+", match[1])
            ]
            yield from self._words(unit, words, " ")
        for match in _ARGUMENTS.finditer(unit.text):
            words = [
                Word(match.start(1) + s.start(), match.start(1) + s.end(), s[1]) for s in _STRING.finditer(match[1])
            ]
            for finding in self._words(unit, words, '", "'):
                yield replace(finding, edits=tuple(_quoted(unit.text, edit) for edit in finding.edits))

    def _words(self, unit: BuildUnit, words: list[Word], glue: str) -> Iterator[Finding]:
        if words and _NVCC.fullmatch(words[0].text):
            start, end = words[0].start, words[0].end
            yield self.finding(unit, start, end, "nvcc becomes hipcc", Effort.NONE, (Edit(start, end, "hipcc"),))
            yield from self.flags(unit, words[1:], all_known=True, arch_flags=True, glue=glue)


def _quoted(text: str, edit: Edit) -> Edit:
    """An edit of whole strings of a JSON array."""
    if edit.text:
        return edit._replace(text=f'"{edit.text}"')
    start = edit.start
    while text[start - 1] in " \t\r\n":
        start -= 1
    return edit._replace(start=start - 1) if text[start - 1] == "," else edit
