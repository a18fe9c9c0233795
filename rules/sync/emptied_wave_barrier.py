"""S104: a macro that makes the warp barrier vanish."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.syntax import Macro
from porter.engine.rule import Dialect, Edit, Effort, Finding, Rule, Unit, clean, fixes
from porter.warp.bodies import bodies_of

_PUNCTUATION = frozenset("(){};")
_NOTHING = frozenset({"", "do while 0", "do while false", "void", "void 0", "static_cast < void > 0"})


class EmptiedWaveBarrier(Rule):
    """Macro that is a warp barrier in one branch and nothing in the other

    `#define SYNC_WARP()` without a body, beside `#define SYNC_WARP() __syncwarp()`: for GPUs whose warps run in
    lockstep nothing seemed to be needed. On gfx942 the wavefront runs in lockstep, but the compiler reorders shared
    memory across the missing barrier. The empty branch gets the barrier, which costs no instruction.
    """

    code = "S104"
    dialect = Dialect.BOTH
    triggers = frozenset({"__syncwarp"})
    hazards = ("syncwarp-dropped-to-nothing",)
    examples = (
        fixes(
            "#if CUDART_VERSION >= 9000\n#define SYNC() __syncwarp()\n#else\n#define SYNC()\n#endif",
            "#if CUDART_VERSION >= 9000\n#define SYNC() __syncwarp()\n#else\n#define SYNC() porter::syncwarp()\n#endif",
        ),
        fixes(
            "#ifdef __HIPCC__\n#define __syncwarp()\n#endif",
            "#ifdef __HIPCC__\n#define __syncwarp() porter::syncwarp()\n#endif",
        ),
        fixes(
            "#ifdef CUDA9\n#define SYNC(m) __syncwarp(m)\n#else\n#define SYNC(m) (void)0\n#endif",
            "#ifdef CUDA9\n#define SYNC(m) __syncwarp(m)\n#else\n#define SYNC(m) porter::syncwarp()\n#endif",
        ),
        fixes(
            "#ifdef CUDA9\n#define SYNC __syncwarp()\n#else\n#define SYNC {}\n#endif",
            "#ifdef CUDA9\n#define SYNC __syncwarp()\n#else\n#define SYNC porter::syncwarp()\n#endif",
        ),
        fixes(
            "#ifdef CUDA9\n#define SYNC(m) __syncwarp(m)\n#else\n#define SYNC(m) (void)(m)\n#endif",
            "#ifdef CUDA9\n#define SYNC(m) __syncwarp(m)\n#else\n#define SYNC(m) porter::syncwarp()\n#endif",
        ),
        clean("#ifdef CUDA9\n#define SYNC(m) __syncwarp(m)\n#else\n#define SYNC(m) wait(m)\n#endif"),
        clean("#define SYNC() __syncwarp()\n#define NOTHING()"),
        clean("#ifdef A\n#define LOG(x) print(x)\n#else\n#define LOG(x)\n#endif\n#define SYNC() __syncwarp()"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per empty branch."""
        tokens = unit.tokens
        for name, macros in bodies_of(unit).constants.macros.items():
            is_barrier = name == "__syncwarp" or any("__syncwarp" in tokens.texts[m.first : m.last] for m in macros)
            for macro in macros if is_barrier else ():
                if self._does_nothing(unit, macro):
                    yield self._finding(unit, name, macro)

    @staticmethod
    def _does_nothing(unit: Unit, macro: Macro) -> bool:
        texts = unit.tokens.texts[macro.first : macro.last]
        idle = _PUNCTUATION.union(macro.parameters or ())
        return " ".join(text for text in texts if text not in idle) in _NOTHING

    def _finding(self, unit: Unit, name: str, macro: Macro) -> Finding:
        tokens = unit.tokens
        span = unit.span(macro.place)
        head = tokens.end(max(macro.place, macro.first - 1))
        end = tokens.end(macro.last - 1) if macro.last > macro.first else head
        message = (
            f"{name} is a warp barrier elsewhere and nothing here: the barrier added [syncwarp-dropped-to-nothing]"
        )
        edit = Edit(head, end, " porter::syncwarp()")
        return self.finding(unit, span, message, Effort.NONE, (edit,), ("porter/warp32.hpp",))
