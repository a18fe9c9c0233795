"""What is checked: one kernel, its arguments, launch, shapes, reference and tolerance. docs/cases.md is the format."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from porter.validation.cases.expression import BadExpression, Expression, Number
from porter.validation.cases.records import Member
from porter.validation.cases.sampling import Sampling
from porter.validation.cases.triton_source import TritonSource

SUFFIX = ".case.toml"
AWKWARD = (0, 1, 31, 32, 33, 63, 64, 65, 97, 127, 128, 129, 1000)
"""Sizes that break kernels; `"awkward"` in a sweep stands for them."""
MOST_BYTES = 4 << 30
"""A trial that needs more memory for one array is refused."""

DTYPES = (
    *("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *("float16", "bfloat16", "float32", "float64"),
)
KINDS = ("in", "out", "inout", "scratch", "scalar", "struct", "null", "texture", "surface")
ARRAYS = ("in", "out", "inout", "scratch")
WRITTEN = ("out", "inout")
PROFILES = ("random", "cancellation", "denormal", "nonfinite", "ties")
PRINTED = "printed"
NUMPY_TYPES = tuple(dtype for dtype in DTYPES if dtype != "bfloat16")
"""Types of variables that can be compared."""
POLICIES = ("table", "exact", "accurate", "fixed")
Symbols = dict[str, Number]
ANY_STRING = ""
"""For `Case.string`: whichever string has the kernel."""
LANES = "lanes"
"""In grid, block and shared: lanes per warp of the side that is launched, 64 for a kernel that porter widened."""


class CaseError(Exception):
    """Something about a case file is wrong: where, and what."""

    def __init__(self, path: Path, line: int, message: str) -> None:
        super().__init__(f"{path}:{line}: {message}")
        self.path, self.line, self.message = path, line, message


@dataclass(frozen=True)
class Values:
    """What an array holds before the launch."""

    kind: str
    """`normal`, `uniform`, `integers`, `constant`, `arange`, `bits`, `hook` or `file`."""
    low: Expression | None = None
    high: Expression | None = None
    hook: str | None = None
    """`file.py:function`, or `file.npy`."""


@dataclass(frozen=True)
class Field:
    """One member of a struct that is passed by value."""

    dtype: str
    """Of a pointer, `address`."""
    value: Expression = field(default_factory=lambda: Expression("0"))
    array: str = ""
    """The array whose address it is."""
    at: int | None = None
    """Bytes from the start of the struct, where that is not the next place that its type allows."""


ADDRESS = "address"


@dataclass(frozen=True)
class Argument:
    """One parameter of the kernel, or an array that a struct points to."""

    name: str
    kind: str
    dtype: str
    line: int
    shape: tuple[Expression, ...] = ()
    values: Values | None = None
    value: Expression | None = None
    """Of a scalar."""
    fields: tuple[Field, ...] = ()
    """Of a struct: its members, in order."""
    size: int | None = None
    """Of a struct: its bytes, where they are not what its members take."""
    behind: str = ""
    """The struct, or variable, that has its address: the kernel is not passed it."""
    points_to: str = ""
    """Of members that are pointers: the array whose address they hold."""
    layout: str = "row"
    """`row`, or `column`: the first index runs fastest."""
    pitch: Expression | None = None
    """Elements from one row (or column) to the next, when there is padding between."""
    offset: Expression | None = None
    """Elements from an aligned address to the first one."""
    partial: bool = False
    """The kernel writes only where the reference has a value: not past its end, not where it is NaN."""
    any_order: bool = False
    plain: bool = False
    """Takes no part in value profiles."""
    view: str | None = None
    """Passed as PyTorch's accessor or TensorInfo of these elements, by value."""
    image: Sampling | None = None
    """Passed as a texture or surface object over these elements."""
    member: Member | None = None
    """These elements are a member of the structures of an array, which is passed once for all of them."""

    @property
    def parameter(self) -> str:
        """What the kernel is passed: itself, or the array whose member it is."""
        return self.member.array if self.member else self.name

    @property
    def is_array(self) -> bool:
        """Whether it is passed by pointer."""
        return self.kind in ARRAYS

    @property
    def is_written(self) -> bool:
        """Whether it is compared after the launch."""
        return self.kind in WRITTEN


@dataclass(frozen=True)
class Tolerance:
    """How far from the reference a result may be."""

    policy: str = "table"
    reduction: Expression = field(default_factory=lambda: Expression("1"))
    """How many terms are added up for one element."""
    rtol: float | None = None
    atol: float | None = None
    slack: float = 1.1
    """With `accurate`: how many times the original's error the port may have."""


