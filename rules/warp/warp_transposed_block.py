"""W111: a warp-transposed block primitive on a block that is no multiple of the wavefront."""

from __future__ import annotations

from collections.abc import Iterator

from porter.model import Edit, Effort, Finding
from porter.rule import Rule, clean, fixes
from porter.unit import Unit
from porter.warp.bodies import bodies_of
from porter.warp.postfix import chain_start
from porter.warp.syntax import parse_expression
from porter.written import split_commas, template_end

_CLASSES = {"BlockLoad": "BLOCK_LOAD", "BlockStore": "BLOCK_STORE"}
_ROOTS = frozenset({"cub", "hipcub"})
_WAVEFRONT = 64


class WarpTransposedBlock(Rule):
    """Warp-transposed loads in a block of part of a wavefront

    `cub::BlockLoad<T, 32, N, BLOCK_LOAD_WARP_TRANSPOSE>` works on any multiple of 32 threads; rocPRIM asserts a
    multiple of the wavefront's 64. For other blocks the plain transposed algorithm takes its place: same result, other
    temporary storage.
    """

    code = "W111"
    triggers = frozenset(_CLASSES)
    hazards = ("rocprim-warp-multiple",)
    examples = (
        fixes(
            "using Load = cub::BlockLoad<int, 32, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>;",
            "using Load = cub::BlockLoad<int, 32, 4, cub::BLOCK_LOAD_TRANSPOSE>;",
        ),
        clean("using Load = cub::BlockLoad<int, 128, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>;"),
        clean("using Load = cub::BlockLoad<int, 32, 4, cub::BLOCK_LOAD_DIRECT>;"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per class."""
        tokens = unit.tokens
        for name, prefix in _CLASSES.items():
            algorithm = f"{prefix}_WARP_TRANSPOSE"
            for index in tokens.names.get(name, ()) if algorithm in tokens.names else ():
                first = chain_start(tokens, index)
                after = template_end(tokens, index + 1, len(tokens)) if unit.next_is(index, "<") else None
                if after is None or _ROOTS.isdisjoint(tokens.texts[first : index + 1]):
                    continue
                arguments = split_commas(tokens, index + 2, after - 1)
                place = next((i for i in range(index, after) if tokens.texts[i] == algorithm), None)
                if place is None or len(arguments) < 2:
                    continue
                threads = bodies_of(unit).constants.value(parse_expression(tokens, *arguments[1]))
                if threads is None or threads % _WAVEFRONT == 0:
                    continue
                span = unit.span(place)
                message = (
                    f"rocPRIM transposes by wavefronts; {threads} threads are no multiple of 64 [rocprim-warp-multiple]"
                )
                edit = Edit(span.start, span.end, f"{prefix}_TRANSPOSE")
                yield self.finding(unit, span, message, Effort.NONE, (edit,))
