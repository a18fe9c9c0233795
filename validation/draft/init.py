"""`porter cases init`: a draft of a case file from signatures and launch sites; what they do not tell is marked."""

from __future__ import annotations

import functools
import keyword
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from porter.validation.cases.argument_rows import TODO
from porter.validation.cases.case import LANES, SUFFIX
from porter.validation.cases.expression import FUNCTIONS, BadExpression, Expression
from porter.validation.cases.file import SCHEMA
from porter.validation.draft.arguments import lines_of
from porter.validation.draft.assumed import FUNCTORS, define_types
from porter.validation.draft.blocks import block_of, strides_of
from porter.validation.draft.build import Build
from porter.validation.draft.build_values import Given, value_in_builds
from porter.validation.draft.completing import alone, guards_of_name, knowing, parameter_types, with_lines
from porter.validation.draft.conditions import guards_of
from porter.validation.draft.configured import Configured, configured_headers
from porter.validation.draft.constants import constants_of, observed
from porter.validation.draft.definers import definer
from porter.validation.draft.expression import Unknown, Value
from porter.validation.draft.generators import draws, one_generator
from porter.validation.draft.kernel import cancels, loop_bounds
from porter.validation.draft.lines import Line
from porter.validation.draft.python import python_string_units
from porter.validation.draft.sizes import Sizes, sizes_of
from porter.validation.draft.string import StringUnit, string_units
from porter.validation.draft.template import Instance, instances
from porter.validation.draft.unit import SourceText, read_unit

from porter.cpp.constants import number as integer
from porter.errors import Unusable
from porter.model import Kernel
from porter.project.naming import usual_name
from porter.system.reading import read_regular

_COOPERATIVE = "LaunchCooperativeKernel"
_MOST_NAMES = 6
_FEW_TERMS = 4
"""Of products that are added up without a loop: they may cancel."""
_TERMS = 64
"""Added up in a loop that does not tell how far it runs."""
_QUIET = re.compile(
    r'(  "(?:in|inout) \w+: (?:u?int\d+|\([^)]*\))\[[^\]]*\])(?: = (?:integers\(0, .*\)|arange))?(",)$', re.MULTILINE
)
_STEADY = re.compile(
    r'(  "(?:in|inout) \w+: \([^)]*\baddress\b[^)]*\)\[[^\]]*\])(?: = (?:integers\(0, .*\)|arange))?(",)$'
)
_EXTENT = 32
_WORD = re.compile(r"[A-Za-z_]\w*")
_FEWEST = 257
_ROOMIER = (8, 32, 100, 1 << 16)
_SIDES = (8, 16, 32)
_LARGE = re.compile(r"(?<![\w.])\d{6,}(?![\w.])")
_LARGEST_BITS = 17
_WHOLE = re.compile(r"(?<![\w.)])(?:[89]|[1-9]\d+)(?![\w.])")
_SMALLEST = 4
_ASKS = re.compile(
    r"\b(?:f?(?:max|min)f?|(?:max|min)imum|__h(?:max|min)2?(?:_nan)?|(?:__h?)?is(?:nan|inf|finite)|saturate|clamp)\s*\("
)


