"""Reads `*.case.toml`; whatever is wrong is said with file and line."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from porter.validation.cases.argument_rows import TODO, behind_structs, read_arguments, read_expression
from porter.validation.cases.case import (
    ANY_STRING,
    AWKWARD,
    LANES,
    NUMPY_TYPES,
    POLICIES,
    PRINTED,
    PROFILES,
    SUFFIX,
    Argument,
    Case,
    CaseError,
    Tolerance,
)
from porter.validation.cases.expression import LARGEST, BadExpression, Expression, Number
from porter.validation.cases.shorthand import expand
from porter.validation.cases.triton_source import Constant, TritonSource, Written, kernels_of

from porter.errors import Unusable
from porter.system.paths import named_by, without_detours
from porter.system.reading import LARGEST_DOCUMENT, is_regular, read_regular

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover
    import tomli as tomllib

SCHEMA = "porter-case/1"
_TOP = {
    "schema",
    "source",
    "object",
    "string",
    "root",
    "port",
    "reference",
    "include_dirs",
    "defines",
    "cuda_options",
    "hip_options",
    "assumed",
    "case",
}
_CASE = {
    *("triton", "warps", "stages"),
    *("name", "kernel", "arguments", "constants", "grid", "block", "shared", "cooperative", "symbols", "sweep"),
    *("reference", "tolerance", "seeds", "profiles", "deterministic", "races", "initialised", "bytes", "operations"),
    *("observed", "one_generator"),
    *(
        "not_run",
        "source",
        "object",
        "string",
        "port",
        "port_lanes",
        "include_dirs",
        "defines",
        "cuda_options",
        "hip_options",
        "assumed",
    ),
}
_TOLERANCE = {"policy", "reduction", "rtol", "atol", "slack"}
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_ELEMENT = re.compile(r"\{\s*name\b|^\s*[\"']|[\[,]\s*[\"'](?=\w+\s+\w+\s*(?::|[\"']))")
_AT_LINE = re.compile(r"\(at line (\d+), column \d+\)")


class Lines:
    """Where tables and keys stand in a TOML file: the parser does not say."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()
        starts = [n for n, line in enumerate(self._lines) if re.match(r"\s*\[\[\s*case\s*\]\]", line)]
        self._spans = list(zip(starts, [*starts, len(self._lines)][1:], strict=True)) if starts else []
        self._top = starts[0] if starts else len(self._lines)

    def case(self, index: int) -> int:
        """Line of the n-th `[[case]]`."""
        return self._spans[index][0] + 1 if index < len(self._spans) else 1

    def key(self, key: str, index: int | None = None) -> int:
        """Line of a key of the n-th case, or of the top; that of the table where the key is not seen."""
        first, end = (0, self._top) if index is None else self._span(index)
        pattern = re.compile(rf"\s*(?:\[\[?\s*case\s*\.\s*)?[\"']?{re.escape(key)}[\"']?\s*(?:=|\.|\])")
        for number in range(first, end):
            if pattern.match(self._lines[number]):
                return number + 1
        return first + 1

    def element(self, key: str, index: int, place: int) -> int:
        """Line of the n-th element of an array of tables that is a key of a case."""
        first, end = self._span(index)
        headers = [n for n in range(first, end) if re.match(rf"\s*\[\[\s*case\s*\.\s*{key}\s*\]\]", self._lines[n])]
        if headers:
            return headers[min(place, len(headers) - 1)] + 1
        start = self.key(key, index)
        braces = [n + 1 for n in range(start - 1, end) for _ in _ELEMENT.findall(self._lines[n])]
        return braces[place] if place < len(braces) else start

    def _span(self, index: int) -> tuple[int, int]:
        return self._spans[index] if index < len(self._spans) else (0, len(self._lines))


def find_case_files(paths: Sequence[Path]) -> list[Path]:
    """Case files among files and below folders, hidden folders left out; for a source the one beside it."""
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            for inner in sorted(path.rglob(f"*{SUFFIX}")):
                if not any(part.startswith(".") for part in inner.relative_to(path).parts):
                    found[inner] = None
        else:
            found[_beside(path)] = None
    return list(found)


