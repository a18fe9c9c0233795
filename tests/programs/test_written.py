"""Binary files of two sides: floats within the tolerances where the table says that they hold some."""

from __future__ import annotations

import struct

import pytest
from porter.validation.programs.agreement import Agreement, Compared
from porter.validation.programs.recipes import Program, programs_of
from porter.validation.programs.written import with_files

from porter.errors import Unusable

_COUNT = struct.pack("<i", 3)


def _compared(left: bytes, right: bytes, floats: int) -> Compared:
    program = Program("main", ("./main",), files=("out",), floats=floats)
    return with_files(Compared("main", Agreement.AGREE, ""), program, [{"out": left}, {"out": right}, {"out": left}])


@pytest.mark.parametrize(
    ("floats", "kind", "values", "agreement"),
    [
        (4, "f", (1.0, 2.0, 3.0001), Agreement.AGREE),
        (4, "f", (1.0, 2.0, 3.1), Agreement.DIFFER),
        (4, "f", (1.0, float("nan"), 3.0), Agreement.DIFFER),
        (4, "f", (1.0, float("inf"), 3.0), Agreement.DIFFER),
        (4, "i", (5, 6, 7), Agreement.DIFFER),
        (0, "f", (1.0, 2.0, 3.0000002), Agreement.DIFFER),
    ],
)
def test_floats_of_a_binary_file(floats: int, kind: str, values: tuple[float, ...], agreement: Agreement) -> None:
    """A count before them is no float, and compared exactly; NaN agrees with NaN alone."""
    left = _COUNT + struct.pack("<3f", 1, 2, 3) if kind == "f" else _COUNT + struct.pack("<3i", 5, 6, 8)
    right = _COUNT + struct.pack(f"<3{kind}", *values)
    assert _compared(left, right, floats).agreement is agreement
    assert _compared(left, struct.pack("<i", 4) + left[4:], floats).agreement is Agreement.DIFFER


def test_doubles_and_nans() -> None:
    left = struct.pack("<3d", 1e-300, float("nan"), 2)
    assert _compared(left, struct.pack("<3d", 1e-300, float("nan"), 2.0001), 8).agreement is Agreement.AGREE
    assert _compared(left, left[:-8], 8).agreement is Agreement.DIFFER
    assert _compared(left, struct.pack("<3d", 1e-300, float("nan"), 2.1), 8).reason == "out: value 2 as f8: 2 and 2.1"


def test_a_difference_says_how_far_floats_are_apart() -> None:
    """But not of what is none: counts, text of another length, colours."""
    left = _COUNT + struct.pack("<3f", 1, 2, 3)
    told = _compared(left, _COUNT + struct.pack("<3f", 1, 2, 3.0000005), 0).reason
    assert told.startswith("out: they differ from byte 12 on (as 32-bit floats 1 of 4 differ, by 1.6e-07 of their size")
    for other in (struct.pack("<i", 4) + left[4:], left + b"\0", left[:-4] + b"\xff\xff\xff\xff"):
        assert "floats" not in _compared(left, other, 0).reason


def test_the_key_says_how_many_bytes() -> None:
    assert programs_of(({"run": "./a", "floats": 8},))[0].floats == 8
    for wrong in (2, True, "4"):
        with pytest.raises(Unusable, match="floats must be 4 or 8"):
            programs_of(({"run": "./a", "floats": wrong},))