@dataclass(frozen=True)
class Case:
    """One kernel to be checked."""

    name: str
    path: Path
    line: int
    source: Path
    kernel: str
    grid: tuple[Expression, ...]
    block: tuple[Expression, ...]
    arguments: tuple[Argument, ...]
    root: Path
    """The folder that is ported."""
    is_object: bool = False
    """`source` is a library or code object that something else built: there is no original, and nothing to port."""
    triton: TritonSource | None = None
    """The kernel is a Triton kernel in `source`, compiled for each device; nothing is ported."""
    string: str | None = None
    """The string of the source that holds the kernel; empty: whichever does; None: the kernel is in the source."""
    shared: Expression = field(default_factory=lambda: Expression("0"))
    cooperative: bool = False
    symbols: tuple[tuple[str, Expression], ...] = ()
    sweep: tuple[tuple[tuple[str, tuple[Number, ...]], ...], ...] = ()
    constants: tuple[Argument, ...] = ()
    """`__constant__` or `__device__` variables that are set before the launch."""
    reference: str | None = None
    """`file.py:function`, relative to the case file."""
    tolerance: Tolerance = field(default_factory=Tolerance)
    seeds: tuple[int, ...] = (1,)
    profiles: tuple[str, ...] = ("random",)
    deterministic: bool = True
    races: bool = True
    """Whether races in shared and global memory are looked for."""
    initialised: bool = True
    """Whether the use of values that nothing wrote is looked for."""
    one_generator: bool = False
    """Whether random numbers of device code come from a generator that both sides share, in place of the vendors'."""
    observed: tuple[str, ...] = ()
    """What is compared beside the arrays: `printed`, and variables as `total: int32`."""
    port: Path | None = None
    """The ported file, where it is not porter's own."""
    port_lanes: int = 32
    """Lanes that a warp of that ported file has."""
    include_dirs: tuple[Path, ...] = ()
    defines: tuple[str, ...] = ()
    cuda_options: tuple[str, ...] = ()
    hip_options: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    """Lines of C++ before the source, for original and port alike: what nothing defines."""
    bytes: Expression | None = None
    operations: Expression | None = None
    not_run: tuple[tuple[str, str], ...] = ()
    """Device (or `*`) and the reason why the case is not run on it."""
    lines: Mapping[str, int] = field(default_factory=dict)
    """Where its keys stand."""

    @property
    def prints(self) -> bool:
        """Whether what is printed is compared."""
        return PRINTED in self.observed

    @property
    def variables(self) -> dict[str, str]:
        """The variables that are compared, and the types of their elements."""
        pairs = (one.partition(": ") for one in self.observed if one != PRINTED)
        return {name: dtype for name, _, dtype in pairs}

    @property
    def parameters(self) -> tuple[str, ...]:
        """What the kernel is passed, in order."""
        return tuple(dict.fromkeys(one.parameter for one in self.arguments if not one.behind))

    @property
    def launched(self) -> tuple[str, ...]:
        """What a launch is given: the parameters, then the arrays that structs among them point to."""
        return (*self.parameters, *dict.fromkeys(one.parameter for one in self.arguments if one.behind))

    @property
    def is_built(self) -> bool:
        """Whether it needs no compiler of C++ and no port."""
        return self.is_object or self.triton is not None

    @property
    def folder(self) -> Path:
        """Where hooks and references are looked for."""
        return self.path.parent

    @property
    def identifier(self) -> str:
        """`file.case.toml::name`."""
        return f"{self.path.name}::{self.name}"

    def error(self, message: str, key: str = "") -> CaseError:
        """An error about one of its keys."""
        return CaseError(self.path, self.lines.get(key, self.line), message)

    def reason_not_run(self, device: str) -> str | None:
        """Why the file says that it is not run on a device."""
        reasons = dict(self.not_run)
        return reasons.get(device) or reasons.get("*")

    def shapes(self) -> Iterator[Symbols]:
        """Every combination of the sweep, with the derived symbols; raises CaseError."""
        for table in self.sweep or ((),):
            names = [name for name, _ in table]
            for values in itertools.product(*(values for _, values in table)):
                symbols: Symbols = dict(zip(names, values, strict=True))
                for name, expression in self.symbols:
                    if name not in symbols:
                        symbols[name] = self.number(expression, symbols, "symbols")
                yield symbols

    def number(self, expression: Expression, symbols: Symbols, key: str) -> Number:
        """The value of an expression; raises CaseError."""
        try:
            return expression.value(symbols)
        except BadExpression as error:
            raise self.error(f"{key}: {error}", key) from None

    def integer(self, expression: Expression, symbols: Symbols, key: str) -> int:
        """The value of an expression as a whole number; raises CaseError."""
        try:
            return expression.integer(symbols)
        except BadExpression as error:
            raise self.error(f"{key}: {error}", key) from None


def select(cases: tuple[Case, ...], wanted: tuple[str, ...]) -> tuple[Case, ...]:
    """The cases whose name is named; all when nothing is."""
    return tuple(case for case in cases if case.name in wanted) if wanted else cases
