"""Which multiply-adds are the products of matrices that MFMA would do, from the machine code that ran. Pure.

Such a multiply-add adds to its own register, and both factors come straight from memory or the LDS, at most through a
conversion from 16 bits. Where what reaches the CU is used but a few times each (a matrix times a vector), it is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from porter.validation.estimate.chip import LINE
from porter.validation.estimate.issue import Issue, issue
from porter.validation.estimate.work import Step

WAVE = 64
LEAST_USES = 4.0
"""Multiplications per element that comes to the CU: tiles of 8 by 8 have four."""
_ADDING = re.compile(r"v_(?:pk_)?(?:fma|fmac|mac|mad)_(?:mix(?:lo|hi)?_)?(f16|f32|f64)(?:_e32|_e64|_sdwa|_dpp)?")
_MATRIX = {"half": "v_mfma_f32_16x16x16_f16", "double": "v_mfma_f64_16x16x4_f64"}
_OPERATIONS = {"half": 2 * 16 * 16 * 16, "double": 2 * 16 * 16 * 4}
_BYTES = {"half": 2, "double": 8}
_VECTOR = re.compile(r"[-|]?([va])(?:(\d+)|\[(\d+):(\d+)\])\|?")
_COPIES = ("v_mov_b32", "v_mov_b64", "v_accvgpr_")
_WIDENED = re.compile(r"v_cvt_f32_f16|v_lshlrev_b32\w*\s+\S+\s+16,|v_and_b32\w*\s+\S+\s+0xffff0000,")


@dataclass(frozen=True)
class Products:
    """Multiply-adds by their place in the program, each with the type that MFMA would take them in."""

    kinds: dict[int, str]

    def on_mfma(self, program: Sequence[Step]) -> tuple[Step, ...]:
        """The same program when MFMA does them, at its full pace."""
        return tuple(
            replace(step, issue=_instead(step, self.kinds[at])) if at in self.kinds else step
            for at, step in enumerate(program)
        )

    def of(self, program: Sequence[Step]) -> tuple[Step, ...]:
        """They alone."""
        return tuple(step for at, step in enumerate(program) if at in self.kinds)


def products(program: Sequence[Step]) -> Products:
    """Those of a program; none where each element is used only a few times."""
    kinds = dict(_found(program))
    used: dict[str, float] = {}
    for at, kind in kinds.items():
        used[kind] = used.get(kind, 0.0) + program[at].executed.lanes * _packed(program[at])
    came = sum(step.executed.l2_requests for step in program if step.issue.unit == "vmem" and not step.writes) * LINE
    enough = {kind for kind, times in used.items() if times >= LEAST_USES * came / _BYTES[kind]}
    return Products({at: kind for at, kind in kinds.items() if kind in enough})


def _packed(step: Step) -> int:
    return 2 if step.mnemonic.startswith("v_pk_") else 1


def _instead(step: Step, kind: str) -> Issue:
    matrix = issue(_MATRIX[kind])
    return replace(matrix, cycles=2 * WAVE * _packed(step) * matrix.cycles / _OPERATIONS[kind])


def _found(program: Sequence[Step]) -> Iterator[tuple[int, str]]:
    """(place, type). Twice through the program: a loop's first instructions see what its last ones left."""
    held: dict[str, str] = {}
    for turn in range(2):
        for at, step in enumerate(program):
            words = step.executed.site.text.split(None, 1)
            operands = [one.strip() for one in words[1].split(",")] if len(words) == 2 else []
            if not operands:
                continue
            adding = _ADDING.fullmatch(words[0])
            if turn and adding and step.executed.runs and (kind := _kind(adding[1], words[0], operands, held)):
                yield at, kind
            left = _left(step, words[0], operands, held)
            held.update(dict.fromkeys(_registers(operands[0]), left))


def _kind(width: str, mnemonic: str, operands: Sequence[str], held: Mapping[str, str]) -> str | None:
    """Of one multiply-add that adds to its own register what memory gave."""
    own = _registers(operands[0])
    addend = _registers(operands[3]) if len(operands) > 3 else own
    factors = [{held.get(name, "") for name in _registers(one)} for one in operands[1:3]]
    if own != addend or not own:
        return None
    if width == "f64":
        return "double" if all(one == {"loaded"} for one in factors) else None
    if width == "f16" or "_mix" in mnemonic:
        return "half" if all(one and one <= {"loaded"} for one in factors) else None
    return "half" if all(one == {"widened"} for one in factors) else None


def _left(step: Step, mnemonic: str, operands: Sequence[str], held: Mapping[str, str]) -> str:
    """What an instruction leaves in its first register."""
    if step.issue.unit in ("vmem", "lds") and not step.writes:
        return "loaded"
    if len(operands) < 2:
        return ""
    sources = {held.get(name, "") for one in operands[1:] for name in _registers(one)}
    if mnemonic.startswith(_COPIES) and len(sources) == 1:
        return sources.pop()
    widens = _WIDENED.match(step.executed.site.text) is not None and sources <= {"loaded"}
    return "widened" if widens else ""


def _registers(operand: str) -> tuple[str, ...]:
    """Vector registers of an operand, one name for each 32 bits; modifiers behind it do not count."""
    match = _VECTOR.match(operand)
    if not match:
        return ()
    kind, one, first, last = match.groups()
    numbers = (int(one),) if one else range(int(first), int(last) + 1)
    return tuple(f"{kind}{number}" for number in numbers)
