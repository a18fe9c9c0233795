"""CUDA in strings of Python files: which calls compile one, where its text stands, and what the rules find in it."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from porter.cpp.literals import Literal, Piece
from porter.cpp.runtime_strings import RuntimeSource
from porter.engine import edits as editing
from porter.engine.embedded import embed
from porter.engine.support import FOLDER
from porter.model import Edit, Effort, Finding
from porter.source import SourceFile
from porter.system.reading import parsed_python

if TYPE_CHECKING:
    from porter.engine.file import Context

MAY_HOLD = re.compile(
    rb"\b(?:RawKernel|RawModule|ElementwiseKernel|ReductionKernel|SourceModule|load_inline|nvrtcCreateProgram)\b"
    rb"|\bcuda\.core\b|@cuda\.jit|\bcuda\.jit\("
)
MOST_PASSES = 4
MOST_CHOICES = 16


@dataclass(frozen=True)
class Compiler:
    """A call that compiles CUDA text: its arguments, and which of them are text."""

    library: str
    signature: tuple[str, ...]
    """Words of its arguments by place."""
    texts: tuple[str, ...]
    """Words of those that are CUDA text."""
    on_amd: str = ""
    """Why the call itself does not run on AMD; empty: it does."""
    finds_headers: bool = False
    """Whether the compiler is hipcc, with folders for headers, and not hipRTC."""


_CUPY = "CuPy's RawModule takes the text"
_NO_PYCUDA = f"PyCUDA has no version for AMD: {_CUPY}"
_AROUND = ("preamble", "loop_prep", "after_loop")
COMPILERS = {
    "RawKernel": Compiler("CuPy", ("code", "name", "options"), ("code",)),
    "RawModule": Compiler("CuPy", ("code",), ("code",)),
    "ElementwiseKernel": Compiler(
        "CuPy", ("in_params", "out_params", "operation", "name", "reduce_dims", "preamble"), ("operation", *_AROUND)
    ),
    "ReductionKernel": Compiler(
        "CuPy",
        ("in_params", "out_params", "map_expr", "reduce_expr", "post_map_expr", "identity", "name", "reduce_type",
         "reduce_dims", "preamble"),
        ("map_expr", "reduce_expr", "post_map_expr", "preamble"),
    ),
    "load_inline": Compiler(
        "PyTorch", ("name", "cpp_sources", "cuda_sources"), ("cuda_sources",), finds_headers=True
    ),
    "SourceModule": Compiler("PyCUDA", ("source", "nvcc", "options"), ("source",), _NO_PYCUDA),
    "nvrtcCreateProgram": Compiler(
        "cuda-python", ("src", "name"), ("src",),
        "cuda-python has no version for AMD: hip-python's hiprtcCreateProgram is like it",
    ),
    "Program": Compiler(
        "cuda.core", ("code", "code_type", "options"), ("code",), f"cuda.core has no version for AMD: {_CUPY}"
    ),
}  # fmt: skip
OF_PYCUDA = {
    "ElementwiseKernel": Compiler(
        "PyCUDA", ("arguments", "operation", "name", "keep", "options"), ("operation", *_AROUND), _NO_PYCUDA
    ),
    "ReductionKernel": Compiler(
        "PyCUDA",
        ("dtype_out", "neutral", "reduce_expr", "map_expr", "arguments", "name", "keep", "options", "preamble"),
        ("reduce_expr", "map_expr", "preamble"),
        _NO_PYCUDA,
    ),
}
"""Calls of PyCUDA whose names CuPy has for others."""


@dataclass(frozen=True)
class PythonSource:
    """One text that is compiled, or why it cannot be followed."""

    call: str
    compiler: Compiler
    role: str
    """The word of the argument."""
    start: int
    """Of the call's name, in bytes."""
    end: int
    literal: Literal | None = None
    name: str = ""
    at: int = 0
    """Where the text's literal begins."""
    problem: str = ""


@dataclass(frozen=True)
class PythonProgram:
    """What one call compiles: the texts that it is given together."""

    call: ast.Call
    compiler: Compiler
    name: str
    """Of the call."""
    texts: tuple[PythonSource, ...]
    words: Mapping[str, str]
    """Other arguments: what a string says, else as written."""


def sources_of(source: SourceFile) -> tuple[PythonSource, ...]:
    """Every text that a Python file has compiled as CUDA, in order; none for what is no Python."""
    reader = _reader(source)
    return () if reader is None else tuple(reader.sources())


def programs_of(source: SourceFile) -> tuple[PythonProgram, ...]:
    """What each call of a Python file compiles, in order; a choice of texts is one program each."""
    reader = _reader(source)
    return () if reader is None else tuple(reader.programs())


