"""L170: functions of the project's own that clang has built in, or HIP."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.syntax import closing
from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes, reports

_AHEAD = {
    "__rdtsc": "#ifndef __clang__  // which has it built in",
    "__smid": "#ifndef __HIPCC__  // HIP has this function",
}
_OF_64_LANES = frozenset({"__lane_id", *(f"__lanemask_{how}" for how in ("lt", "le", "eq", "ge", "gt"))})
_BUILTINS = _OF_64_LANES | _AHEAD.keys()
_ENDS = frozenset({";", "{", "}"})


class OwnBuiltin(Rule):
    """Function that clang has built in, or HIP

    Projects define `__rdtsc` for themselves where Visual Studio has it and GCC wants a header. clang has it built in,
    and refuses a second definition. Clang leaves the project's out, and HIP's compiler a `__smid` that reads the
    register, which HIP has. Its `__lane_id` and masks are those of 64 lanes, so a project's own get another name
    (`own_lane_id`) where they are defined and in each file that sees their definition.
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
        fixes(
            "__device__ unsigned __smid() { unsigned r; read(&r); return r; }\nint x;",
            "#ifndef __HIPCC__  // HIP has this function\n"
            "__device__ unsigned __smid() { unsigned r; read(&r); return r; }\n#endif\nint x;",
            path="a.h",
        ),
        fixes(
            "__device__ unsigned __lane_id() { return threadIdx.x & 31; }\n"
            "__device__ int f() { return __lane_id() + 1; }",
            "__device__ unsigned own_lane_id() { return threadIdx.x & 31; }\n"
            "__device__ int f() { return own_lane_id() + 1; }",
            path="a.h",
        ),
        reports("int own_lane_id;\n__device__ unsigned __lane_id() { return threadIdx.x & 31; }", path="a.h"),
        clean("#ifndef __HIPCC__\n__device__ unsigned __smid() { return 0; }\n#endif", path="a.h"),
        clean("__device__ unsigned f() { return __smid() + __lane_id(); }", path="a.h"),
        clean("unsigned long now() { return __rdtsc(); }", path="a.h"),
        clean("static unsigned long __rdtsc();", path="a.h"),
        clean("#ifndef __clang__\nstatic unsigned long __rdtsc() { return 0; }\n#endif", path="a.h"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per definition that is not clang's business already."""
        tokens, text, newline = unit.tokens, unit.source.text, unit.source.newline
        if "__clang__" in text or "__HIPCC__" in text or "__HIP_PLATFORM" in text:
            return
        for name in sorted(_OF_64_LANES & unit.identifiers):
            yield from self._renamed(unit, name)
        for name in sorted(_AHEAD.keys() & unit.identifiers):
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
                start = text.rfind("\n", 0, tokens.starts[first]) + 1
                stop = tokens.end(end)
                edits = (Edit(start, start, f"{_AHEAD[name]}{newline}"), Edit(stop, stop, f"{newline}#endif"))
                message = f"{name} is there already with HIP's compiler"
                yield self.finding(unit, unit.span(index), message, Effort.NONE, edits)

    def _renamed(self, unit: Unit, name: str) -> Iterator[Finding]:
        """The project's own at each place, by another name; one finding where that is taken."""
        if not unit.program.declares(name):
            return
        new = f"own_{name.strip('_')}"
        places = unit.tokens.names[name]
        if unit.program.declares(new):
            message = f"HIP has {name} for 64 lanes: rename the project's own"
            yield self.finding(unit, unit.span(places[0]), message, Effort.MANUAL)
            return
        for index in places:
            span = unit.span(index)
            message = f"HIP has {name} for 64 lanes: the project's own is {new}"
            yield self.finding(unit, span, message, Effort.NONE, (Edit(span.start, span.end, new),))