def _beside(path: Path) -> Path:
    if path.suffix == ".toml" or not path.is_file():
        return path
    beside = path.with_name(path.stem + SUFFIX)
    if not beside.is_file():
        raise Unusable(
            f"{path} is no case file, and there is no {beside.name} beside it: `porter cases init` drafts one"
        )
    return beside


def load_cases(path: Path) -> tuple[Case, ...]:
    """The cases of one file; raises CaseError where one of them cannot be read."""
    cases, errors = read_cases(path)
    if errors:
        raise errors[0]
    return cases


def read_cases(path: Path) -> tuple[tuple[Case, ...], tuple[CaseError, ...]]:
    """The cases of one file that can be read, and what is wrong with the others, or with the file."""
    try:
        return _document(path).cases()
    except CaseError as error:
        return (), (error,)


def _document(path: Path) -> _File:
    try:
        text = read_regular(path, LARGEST_DOCUMENT).decode("utf-8")
    except OSError as error:
        raise CaseError(path, 1, error.strerror or str(error)) from None
    except UnicodeDecodeError as error:
        raise CaseError(path, 1, f"not UTF-8: {error}") from None
    try:
        document: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = _AT_LINE.search(str(error))
        line = int(at[1]) if at else text.count("\n") + 1
        raise CaseError(path, line, f"not TOML: {error}") from None
    except RecursionError:
        raise CaseError(path, 1, "not TOML: nested too deeply") from None
    except ValueError as error:
        raise CaseError(path, 1, f"not TOML: {error}") from None
    return _File(path, document, Lines(text))


class _File:
    def __init__(self, path: Path, document: Mapping[str, Any], lines: Lines) -> None:
        self.path, self.document, self.lines = path, document, lines

    def cases(self) -> tuple[tuple[Case, ...], tuple[CaseError, ...]]:
        """Raises CaseError for what is wrong with all of it."""
        self._known(self.document, _TOP, None)
        schema = self.document.get("schema")
        if schema != SCHEMA:
            raise self._top("schema", f"schema must be {SCHEMA!r}, not {schema!r}")
        tables = self.document.get("case")
        if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
            raise self._top("case", "no [[case]]")
        made: dict[str, Case] = {}
        errors: dict[tuple[int, str], CaseError] = {}
        for index, table in enumerate(tables):
            try:
                case = _Reader(self, index, table).case()
                if case.name in made:
                    raise CaseError(self.path, self.lines.key("name", index), f"two cases are named {case.name!r}")
                made[case.name] = case
            except CaseError as error:
                errors.setdefault((error.line, error.message), error)
        return tuple(made.values()), tuple(errors.values())

    def _known(self, table: Mapping[str, Any], known: set[str], index: int | None) -> None:
        for key in table:
            if key not in known:
                line = self.lines.key(key, index)
                raise CaseError(self.path, line, f"unknown key {key!r}; known are {', '.join(sorted(known))}")

    def _top(self, key: str, message: str) -> CaseError:
        return CaseError(self.path, self.lines.key(key), message)