def _reader(source: SourceFile) -> _Reader | None:
    if MAY_HOLD.search(source.data) is None:
        return None
    try:
        source.data.decode("utf-8")
        return _Reader(source, parsed_python(source.data))
    except ValueError:
        return None


def port_strings(source: SourceFile, context: Context) -> tuple[bytes, tuple[Finding, ...], tuple[Edit, ...]]:
    """The file with the texts ported in place, what was found in them at the lines of the file, and the edits."""
    from porter.engine.file import find

    first, trail, kept = source, list[Sequence[Edit]](), list[Finding]()
    for _ in range(MOST_PASSES):
        found: list[Finding] = []
        seen: set[int] = set()
        for one in sources_of(source):
            if one.literal is None or one.at in seen:
                continue
            seen.add(one.at)
            text = RuntimeSource(0, 0, one.at, one.name, one.literal)
            embedded = embed(source, text, context.unit)
            inside = [_reachable(finding, one.compiler) for finding in find(embedded.unit, context.rules)]
            found += embedded.findings(inside)
        accepted = editing.accept(found)
        winners = set(map(id, accepted.findings))
        losers = {id(conflict.loser) for conflict in accepted.conflicts}
        kept += [editing.mapped_back(finding, trail, first) for finding in found
                 if id(finding) not in losers and (not trail or id(finding) in winners)]  # fmt: skip
        if not accepted.edits:
            break
        trail.append(sorted(accepted.edits))
        source = SourceFile(source.path, editing.apply(source.text, accepted.edits).encode("latin-1"))
    ordered = sorted(kept, key=lambda finding: (finding.span.start, finding.span.end, finding.code, finding.message))
    return source.data, tuple(ordered), tuple(editing.compose(trail, len(first.text)))


def _reachable(finding: Finding, compiler: Compiler) -> Finding:
    """A rewrite that needs our headers can only be done where the compiler can be told where they are."""
    ours = [include for include in finding.includes if include.startswith(FOLDER + "/")]
    if not ours:
        return finding
    if compiler.finds_headers:
        effort = finding.effort if finding.effort is Effort.MANUAL else Effort.REVIEW
        return replace(
            finding,
            effort=effort,
            message=f"{finding.message}; extra_include_paths has to name the folder of {ours[0]}",
        )
    message = f"{finding.message}; not done: hipRTC does not find {ours[0]} from {compiler.library}"
    return replace(finding, edits=(), includes=(), effort=Effort.MANUAL, message=message)


