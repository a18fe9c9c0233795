"""L170: functions of the project's own that clang has built in."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.syntax import closing
from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes

_BUILTINS = frozenset({"__rdtsc"})
_ENDS = frozenset({";", "{", "}"})
_AHEAD = b"#ifndef __clang__  // which has it built in\n"


class OwnBuiltin(Rule):
    """Function that clang has built in

    Projects define `__rdtsc` for themselves where Visual Studio has it and GCC wants a header. clang has it built in,
    and refuses a second definition. Clang leaves the project's out.
    """

    code = "L170"
    triggers = _BUILTINS
    examples = (
        fixes(
            """
            #include <stdint.h>
            static uint64_t inline
            __rdtsc() {
              return 0;
            }
            int x;
            """,
            """
            #include <stdint.h>
            #ifndef __clang__  // which has it built in
            static uint64_t inline
            __rdtsc() {
              return 0;
            }
            #endif
            int x;
            """,
            path="a.h",
        ),
        clean("unsigned long now() { return __rdtsc(); }", path="a.h"),
        clean("static unsigned long __rdtsc();", path="a.h"),
        clean("#ifndef __clang__\nstatic unsigned long __rdtsc() { return 0; }\n#endif", path="a.h"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per definition that is not clang's business already."""
        tokens, data = unit.tokens, unit.source.data
        if b"__clang__" in data:
            return
        for name in sorted(_BUILTINS & unit.identifiers):
            for index in tokens.names[name]:
                if tokens.texts[index + 1 : index + 2] != ["("] or tokens.directive_of(index) is not None:
                    continue
                after = closing(tokens, index + 1, len(tokens))
                if after is None or tokens.texts[after + 1] != "{" or tokens.texts[index - 1] in ("return", "=", "("):
                    continue
                end = closing(tokens, after + 1, len(tokens))
                if end is None:
                    continue
                first = index
                while first and tokens.texts[first - 1] not in _ENDS and tokens.directive_of(first - 1) is None:
                    first -= 1
                start = data.rfind(b"\n", 0, tokens.starts[first]) + 1
                stop = tokens.end(end)
                edits = (Edit(start, start, _AHEAD.decode()), Edit(stop, stop, "\n#endif"))
                yield self.finding(unit, unit.span(index), f"{name} is built into clang", Effort.NONE, edits)
