"""R026: the driver's search for a block size, with an argument that HIP has not."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes, reports

_COUNTS = {"cuOccupancyMaxPotentialBlockSize": 6, "cuOccupancyMaxPotentialBlockSizeWithFlags": 7}
"""Of CUDA's arguments."""
_CALLBACK = 3
_NONE = frozenset({"0", "NULL", "nullptr"})


class OccupancyCallback(Rule):
    """Block size by shared memory per block size

    `cuOccupancyMaxPotentialBlockSize` takes a function that tells the dynamic shared memory for a block size; HIP's
    `hipModuleOccupancyMaxPotentialBlockSize` takes the bytes alone. Where the function is null, the argument is left
    out; else the bytes have to be known, or sizes tried one by one.
    """

    code = "R026"
    triggers = frozenset(_COUNTS)
    answers = triggers
    examples = (
        fixes(
            "void f(CUfunction k) { cuOccupancyMaxPotentialBlockSize(&g, &b, k, NULL, 0, 0); }",
            "void f(CUfunction k) { cuOccupancyMaxPotentialBlockSize(&g, &b, k, 0, 0); }",
        ),
        fixes(
            "void f(CUfunction k) { cuOccupancyMaxPotentialBlockSizeWithFlags(&g, &b, k, nullptr, s, 0, 0); }",
            "void f(CUfunction k) { cuOccupancyMaxPotentialBlockSizeWithFlags(&g, &b, k, s, 0, 0); }",
        ),
        reports("void f(CUfunction k) { cuOccupancyMaxPotentialBlockSize(&g, &b, k, bytes_of, 0, 0); }"),
        reports("auto f = &cuOccupancyMaxPotentialBlockSize;"),
        clean("void f(CUfunction k) { pool.cuOccupancyMaxPotentialBlockSize(&g, &b, k, NULL, 0, 0); }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per mention."""
        for name, count in _COUNTS.items():
            for index in unit.occurrences(name):
                span, arguments = unit.span(index), unit.arguments(index)
                if len(arguments) == count - 1:
                    continue  # HIP's
                if len(arguments) == count and unit.slice(arguments[_CALLBACK]) in _NONE:
                    edit = Edit(arguments[_CALLBACK - 1].end, arguments[_CALLBACK].end, "")
                    yield self.finding(unit, span, f"{name}: HIP takes no function there", Effort.NONE, (edit,))
                else:
                    message = f"{name}: HIP takes no function for the shared memory of a block, the bytes alone"
                    yield self.finding(unit, span, message, Effort.MANUAL)