class _Reader:
    """Finds calls, and follows what they are given to the literals."""

    def __init__(self, source: SourceFile, root: ast.Module) -> None:
        self.source, self.root = source, root
        self.scopes: dict[int, ast.AST] = {}
        """By node: the function it is in, or the module."""
        self.assigned: dict[tuple[int, str], list[ast.expr | None]] = {}
        """By function and name: what it is set to; None for what is no plain value."""
        self._enter(root, root)
        for node in ast.walk(root):
            self._assignments(node)
        self.imported = dict(_imported(root))
        """By name in the file: the module that it is, or is from."""
        self.core = any("cuda.core" in ast.unparse(node) for node in ast.walk(root)
                        if isinstance(node, ast.Import | ast.ImportFrom))  # fmt: skip

    def _enter(self, node: ast.AST, scope: ast.AST) -> None:
        pending = [(node, scope)]
        while pending:
            node, scope = pending.pop()
            self.scopes[id(node)] = scope
            inner = node if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) else scope
            pending += [(child, inner) for child in ast.iter_child_nodes(node)]

    def _assignments(self, node: ast.AST) -> None:
        def add(name: str, value: ast.expr | None) -> None:
            self.assigned.setdefault((id(self.scopes[id(node)]), name), []).append(value)

        if isinstance(node, ast.Assign):
            for target in node.targets:
                for name in (inner for inner in ast.walk(target) if isinstance(inner, ast.Name)):
                    add(name.id, node.value if target is name else None)
        elif isinstance(node, ast.AnnAssign | ast.AugAssign) and isinstance(node.target, ast.Name):
            add(node.target.id, node.value if isinstance(node, ast.AnnAssign) else None)
        elif isinstance(node, ast.arg):
            add(node.arg, None)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            for text in node.names:
                add(text, None)
        elif isinstance(node, ast.For | ast.comprehension):
            for name in (inner for inner in ast.walk(node.target) if isinstance(inner, ast.Name)):
                add(name.id, None)

    def _home(self, node: ast.AST, name: str) -> ast.AST | None:
        """The function or module in which a name is set that a node reads."""
        scope = self.scopes[id(node)]
        while (id(scope), name) not in self.assigned:
            outer = self.scopes[id(scope)]
            if outer is scope:
                return None
            scope = outer
        return scope

    def _calls(self) -> Iterator[tuple[ast.Call, str, Compiler, dict[str, ast.expr]]]:
        """Calls that compile, with their arguments by word."""
        calls = [node for node in ast.walk(self.root) if isinstance(node, ast.Call)]
        for call in sorted(calls, key=lambda node: (node.lineno, node.col_offset)):
            name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            if name not in COMPILERS or (name == "Program" and not self.core):
                continue
            compiler = OF_PYCUDA.get(name, COMPILERS[name]) if self._is_pycuda(call.func) else COMPILERS[name]
            given = dict(zip(compiler.signature, call.args, strict=False))
            given |= {word.arg: word.value for word in call.keywords if word.arg is not None}
            yield call, name, compiler, given

    def _is_pycuda(self, func: ast.expr) -> bool:
        while isinstance(func, ast.Attribute):
            func = func.value
        return isinstance(func, ast.Name) and self.imported.get(func.id, "").startswith("pycuda")

    def sources(self) -> Iterator[PythonSource]:
        for call, name, compiler, given in self._calls():
            for role, argument in given.items():
                if role in compiler.texts:
                    yield from self._given(call, name, compiler, role, argument)

    def _given(
        self, call: ast.Call, name: str, compiler: Compiler, role: str, argument: ast.expr
    ) -> Iterator[PythonSource]:
        for node, held, problem in self._texts(argument, "", 0):
            start, end = self._place(call.func)
            made = PythonSource(name, compiler, role, start, end, name=held, problem=problem)
            yield made if node is None else self._with_literal(made, node)

    def programs(self) -> Iterator[PythonProgram]:
        for call, name, compiler, given in self._calls():
            choices: list[list[tuple[PythonSource, ...]]] = []
            for role, argument in given.items():
                if role in compiler.texts:
                    found = tuple(self._given(call, name, compiler, role, argument))
                    is_list = isinstance(self._behind(argument), ast.List | ast.Tuple)
                    choices.append([found] if is_list else [(one,) for one in found])
            words = {role: self._said(node) for role, node in given.items() if role not in compiler.texts}
            for chosen in itertools.islice(itertools.product(*choices), MOST_CHOICES):
                texts = tuple(one for part in chosen for one in part)
                if texts:
                    yield PythonProgram(call, compiler, name, texts, words)

    def _behind(self, node: ast.expr) -> ast.expr:
        """What a name is set to, where that is one thing."""
        for _ in range(4):
            home = self._home(node, node.id) if isinstance(node, ast.Name) else None
            values = self.assigned[id(home), node.id] if home is not None and isinstance(node, ast.Name) else []
            if len(values) != 1 or values[0] is None:
                break
            node = values[0]
        return node

    def _said(self, node: ast.expr) -> str:
        behind = self._behind(node)
        if isinstance(behind, ast.Constant) and isinstance(behind.value, str):
            return behind.value
        return ast.unparse(behind)

    def _texts(self, node: ast.expr, held: str, depth: int) -> Iterator[tuple[ast.Constant | None, str, str]]:
        """Literals behind an expression, the variable that holds each, and why there is none."""
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                yield node, held, ""
        elif isinstance(node, ast.List | ast.Tuple):
            for inner in node.elts:
                yield from self._texts(inner, held, depth)
        elif isinstance(node, ast.Name) and depth < 4:
            home = self._home(node, node.id)
            values = [] if home is None else self.assigned[id(home), node.id]
            problem = "" if home is None else self._other_use(node.id, home)
            if not values or None in values:
                problem = f"the text of {node.id} comes from elsewhere"
            if problem:
                yield None, node.id, problem
            else:
                for value in filter(None, values):
                    yield from self._texts(value, node.id, depth + 1)
        elif isinstance(node, ast.Call) and self._keeps_text(node):
            inner = node.func.value if isinstance(node.func, ast.Attribute) and not node.args else node.args[0]
            yield from self._texts(inner, held, depth + 1)
        else:
            yield None, held, f"the text is made at run time: {_short(node)}"

    @staticmethod
    def _keeps_text(node: ast.Call) -> bool:
        """`s.encode()`, `str.encode(s)`, `bytes(s, "utf-8")`."""
        name = ast.unparse(node.func)
        if name in ("str.encode", "bytes") and node.args:
            return True
        return isinstance(node.func, ast.Attribute) and node.func.attr == "encode" and not isinstance(
            node.func.value, ast.Call
        )  # fmt: skip

    def _other_use(self, name: str, home: ast.AST) -> str:
        """What else is done with a variable that would see the new text."""

        def is_it(node: ast.AST) -> bool:
            return isinstance(node, ast.Name) and node.id == name and self._home(node, name) is home

        for node in ast.walk(self.root):
            if isinstance(node, ast.Attribute) and is_it(node.value) and node.attr not in ("encode", "count"):
                return f"{name}.{node.attr} changes or searches the text"
            if isinstance(node, ast.BinOp) and (is_it(node.left) or is_it(node.right)):
                return f"{name} is a part of another text"
            if isinstance(node, ast.FormattedValue) and is_it(node.value):
                return f"{name} is a part of another text"
        return ""

    def _with_literal(self, made: PythonSource, node: ast.Constant) -> PythonSource:
        literal = self._literal(node)
        if literal is None:
            return replace(made, problem="its literal has escapes that are not followed")
        return replace(made, literal=literal, at=literal.position(0))

    def _place(self, node: ast.expr) -> tuple[int, int]:
        """Byte range: ast counts columns in bytes of UTF-8."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        start = self.source.line_start(node.lineno) + node.col_offset
        return start, self.source.line_start(node.end_lineno) + node.end_col_offset

    def _literal(self, node: ast.Constant) -> Literal | None:
        start, end = self._place(node)
        pieces: list[Piece] = []
        text, forms, at = "", list[tuple[bool, str]](), start
        while at < end:
            blank = _BETWEEN.match(self.source.text, at, end)
            at = blank.end() if blank else at
            if at >= end:
                break
            opened = _OPENING.match(self.source.text, at, end)
            if opened is None:
                return None
            raw, quote = "r" in opened["prefix"].lower(), opened["quote"]
            found = _characters(self.source.text, opened.end(), end, quote, raw=raw)
            if found is None:
                return None
            characters, starts, after = found
            pieces.append(Piece(len(text), starts, quote if raw or len(quote) == 3 else None))
            forms.append((raw, quote))
            text += characters
            at = after
        if text != str(node.value).encode("utf-8", "surrogatepass").decode("latin-1"):
            return None
        return _PythonLiteral(text, tuple(pieces), tuple(forms))


_BETWEEN = re.compile(r"(?:[\s\\()]|#[^\n]*)+")
_OPENING = re.compile(r"(?P<prefix>[rRuU]?)(?P<quote>\"\"\"|'''|\"|')")
_SIMPLE = {"n": "\n", "t": "\t", "\\": "\\", "'": "'", '"': '"', "0": "\0", "r": "\r"}


def _characters(text: str, at: int, end: int, quote: str, *, raw: bool) -> tuple[str, tuple[int, ...], int] | None:
    """The characters of a literal up to its quote, where each begins, and what follows; None for rare escapes."""
    found: list[str] = []
    starts: list[int] = []
    while at < end:
        if text.startswith(quote, at):
            return "".join(found), (*starts, at), at + len(quote)
        character = text[at]
        if character == "\\" and raw:
            found += text[at : at + 2]
            starts += [at, at + 1]
            at += 2
        elif character == "\\":
            following = text[at + 1]
            if following == "\n":
                at += 2
                continue
            if following in "xuUN01234567abfv" and not (following == "0" and not text[at + 2].isdigit()):
                return None
            found += [_SIMPLE[following]] if following in _SIMPLE else ["\\", following]
            starts += [at] if following in _SIMPLE else [at, at + 1]
            at += 2
        else:
            found.append(character)
            starts.append(at)
            at += 1
    return None


@dataclass(frozen=True)
class _PythonLiteral(Literal):
    """A literal of Python: what may be written into it depends on its quotes."""

    forms: tuple[tuple[bool, str], ...] = ()
    """Of each piece: whether it is raw, and its quote."""

    def edits(self, edit: Edit) -> tuple[Edit, ...] | None:
        """None where the new text would mean something else there."""
        for raw, quote in self.forms:
            if "\\" in edit.text and not raw and len(quote) == 3:
                return None
            if len(quote) == 1 and (quote in edit.text or (raw and "\n" in edit.text)):
                return None
        return super().edits(edit)


def _imported(root: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(root):
        if isinstance(node, ast.ImportFrom):
            yield from ((alias.asname or alias.name, node.module or "") for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.asname or alias.name.partition(".")[0], alias.name) for alias in node.names)


def _short(node: ast.expr) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 40 else text[:37] + "..."