@dataclass(frozen=True)
class DraftedCase:
    """One `[[case]]`; its sweep can be chosen."""

    name: str
    kernel: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    sizes: Sizes
    notes: tuple[str, ...]
    assumes: bool = False
    """Whether nothing told a template argument."""
    first: tuple[str, ...] = ()
    """What the source's includer includes before it, as include folders reach it."""
    guards: tuple[str, ...] = ()
    """Macros that nothing defines, and without which the kernel is left out."""
    defines: tuple[str, ...] = ()
    """What the build defines for all cases; a case with definitions of its own repeats it."""
    configured: tuple[Configured, ...] = ()
    """Headers that the build makes, and what they define with every option off."""
    switched_off: Configured | None = None
    """The one that the case's definitions are from."""
    definer: Callable[[str], str | None] | None = field(default=None, compare=False, repr=False)
    """The header of the project that defines a name, as include folders reach it."""
    text_alone: Callable[[], str] | None = field(default=None, compare=False, repr=False)
    """The kernel's text cut out of its file, where stand-ins for what nothing defines are wanted."""
    told: Callable[[str], Given | None] | None = field(default=None, compare=False, repr=False)
    """What the project's build files and scripts give a macro."""
    guards_of: Callable[[str], tuple[str, ...]] | None = field(default=None, compare=False, repr=False)
    """The macros that switch on what defines a name in what the source includes."""
    block: tuple[int, ...] = ()
    """The sides of a block that the kernel's own text fixes."""
    strides: tuple[int, ...] = ()
    """Numbers of threads that its loops step by."""
    block_with: Callable[[Mapping[str, str]], tuple[tuple[int, ...], tuple[int, ...]]] | None = field(
        default=None, compare=False, repr=False
    )
    """Both, where some names that nothing defines have values."""
    profiles: tuple[str, ...] = ()
    """Besides random values, those that the kernel's text asks about."""
    body: str = field(default="", compare=False, repr=False)
    """The text of the kernel and of what it calls."""
    retyped: Callable[[str], DraftedCase] | None = field(default=None, compare=False, repr=False)
    """Where a type was assumed to be `float`: the same with another."""

    def text(self, chosen: Sequence[int] | None = None, *, name: str | None = None, notes: Sequence[str] = ()) -> str:
        """Its lines, with some of the tables of sizes."""
        before = [f'name = "{name}"', self.before[-1]] if name else list(self.before)
        comments = [f"# {note}" for note in (*self.notes, *notes)]
        return "\n".join([*comments, "[[case]]", *before, *self.sizes.lines(chosen), *self.after]) + "\n"

    def unchecked(self, reason: str) -> DraftedCase:
        """Without a look for races, which the original has."""
        note = f"races are not looked for, as the original has one: {reason}"
        return replace(self, after=(*self.after, "races = false"), notes=(*self.notes, note))

    def quiet(self) -> DraftedCase:
        """With integers that stay inside of whatever they index: 0 and 1."""
        lines = tuple(_QUIET.sub(r"\1 = integers(0, 2)\2", line) for line in self.after)
        return replace(self, after=lines, notes=(*self.notes, "integers are 0 and 1 only: larger ones left an array"))

    def from_one(self) -> DraftedCase:
        """With integers that count from 1, as Fortran's places do: 1 and 2."""
        lines = tuple(_QUIET.sub(r"\1 = integers(1, 3)\2", line) for line in self.after)
        return replace(self, after=lines, notes=(*self.notes, "integers are 1 and 2 only: 0 led in front of an array"))

    def ordered(self) -> DraftedCase:
        """With integers that count up, as offsets and places to search in do."""
        lines = tuple(_QUIET.sub(r"\1 = arange\2", line) for line in self.after)
        return replace(self, after=lines, notes=(*self.notes, "integers count up: others left an array"))

    def steady(self) -> DraftedCase:
        """With one number for the integers of structures that hold pointers: sizes, strides and counts that fit."""
        lines = tuple(_STEADY.sub(rf"\1 = integers({_EXTENT}, {_EXTENT + 1})\2", line) for line in self.after)
        return replace(self, after=lines, notes=(*self.notes, f"integers beside pointers in memory are all {_EXTENT}"))

    def same(self, value: int) -> DraftedCase:
        """With one number for all integers of arrays: flags that are set, or ends of lists and empty places (-1)."""

        def fixed(match: re.Match[str]) -> str:
            bits = re.search(r": uint(\d+)\[", match[1])
            own = value + (1 << int(bits[1])) if bits and value < 0 and bits[1] != "64" else value
            return f"{match[1]} = integers({own}, {own + 1}){match[2]}"

        lines = tuple(_QUIET.sub(fixed, line) for line in self.after)
        note = f"integers of arrays are {value}: others lead to nothing"
        return replace(self, after=lines, notes=(*self.notes, note))

    def zeroed(self, sizes: Sequence[str]) -> DraftedCase | None:
        """With some sizes 0; None where one is no whole number, or 0."""
        table = dict(zip(self.sizes.names, self.sizes.tables[0], strict=True))
        if not all(table[size] and table[size] == int(table[size]) for size in sizes):
            return None
        changed = tuple((table | dict.fromkeys(sizes, 0)).values())
        note = f"{', '.join(sizes)}: 0, as with the same number as the others the kernel writes nothing"
        return replace(self, sizes=Sizes(self.sizes.names, (changed,), 1), notes=(*self.notes, note))

    def clipped(self) -> DraftedCase:
        """The first blocks of a large grid only."""
        grid, *rest = self.after
        sides = re.findall(r'"[^"]*"|\d+', grid.partition("=")[2])
        most = {1: (64,), 2: (8, 8), 3: (4, 4, 4)}[len(sides)]
        shown = [f'"min({side.strip(chr(34))}, {limit})"' for side, limit in zip(sides, most, strict=True)]
        note = f"not all blocks of the program's grid: at most {' x '.join(map(str, most))}"
        line = f"grid = {shown[0] if len(shown) == 1 else '[' + ', '.join(shown) + ']'}"
        return replace(self, after=(line, *rest), notes=(*self.notes, note))

    def roomier(self) -> DraftedCase:
        """With larger numbers for integers that leave no blocks: the program has its own from elsewhere."""
        first = self.sizes.tables[0]
        tables = [
            tuple(most if value in low and value == int(value) else value for value in first)
            for low in (frozenset({0}), frozenset(range(_FEWEST)))
            for most in _ROOMIER
        ]
        roomier = Sizes(self.sizes.names, tuple(dict.fromkeys(tables)), 1)
        return replace(self, sizes=roomier, notes=(*self.notes, "sizes that leave no blocks were made larger"))

    def narrower(self) -> DraftedCase:
        """With blocks of no more threads than a block can have, where their sides are sizes."""
        block = set(_WORD.findall(self.after[1].partition("=")[2]))
        tables = [
            tuple(min(v, side) if n in block else v for n, v in zip(self.sizes.names, table, strict=True))
            for table in self.sizes.tables
            for side in _SIDES
        ]
        sizes = Sizes(self.sizes.names, tuple(dict.fromkeys(tables)), 1)
        return replace(self, sizes=sizes, notes=(*self.notes, "blocks of more than 1024 threads were made smaller"))

    def still(self, value: int) -> DraftedCase | None:
        """With this number for the sizes that neither the launch nor the length of an array depends on."""
        shape = " ".join(line for line in self.after if not line.lstrip().startswith('"scalar'))
        used = set(_WORD.findall(shape))
        table = tuple(
            value if n not in used and v == int(v) else v
            for n, v in zip(self.sizes.names, self.sizes.tables[0], strict=True)
        )
        if table == self.sizes.tables[0]:
            return None
        note = f"nothing tells sizes that are in no length: they are {value}"
        return replace(self, sizes=Sizes(self.sizes.names, (table,), 1), notes=(*self.notes, note))

    def shrunk(self) -> DraftedCase:
        """With the large numbers of the program's constants divided by one that leaves them fit to run."""
        numbers = [int(text) for line in self.after for text in _LARGE.findall(line)]
        by = 1 << max(0, max(numbers, default=0).bit_length() - _LARGEST_BITS)
        if by == 1:
            return self
        lines = tuple(_LARGE.sub(lambda match: str(int(match[0]) // by), line) for line in self.after)
        return replace(self, after=lines, notes=(*self.notes, f"the program's numbers of six digits, divided by {by}"))

    def smaller_tiles(self) -> DraftedCase | None:
        """With half of the numbers among template arguments that were assumed; None where they are small."""
        head, bracket, rest = self.kernel.partition("<")
        halved = _WHOLE.sub(lambda match: str(max(_SMALLEST, int(match[0]) // 2)), rest)
        if not self.assumes or halved == rest:
            return None
        kernel = f"{head}{bracket}{halved}"
        before = (*self.before[:-1], f'kernel = "{kernel}"')
        note = f"more shared memory than there is: taken to be {kernel}"
        return replace(self, kernel=kernel, before=before, notes=(*self.notes, note))

    @property
    def marks(self) -> tuple[str, ...]:
        """The lines that have to be filled in."""
        return tuple(line.strip() for line in (*self.before, *self.after) if TODO in line)


@dataclass(frozen=True)
class Draft:
    """A case file."""

    source: Path
    parts: tuple[DraftedCase, ...]
    build: Build = field(default_factory=Build)
    remarks: tuple[str, ...] = ()
    """What has no case, and why."""
    main: Path | None = None
    """The source that is compiled, where that is another one that includes it."""

    @property
    def text(self) -> str:
        """All of it."""
        return "\n".join([self.head(), *(part.text() for part in self.parts)])

    def head(self, folder: Path | None = None) -> str:
        """The keys at the top, of a file in this folder; without one, beside the source."""
        home = self.source.absolute().parent
        folder = (home if folder is None else folder).resolve()

        def seen(place: Path) -> str:
            place = place.absolute()
            return _path(Path(os.path.relpath(place.parent.resolve() / place.name, folder)))

        lines = [
            *(f"# {remark}" for remark in self.remarks),
            f'schema = "{SCHEMA}"',
            *([f"# {self.source.name} is a part of it"] if self.main else []),
            f"source = {seen(self.main or home / self.source.name)}",
        ]
        root = self.build.root or home
        if folder != root.resolve():
            lines.append(f"root = {seen(root)}")
        if self.build.defines:
            lines.append(f"defines = [{', '.join(map(_text, self.build.defines))}]")
        if self.build.include_dirs:
            lines.append(f"include_dirs = [{', '.join(map(seen, self.build.include_dirs))}]")
        return "\n".join(lines) + "\n"

    @property
    def cases(self) -> int:
        """How many there are."""
        return len(self.parts)

    @property
    def marks(self) -> int:
        """Places that have to be filled in."""
        return self.text.count(TODO)


def draft(source: Path, kernels: tuple[str, ...] = (), *, assuming: bool = False) -> Draft:
    """Cases for the kernels of a file, or for those named; with template arguments that nothing tells, or without."""
    remarks: tuple[str, ...] = ()
    if source.suffix == ".py":
        units, remarks = python_string_units(source)
    else:
        units = (StringUnit(None, read_unit(source, everywhere=assuming), ()), *string_units(source))
    kernels_of = {id(unit): tuple(k for k in unit.unit.kernels if unit.unit.defines(k)) for unit in units}
    names = {kernel.name for found in kernels_of.values() for kernel in found}
    declared = {kernel.name for unit in units for kernel in unit.unit.kernels} - names
    if declared:
        shown = ", ".join(sorted(declared)[:_MOST_NAMES])
        remarks = (
            *remarks,
            f"declared here, and defined in another file: {shown}{', ...' * (len(declared) > _MOST_NAMES)}",
        )
    unknown = [name for name in kernels if name not in names]
    if unknown or not names:
        there = ", ".join(sorted(names)) or "none"
        said = (
            f"{source}: no kernel {unknown[0]}; there are: {there}"
            if unknown
            else f"{source}: no kernel is defined here"
        )
        raise Unusable("; ".join([said, *remarks]))
    taken: dict[str, int] = {}
    parts = [
        _with_types(unit, one, _case(unit, one, assuming=assuming).made(taken))
        for unit in units
        for kernel in kernels_of[id(unit)]
        if not kernels or kernel.name in kernels
        for one in instances(unit.unit, kernel, assuming=assuming)
    ]
    return Draft(source, tuple(parts), units[0].unit.build, remarks, units[0].unit.main)


def _case(unit: StringUnit, instance: Instance, *, assuming: bool) -> _Case:
    """A case in the making; types that nothing defines are assumed, where that is wanted."""
    is_plain = assuming and unit.name is None
    defines = define_types(unit.unit.host, instance.kernel, unit.unit.told) if is_plain else ()
    made = parameter_types(unit.unit, instance) if is_plain else ()
    every = (*unit.unit.build.defines, *defines)
    lines = (f"defines = [{', '.join(map(_text, every))}]",) if defines else ()
    notes = [*(f"nothing defines this: {define}" for define in defines), *(one.note for one in made)]
    assumed = with_lines((), made) if made else ()
    known = knowing(unit.unit, made)
    return _Case(known, instance, (*_of_string(unit), *lines), [*unit.notes, *notes], assuming, is_plain, assumed)


def _with_types(unit: StringUnit, instance: Instance, made: DraftedCase) -> DraftedCase:
    """A case that knows what it is with another type than `float` where nothing tells one."""
    assumed = {name: told for name in instance.assumed if (told := instance.template[name]) in ("float", "float*")}

    def other(kind: str) -> DraftedCase:
        changed = {name: told.replace("float", kind) for name, told in assumed.items()}
        return _case(unit, replace(instance, template={**instance.template, **changed}), assuming=True).made({})

    return replace(made, retyped=other) if assumed else made


def _of_string(unit: StringUnit) -> tuple[str, ...]:
    """The lines that say where a kernel in a string is, and what its options define."""
    if unit.name is None:
        return ()
    defines = ", ".join(_quoted(f"{define}{TODO}" if define.endswith("=") else define) for define in unit.defines)
    named = (
        (f"string = {_quoted(unit.name) if unit.name else 'true'}",)
        if unit.name or unit.unit.path.suffix != ".py"
        else ()
    )
    return (*named, *([f"defines = [{defines}]"] if defines else []))


def place_of(source: Path) -> Path:
    """Where the draft goes: beside the source."""
    return source.with_name(source.stem + SUFFIX)


@dataclass
class _Case:
    """One `[[case]]` in the making."""

    unit: SourceText
    instance: Instance
    string: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)
    assuming: bool = False
    can_complete: bool = False
    assumed: tuple[str, ...] = ()
    """Lines for types of parameters that nothing defines."""

    def made(self, taken: dict[str, int]) -> DraftedCase:
        """Its lines; equal names get numbers."""
        kernel, launch, host = self.instance.kernel, self.instance.launch, self.unit.host
        told = self.instance.template
        self.notes += [f"{name}: taken to be {told[name] or 'an empty pack'}" for name in self.instance.assumed]
        if self.instance.told_by:
            self.notes.append(f"template arguments as in {self.instance.told_by}")
        if launch is not None and self.unit.launched_in:
            self.notes.append(f"launched as in {' and '.join(self.unit.launched_in)}")
        host.varying = None
        self.unit.arrays.passed.clear()
        first = lines_of(self.unit, self.instance, [])
        host.varying = frozenset(
            line.value.text for line in first if line.value is not None and _WORD.fullmatch(line.value.text)
        )
        host.sizes.clear()
        self.unit.arrays.passed.clear()
        body = self.unit.body(kernel)
        constants, behind = constants_of(host, self.unit.reached(kernel), self.notes, told, alone=launch is None)
        arguments = (*lines_of(self.unit, self.instance, self.notes), *behind)
        renamed = _renamed(arguments)
        grid = self._dimensions(launch.grid if launch else "", renamed, "blockIdx", "gridDim")
        block = self._dimensions(launch.block if launch else "", renamed, "threadIdx", "blockDim")
        shared = self._side(launch.shared, renamed) if launch and launch.shared.strip() not in ("", "0") else "0"
        shown = [argument.text(lambda value: _shown(value, renamed)) for argument in arguments]
        sizes = sizes_of(host, _symbols([*grid, *block, shared, *shown]), renamed, arguments, grid, block, body)
        if sizes.untold:
            untold = ", ".join(sizes.untold)
            self.notes.append(f"the host's code does not tell how large this is, the numbers are porter's: {untold}")
        lines = [*self.string, f"grid = {_listed(grid)}", f"block = {_listed(block)}"]
        if shared != "0":
            lines.append(f"shared = {_quoted(shared)}")
        if launch is not None and _COOPERATIVE in host.text[launch.span.start : launch.span.end]:
            lines.append("cooperative = true")
        listed = (f"  {line if line.startswith('{') else _text(line)}," for line in shown)
        lines += ["arguments = [", *listed, "]"]
        lines += ["constants = [", *(f'  "{line.text(Value.shown)}",' for line in constants), "]"] if constants else []
        if all(argument.kind in ("in", "scalar", "struct", "null") for argument in arguments):
            seen = observed(host, self.unit.reached(kernel))
            nothing = 'not_run = "it writes to no argument: there is nothing to compare"'
            lines.append(f"observed = [{', '.join(map(_text, seen))}]" if seen else nothing)
        known = _reference(kernel, self.unit.path.parent)
        is_told = known.startswith("reference") or any(line.startswith("not_run") for line in lines)
        if draws(self.unit.reached(kernel)) and not is_told:
            lines.append(one_generator(self.unit.reached(kernel)))
        lines += self._options(self.unit.reached(kernel))
        if any(argument.adds for argument in arguments):
            lines.append("deterministic = false")
        lines += _tolerance(arguments, self.unit.reached(kernel), renamed)
        lines.append(known)
        lines += self.assumed
        name = self._name(taken)
        given = () if name is None else (f'name = "{name}"',)
        plain = name or _plain(self.instance.name)
        before = (*given, f'kernel = "{self.instance.name}"')
        assumes = bool(self.instance.assumed)
        ahead = tuple(_reached(name, self.unit.build.root) for name in self.unit.first)
        made = DraftedCase(plain, self.instance.name, before, tuple(lines), sizes, tuple(self.notes), assumes, ahead)
        headers = configured_headers(self.unit.path, self.unit.missing) if self.assuming else ()
        guards = guards_of(host, kernel.span.start)
        fixed, strides = self._threads({}) if launch is None else ((), ())
        made = replace(made, block_with=self._threads if launch is None else None)
        made = replace(
            made, block=fixed, strides=strides, guards=guards, defines=self.unit.build.defines, configured=headers
        )
        reached = self.unit.reached(kernel)
        made = replace(made, profiles=_profiles(arguments, reached), body=reached)
        if self.can_complete:
            in_builds = functools.partial(value_in_builds, self.unit.path)
            guarding = functools.partial(guards_of_name, host)
            made = replace(made, text_alone=self._text_alone, guards_of=guarding, told=in_builds)
        return replace(made, definer=self._definer) if self.assuming else made

    def _text_alone(self) -> str:
        return alone(self.unit, self.instance.name, self.unit.reached(self.instance.kernel))

    def _threads(self, values: Mapping[str, str]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The sides of a block that the kernel's text fixes, and the numbers of threads that its loops step by."""
        body, number = self.unit.body(self.instance.kernel), functools.partial(self._number, values)
        return block_of(body, number), strides_of(body, number)

    def _number(self, values: Mapping[str, str], written: str) -> int | None:
        """A number as the kernel's text writes it: a macro, a constant, a template argument."""
        told = _WORD.sub(lambda match: values.get(match[0], match[0]), written)
        told = self.instance.template.get(told.strip(), told)
        try:
            value = self.unit.host.value(told, len(self.unit.host.text)).number
        except Unknown:
            return None
        return int(value) if value is not None and value == int(value) else None

    def _options(self, reached: str) -> list[str]:
        """The lines of what both compilers are given: headers of functors, sources that the kernel is linked to."""
        found: dict[str, None] = {}
        if any(functor in self.instance.name for functor in FUNCTORS.values()):
            found["thrust/functional.h"] = None
        linked: dict[str, list[str]] = {}
        for name, file in self.unit.linked.items():
            seen = self._seen_from_folders(file) if re.search(rf"\b{name}\s*\(", reached) else None
            if seen is not None:
                linked.setdefault(seen, []).append(name)
                reached += read_regular(file).decode("latin-1")
        self.notes += [f"linked with {seen}, which defines {', '.join(names)}" for seen, names in linked.items()]
        found |= dict.fromkeys(linked)
        names = {"cuda": [*found], "hip": [usual_name(name) for name in found]}
        shown = {side: ", ".join(f'"-include", "{name}"' for name in reversed(names[side])) for side in names}
        return [f"{side}_options = [{shown[side]}]" for side in names] if found else []

    def _definer(self, word: str) -> str | None:
        return self._seen_from_folders(definer(self.unit.path, word))

    def _seen_from_folders(self, found: Path | None) -> str | None:
        """A file as include folders reach it."""
        folders = [folder.absolute() for folder in self.unit.build.include_dirs]
        inside = [folder for folder in folders if found is not None and found.is_relative_to(folder)]
        if found is None or not inside:
            return None
        return min((found.relative_to(folder).as_posix() for folder in inside), key=len)

    def _name(self, taken: dict[str, int]) -> str | None:
        """A name, where the kernel's own is taken."""
        plain = _plain(self.instance.name)
        taken[plain] = taken.get(plain, 0) + 1
        return f"{plain}_{taken[plain]}" if taken[plain] > 1 else None

    def _dimensions(self, written: str, renamed: Mapping[str, str], *names: str) -> list[str]:
        launch = self.instance.launch
        position = launch.span.start if launch else 0
        try:
            sides = self.unit.host.dimensions(written, position)
            if sides is not None:
                return [self._checked(side, written, renamed) for side in sides]
        except Unknown:
            pass
        return [self._side(written, renamed)] if written else [TODO] * self._used(*names)

    def _used(self, *names: str) -> int:
        """How many dimensions of the launch the kernel asks for."""
        body = self.unit.reached(self.instance.kernel)
        found = re.findall(rf"\b(?:{'|'.join(names)})\s*\.\s*([xyz])\b", body)
        return max((" xyz".index(side) for side in found), default=1)

    def _side(self, written: str, renamed: Mapping[str, str]) -> str:
        """A C++ expression as one of a case file; marked, with what was written, where that cannot be."""
        launch = self.instance.launch
        try:
            return self._checked(self.unit.host.value(written, launch.span.start if launch else 0), written, renamed)
        except Unknown:
            return _marked(written)

    def _checked(self, value: Value, written: str, renamed: Mapping[str, str]) -> str:
        text = _shown(value, renamed)
        try:
            Expression(text).check()
        except BadExpression:
            return _marked(written)
        return text


def _reached(name: str, root: Path | None) -> str:
    path = Path(name)
    return path.relative_to(root).as_posix() if root and path.is_absolute() and path.is_relative_to(root) else name


def _renamed(arguments: tuple[Line, ...]) -> dict[str, str]:
    """Sizes of the host that are passed as they are have the name of the parameter."""
    found: dict[str, str] = {}
    for argument in arguments:
        value = argument.value
        if value is None or value.factor != 1 or not _WORD.fullmatch(value.text) or value.text in found:
            continue
        if argument.name not in found.values() and not keyword.iskeyword(argument.name):
            found[value.text] = argument.name
    taken = set(found.values())
    return {name: new for name, new in found.items() if new == name or new not in found or new not in taken}


def _shown(value: Value, renamed: Mapping[str, str]) -> str:
    text = value.shown()
    return _WORD.sub(lambda match: renamed.get(match[0], match[0]), text)


def _symbols(texts: list[str]) -> set[str]:
    """The names in expressions."""
    found: set[str] = set()
    for text in texts:
        found |= set(_WORD.findall(text))
    return found - FUNCTIONS.keys() - {LANES, TODO}


def _tolerance(arguments: tuple[Line, ...], body: str, renamed: Mapping[str, str]) -> list[str]:
    """How many terms are added up, as far as the loops tell."""
    bounds = loop_bounds(body)
    if not any("float" in line.dtype and line.kind in ("out", "inout") for line in arguments):
        return []
    if bounds is None:
        return [f"tolerance = {{ reduction = {_FEW_TERMS} }}"] if cancels(body) else []
    values = {line.name: line.value for line in arguments if line.value is not None and "float" not in line.dtype}
    told = [value for name in bounds if (value := values.get(name)) is not None]
    numbers = [times for name in bounds if (times := integer(name)) is not None]
    parts = list(dict.fromkeys([*(_shown(value, renamed) for value in told), str(max([_TERMS, *numbers]))]))
    if any(line.dtype in ("float16", "bfloat16") and line.kind in ("out", "inout") for line in arguments):
        return ["tolerance = { rtol = 0.02, atol = 0.05 }  # sums may be kept in half precision"]
    terms = f'"max({", ".join(parts)})"' if len(parts) > 1 else parts[0]
    return [f"tolerance = {{ reduction = {terms} }}"]


def _profiles(arguments: tuple[Line, ...], text: str) -> tuple[str, ...]:
    """Values that the kernel's text tells apart: NaN by minima, maxima and questions; equal ones by places."""
    if not any(line.kind in ("in", "inout") and "float" in line.dtype for line in arguments):
        return ()
    places = any(line.kind in ("out", "inout") and line.dtype.startswith(("int", "uint")) for line in arguments)
    return (*(("nonfinite",) if _ASKS.search(text) else ()), *(("ties",) if places else ()))


def _plain(kernel: str) -> str:
    name, _, arguments = kernel.partition("<")
    return re.sub(r"\W+", "_", f"{name.rpartition('::')[2]}<{arguments}").strip("_")


def _marked(written: str) -> str:
    shown = " ".join(written.split()).replace("\\", "/").replace('"', "'")
    return f"{TODO}: {shown}" if shown else TODO


def _path(path: Path) -> str:
    return _text(str(path).replace("\\", "\\\\").replace('"', '\\"'))


def _text(line: str) -> str:
    return f'"{line}"'


def _quoted(text: str) -> str:
    return text if re.fullmatch("[0-9]{1,18}", text) else f'"{text}"'


def _listed(sides: list[str]) -> str:
    return _quoted(sides[0]) if len(sides) == 1 else f"[{', '.join(map(_quoted, sides))}]"


def _reference(kernel: Kernel, folder: Path) -> str:
    path = folder / "reference.py"
    for name in (f"reference_{kernel.name}", kernel.name):
        if path.is_file() and re.search(rf"^def {name}\(", read_regular(path).decode("utf-8", "replace"), re.MULTILINE):
            return f'reference = "reference.py:{name}"'
    return f'# reference = "reference.py:{kernel.name}"  # without one, original and port are compared with each other'