class _Reader:
    """Reads one `[[case]]`."""

    def __init__(self, file: _File, index: int, table: Mapping[str, Any]) -> None:
        self.file, self.index, self.table = file, index, table

    def case(self) -> Case:
        self.file._known(self.table, _CASE, self.index)
        dotted = self.table.get("triton")
        is_triton = dotted is not None
        kernel = (self._triton_name(dotted) if is_triton else self._text("kernel")).replace(
            "(anonymous namespace)::", ""
        )
        name = self._text("name", re.sub(r"\W+", "_", kernel.rpartition("::")[2]).strip("_"))
        sweep = self._sweep()
        symbols = self._symbols()
        names = {n for table in sweep for n, _ in table} | {n for n, _ in symbols}
        given = self._triton_constants(names) if is_triton else ()
        symbols += tuple(
            (one.name, one.expression) for one in given if one.expression is not None and one.name not in names
        )
        names |= {n for n, _ in symbols}
        constants = () if is_triton else self._arguments("constants", names)
        arguments = self._linked(self._arguments("arguments", names), constants)
        is_object = self._get("object") is not None
        if is_object and self._get("source") is not None:
            raise self._error("object", "a case has a source or an object, not both")
        root = self._root()
        triton = self._triton(str(dotted), root, arguments, given) if is_triton else None
        source = triton.file if triton else self._path("object" if is_object else "source", required=True)
        assert source is not None
        case = Case(
            name=name,
            path=self.file.path,
            line=self.file.lines.case(self.index),
            source=source,
            kernel=kernel,
            grid=self._dimensions("grid", {*names, LANES}),
            block=(Expression(str(32 * triton.warps)),) if triton else self._dimensions("block", {*names, LANES}),
            arguments=arguments,
            root=root,
            shared=self._expression("shared", self.table.get("shared", 0), {*names, LANES}),
            cooperative=self._flag("cooperative", default=False),
            symbols=symbols,
            sweep=sweep,
            constants=constants,
            reference=self._reference(),
            tolerance=self._tolerance(names),
            seeds=self._integers("seeds", (1,)),
            profiles=self._profiles(),
            deterministic=self._flag("deterministic", default=True),
            races=self._flag("races", default=True),
            initialised=self._flag("initialised", default=True),
            one_generator=self._flag("one_generator", default=False),
            observed=self._observed(),
            is_object=is_object,
            triton=triton,
            string=None if is_triton or is_object else self._string(source),
            port=self._path("port"),
            port_lanes=self._port_lanes(),
            include_dirs=tuple(without_detours(self.file.path.parent / one) for one in self._texts("include_dirs")),
            defines=self._texts("defines"),
            cuda_options=self._texts("cuda_options"),
            hip_options=self._texts("hip_options"),
            assumed=self._texts("assumed"),
            bytes=self._optional("bytes", names),
            operations=self._optional("operations", names),
            not_run=self._not_run(),
            lines={key: self.file.lines.key(key, self.index) for key in _CASE},
        )
        if not any(argument.is_written for argument in arguments) and not case.not_run and not case.observed:
            raise self._error("arguments", "no argument is out or inout: there is nothing to compare")
        return case

    # -- Triton ---------------------------------------------------------------------------------------

    def _triton_name(self, dotted: Any) -> str:
        if not isinstance(dotted, str) or not re.fullmatch(r"\w+(\.\w+)+", dotted):
            raise self._error("triton", f"triton must be 'module.kernel', not {dotted!r}")
        for key in ("kernel", "source", "object", "string", "block", "port"):
            if key in self.table:
                raise self._error(key, f"{key} does not go with triton")
        return dotted.rpartition(".")[2]

    def _triton_constants(self, names: set[str]) -> tuple[Constant, ...]:
        table = self.table.get("constants", {})
        if not isinstance(table, dict):
            raise self._error("constants", "constants of a Triton kernel are a table: { BLOCK = 128 }")
        made: list[Constant] = []
        for name, value in table.items():
            if isinstance(value, str) and value.startswith("tl."):
                made.append(Constant(name, dtype=value[3:]))
            elif isinstance(value, str) and value[:1] == "'" == value[-1:]:
                made.append(Constant(name, text=value[1:-1]))
            else:
                known = names | {one.name for one in made if one.expression is not None}
                made.append(Constant(name, self._expression("constants", value, known)))
        return tuple(made)

    def _triton(
        self, dotted: str, root: Path, arguments: tuple[Argument, ...], constants: tuple[Constant, ...]
    ) -> TritonSource:
        """The kernel, if its file has it and its parameters are those that the case gives."""
        module, _, kernel = dotted.rpartition(".")
        numbers = {}
        for key, default in (("warps", 4), ("stages", None)):
            numbers[key] = self.table.get(key, default)
            if numbers[key] is not None and (type(numbers[key]) is not int or not 1 <= numbers[key] <= 32):
                raise self._error(key, f"{key} must be a number from 1 to 32")
        passed = tuple((argument.name, argument.dtype if argument.kind != "null" else "") for argument in arguments)
        source = TritonSource(root.absolute(), module, kernel, constants, numbers["warps"], numbers["stages"], passed)
        try:
            written = kernels_of(source.file)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise self._error("triton", f"triton: {source.file}: {reason}") from None
        if kernel not in written:
            raise self._error(
                "triton", f"no Triton kernel {kernel!r} in {source.file}; there are: {', '.join(written)}"
            )
        self._matches(written[kernel], [argument.name for argument in arguments], {one.name for one in constants})
        return source

    def _matches(self, written: Written, arguments: list[str], constants: set[str]) -> None:
        wanted = [name for name in written.parameters if name not in constants and name not in written.constants]
        missing = [name for name in written.parameters
                   if name not in arguments and name not in constants and name not in written.optional]  # fmt: skip
        unknown = [name for name in (*arguments, *sorted(constants)) if name not in written.parameters]
        if missing or unknown:
            what = f"{missing[0]} is not given" if missing else f"it has no {unknown[0]}"
            raise self._error("arguments", f"{written.name}({', '.join(written.parameters)}): {what}")
        if arguments != [name for name in wanted if name in arguments]:
            raise self._error("arguments", f"the arguments of {written.name} stand in the order {', '.join(wanted)}")

    # -- small pieces ---------------------------------------------------------------------------------

    def _error(self, key: str, message: str) -> CaseError:
        line = self.file.lines.key(key, self.index if key in self.table else None)
        if key not in self.table and key not in self.file.document:
            line = self.file.lines.case(self.index)
        return CaseError(self.file.path, line, message)

    def _get(self, key: str) -> Any:
        value = self.table.get(key, self.file.document.get(key))
        if value is not None and TODO in str(value):
            raise self._error(key, f"{key} is still marked {TODO}: {value!r}")
        return value

    def _text(self, key: str, default: str | None = None) -> str:
        value = self._get(key)
        if value is None and default is not None:
            return default
        if not isinstance(value, str) or not value.strip():
            raise self._error(key, f"{key} must be a string" if value is not None else f"{key} is missing")
        return value

    def _texts(self, key: str) -> tuple[str, ...]:
        value = self._get(key)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self._error(key, f"{key} must be a list of strings")
        return tuple(value)

    def _flag(self, key: str, *, default: bool) -> bool:
        value = self._get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self._error(key, f"{key} must be true or false")
        return value

    def _integers(self, key: str, default: tuple[int, ...]) -> tuple[int, ...]:
        value = self._get(key)
        if value is None:
            return default
        whole = isinstance(value, list) and all(isinstance(n, int) and not isinstance(n, bool) for n in value)
        if not whole or not value or any(not 0 <= n < 2**63 for n in value):
            raise self._error(key, f"{key} must be a list of whole numbers, not negative")
        return tuple(value)

    def _path(self, key: str, *, required: bool = False) -> Path | None:
        value = self._get(key)
        if value is None and not required:
            return None
        path = self._place(key, self._text(key))
        if not is_regular(path):
            raise self._error(key, f"{key}: no file {path}")
        return without_detours(path)

    def _place(self, key: str, name: str) -> Path:
        """What the case file names, in the tree that it lies in."""
        try:
            return named_by(self.file.path, name)
        except Unusable as error:
            raise self._error(key, f"{key}: {error}") from None

    def _string(self, source: Path) -> str | None:
        value = self._get("string")
        if value is True or (value is None and source.suffix == ".py"):
            return ANY_STRING
        if value is None or value is False:
            return None
        if isinstance(value, int) and source.suffix == ".py" and value > 0:
            return str(value)
        if not isinstance(value, str) or not _IDENTIFIER.fullmatch(value):
            raise self._error(
                "string",
                f"string must be the name of a variable or macro, true, or a line of a Python file, not {value!r}",
            )
        return value

    def _port_lanes(self) -> int:
        value = self.table.get("port_lanes", 32)
        if value not in (32, 64) or isinstance(value, bool):
            raise self._error("port_lanes", f"port_lanes must be 32 or 64, not {value!r}")
        return int(value)

    def _root(self) -> Path:
        value = self.file.document.get("root")
        folder = self._place("root", value) if isinstance(value, str) else self.file.path.parent
        if value is not None and not (isinstance(value, str) and folder.is_dir()):
            raise self.file._top("root", f"root must be a folder: {value!r}")
        return folder

    def _expression(self, key: str, value: Any, names: set[str], line: int | None = None) -> Expression:
        try:
            return read_expression(value, names)
        except BadExpression as error:
            if line is not None:
                raise CaseError(self.file.path, line, f"{key}: {error}") from None
            raise self._error(key, f"{key}: {error}") from None

    def _optional(self, key: str, names: set[str]) -> Expression | None:
        value = self._get(key)
        return None if value is None else self._expression(key, value, names)

    def _dimensions(self, key: str, names: set[str]) -> tuple[Expression, ...]:
        value = self._get(key)
        if value is None:
            raise self._error(key, f"{key} is missing")
        sides = value if isinstance(value, list) else [value]
        if not 1 <= len(sides) <= 3:
            raise self._error(key, f"{key} has 1 to 3 sides, not {len(sides)}")
        return tuple(self._expression(key, side, names) for side in sides)

    def _symbols(self) -> tuple[tuple[str, Expression], ...]:
        table = self._get("symbols") or {}
        if not isinstance(table, dict):
            raise self._error("symbols", "symbols must be a table: { chunk = 64, blocks = 'ceil_div(n, chunk)' }")
        known = {name for one in self._sweep() for name, _ in one}
        made: list[tuple[str, Expression]] = []
        for name, value in table.items():
            made.append((self._identifier("symbols", name), self._expression("symbols", value, known)))
            known.add(name)
        return tuple(made)

    def _identifier(self, key: str, name: Any) -> str:
        if not isinstance(name, str) or not _IDENTIFIER.fullmatch(name):
            raise self._error(key, f"{key}: {name!r} is no name")
        if name == LANES:
            raise self._error(key, f"{key}: {LANES!r} is given by the side that is launched")
        return name

    def _sweep(self) -> tuple[tuple[tuple[str, tuple[Number, ...]], ...], ...]:
        value = self._get("sweep")
        tables = value if isinstance(value, list) else [value or {}]
        if not all(isinstance(table, dict) for table in tables):
            raise self._error("sweep", "sweep must be a table of sizes, or a list of such tables")
        made = tuple(tuple((self._identifier("sweep", n), self._sizes(n, v)) for n, v in t.items()) for t in tables)
        names = {frozenset(name for name, _ in table) for table in made}
        if len(names) > 1:
            raise self._error("sweep", "the tables of a sweep must all set the same symbols")
        return made

    def _sizes(self, name: str, value: Any) -> tuple[Number, ...]:
        if value == "awkward":
            return AWKWARD
        values = value if isinstance(value, list) else [value]
        if not values or not all(isinstance(item, bool | int | float) for item in values):
            raise self._error("sweep", f"sweep.{name} must be a number, a list of numbers, or 'awkward'")
        if any(not isinstance(item, float) and abs(item) > LARGEST for item in values):
            raise self._error("sweep", f"sweep.{name} overflows: it does not fit 64 bits")
        return tuple(values)

    def _reference(self) -> str | None:
        value = self._get("reference")
        if value is None or value is False:
            return None
        text = self._text("reference")
        file, _, function = text.partition(":")
        if not function or not _IDENTIFIER.fullmatch(function):
            raise self._error("reference", f"reference must be 'file.py:function', not {text!r}")
        if not is_regular(self._place("reference", file)):
            raise self._error("reference", f"reference: no file {self.file.path.parent / file}")
        return text

    def _profiles(self) -> tuple[str, ...]:
        value = self._texts("profiles") or ("random",)
        for profile in value:
            if profile not in PROFILES:
                raise self._error("profiles", f"profiles: {profile!r}; known are {', '.join(PROFILES)}")
        return value

    def _observed(self) -> tuple[str, ...]:
        value = self._texts("observed")
        for one in value:
            name, _, dtype = one.partition(": ")
            if one != PRINTED and not (re.fullmatch(r"\w+(?:::\w+)*", name) and dtype in NUMPY_TYPES):
                raise self._error("observed", f"observed: {one!r} is not {PRINTED!r}, nor a variable as 'total: int32'")
        return value

    def _not_run(self) -> tuple[tuple[str, str], ...]:
        value = self._get("not_run")
        if value is None:
            return ()
        table = {"*": value} if isinstance(value, str) else value
        if not isinstance(table, dict) or not all(isinstance(reason, str) and reason for reason in table.values()):
            raise self._error("not_run", "not_run must be a reason, or a table: { gfx942 = 'reason' }")
        return tuple(table.items())

    def _tolerance(self, names: set[str]) -> Tolerance:
        value = self._get("tolerance") or {}
        if isinstance(value, str):
            value = {"policy": value}
        if not isinstance(value, dict) or not value.keys() <= _TOLERANCE:
            raise self._error("tolerance", f"tolerance is a table of {', '.join(sorted(_TOLERANCE))}")
        numbers: dict[str, float] = {}
        for key in ("rtol", "atol", "slack"):
            number = value.get(key)
            if number is None:
                continue
            if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number < float("inf"):
                raise self._error("tolerance", f"tolerance.{key} must be a number, not negative")
            numbers[key] = float(number)
        policy = value.get("policy", "fixed" if numbers.keys() & {"rtol", "atol"} else "table")
        if policy not in POLICIES:
            raise self._error("tolerance", f"tolerance.policy: {policy!r}; known are {', '.join(POLICIES)}")
        if policy != "fixed" and numbers.keys() & {"rtol", "atol"}:
            raise self._error("tolerance", f"tolerance: rtol and atol belong to policy 'fixed', not to {policy!r}")
        if policy == "fixed" and not {"rtol", "atol"} <= numbers.keys():
            raise self._error("tolerance", "tolerance: policy 'fixed' wants both rtol and atol")
        reduction = self._expression("tolerance", value.get("reduction", 1), names)
        return Tolerance(policy, reduction, **numbers)

    # -- arguments ------------------------------------------------------------------------------------

    def _arguments(self, key: str, names: set[str]) -> tuple[Argument, ...]:
        rows = self.table.get(key, [])
        if not isinstance(rows, list) or not all(isinstance(row, dict | str) for row in rows):
            raise self._error(key, f"{key} must be a list of lines or tables")
        made: list[Argument] = []
        for place, row in enumerate(rows):
            line = self.file.lines.element(key, self.index, place)
            try:
                if TODO in str(row):
                    raise ValueError(f"still marked {TODO}: {row!r}")
                table = expand(row) if isinstance(row, str) else row
                read = read_arguments(table, line, names, is_variable=key == "constants")
            except (BadExpression, ValueError) as error:
                name = row.get("name") if isinstance(row, dict) else None
                label = f"{key}: {name}: " if isinstance(name, str) else f"{key}: "
                raise CaseError(self.file.path, line, f"{label}{error}") from None
            for one in read:
                if any(one.name == other.name for other in made):
                    raise CaseError(self.file.path, line, f"{key}: two are named {one.name!r}")
            made += read
        return tuple(made)

    def _linked(self, arguments: tuple[Argument, ...], constants: tuple[Argument, ...]) -> tuple[Argument, ...]:
        """The arguments, those known that are only pointed to."""
        try:
            return behind_structs(arguments, constants)
        except ValueError as error:
            raise self._error("arguments", f"arguments: {error}") from None
