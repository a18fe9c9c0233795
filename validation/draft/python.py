"""Drafts of cases for what a Python file has compiled as CUDA: kernels of its texts, launches of its code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from porter.validation.cases.python_kernels import C_TYPES, NotMade, Passed, declared, letters, name_of, parameters_of
from porter.validation.cases.python_units import PythonUnit, python_units
from porter.validation.draft.declarations import without_comments
from porter.validation.draft.host import Host
from porter.validation.draft.python_host import Kernel as Named
from porter.validation.draft.python_host import as_host
from porter.validation.draft.string import StringUnit
from porter.validation.draft.unit import SourceText, kernels_of

from porter.engine.python_strings import PythonProgram
from porter.errors import Unusable
from porter.system.reading import parsed_python, read_regular

_LINE = re.compile(r"^#line [^\n]*$", re.MULTILINE)
_OPTION = re.compile(r"[\"']-D\s?(\w+)(=?)([^\"']*)[\"']")
_THREADS = 128
_TREE_THREADS = 256
_MODULE = 0
Scopes = Mapping[int, int]
"""By function (0: the module): the one around it."""


def python_string_units(path: Path) -> tuple[tuple[StringUnit, ...], tuple[str, ...]]:
    """The texts with kernels, and what is said of those that cannot be followed; raises Unusable."""
    try:
        units = python_units(path)
        root = parsed_python(read_regular(path)) if units else ast.Module(body=[], type_ignores=[])
    except (OSError, ValueError) as error:
        raise Unusable(f"{path}: {error}") from None
    together: dict[str, list[PythonUnit]] = {}
    for unit in units:
        if unit.content:
            together.setdefault(unit.content, []).append(unit)
    made = [one for same in together.values() if (one := _unit(path, root, same)) is not None]
    left = [f"line {unit.line}: {unit.program.name}: no case, because {unit.problem}" for unit in units if unit.problem]
    return tuple(_told_apart(made, tuple(together.values()))), tuple(dict.fromkeys(left))


def _told_apart(
    made: Sequence[tuple[PythonUnit, StringUnit]], all_units: Sequence[Sequence[PythonUnit]]
) -> Iterator[StringUnit]:
    """By variable where that is one text's alone, else by line."""
    for unit, one in made:
        names = {kernel.name for kernel in one.unit.kernels}
        others = [same[0] for same in all_units if same[0].content != unit.content]
        rivals = [other for other in others if any(re.search(rf"\b{name}\b", other.content) for name in names)]
        if not rivals:
            yield one
            continue
        free = sorted(unit.names - {name for other in rivals for name in other.names})
        yield replace(one, name=free[0] if free else str(unit.line))


def _unit(path: Path, root: ast.Module, same: Sequence[PythonUnit]) -> tuple[PythonUnit, StringUnit] | None:
    unit = same[0]
    program = unit.program
    if program.name in ("ElementwiseKernel", "ReductionKernel"):
        own, host = _around_expression(program)
    else:
        own = without_comments(_LINE.sub("", unit.content))
        types = {kernel.name: [p.type for p in kernel.parameters] for kernel in kernels_of(path, own)}
        host = ""
        for names in _by_scope(root, same):
            host += as_host(names[0], names[1], types)
        host += _named_instances(program)
    defines = tuple(_defines(program, own))
    macros = (define.partition("=") for define in defines if not define.endswith("="))
    text = f"{own}\n{host}" + "".join(f"\n#define {name} {value or 1}" for name, _, value in macros) + "\n"
    inside = tuple(kernel for kernel in kernels_of(path, text) if kernel.span.start < len(own))
    if not inside:
        return None
    notes = _notes(program)
    return unit, StringUnit("", SourceText(path, Host(text, ()), inside), defines, notes)


def _notes(program: PythonProgram) -> tuple[str, ...]:
    """What a draft assumes."""
    if program.name not in ("ElementwiseKernel", "ReductionKernel"):
        return ()
    one = f"line {program.call.lineno}: {program.compiler.library} makes the kernel around the text"
    found = [f"{one}, and its launch: arrays have no gaps here, grid and block are assumed"]
    if program.compiler.library == "CuPy" and (kinds := letters(parameters_of(program))):
        found.append(f"types that the call decides are assumed: {', '.join(kinds)}")
    return tuple(found)


def _named_instances(program: PythonProgram) -> str:
    """`name_expressions` of CuPy: instances, wherever they are launched."""
    names = re.findall(r"[\"']([A-Za-z_][\w:]*<[^\"'{}]*>)[\"']", program.words.get("name_expressions", ""))
    return "".join(f"void python_names() {{ {name}<<<python(), python()>>>(); }}\n" for name in names)


def _defines(program: PythonProgram, own: str) -> Iterator[str]:
    for word in ("options", "extra_cuda_cflags"):
        for name, given, value in _OPTION.findall(program.words.get(word, "")):
            if re.search(rf"\b{name}\b", own):
                yield f"{name}={value}" if value or not given else f"{name}="


# -- which names are kernels --------------------------------------------------------------------------


def _by_scope(
    root: ast.Module, same: Sequence[PythonUnit]
) -> Iterator[tuple[ast.Module | ast.FunctionDef, dict[str, Named]]]:
    """Each function, and the module, with the names that stand for kernels of a text there."""
    programs = {(unit.program.call.lineno, unit.program.call.col_offset): unit.program for unit in same}
    functions = [node for node in ast.walk(root) if isinstance(node, ast.FunctionDef)]
    around: dict[int, int] = {}
    owner: dict[int, int] = {}
    _enter(root, _MODULE, around, owner)
    modules: dict[tuple[int, str], PythonProgram] = {}
    found: dict[int, dict[str, Named]] = {}
    assigned = [node for node in ast.walk(root) if isinstance(node, ast.Assign) and len(node.targets) == 1]
    for node in assigned:
        program = programs.get(_place(node.value))
        if program is not None:
            scope = _scope_of(node.targets[0], owner[id(node)])
            name = ast.unparse(node.targets[0])
            modules[scope, name] = program
            if program.name == "RawKernel":
                found.setdefault(scope, {})[name] = Named(program.words.get("name", ""), "CuPy")
    for call in (node for node in ast.walk(root) if isinstance(node, ast.Call)):
        scope = owner[id(call)]
        direct = programs.get(_place(call))
        if direct is not None and direct.name == "RawKernel":
            found.setdefault(scope, {})[ast.unparse(call)] = Named(direct.words.get("name", ""), "CuPy")
        named = _function_of(call, programs, modules, around, scope)
        if named is not None:
            found.setdefault(scope, {})[ast.unparse(call)] = named
            for node in assigned:
                if node.value is call:
                    target = node.targets[0]
                    found.setdefault(_scope_of(target, scope), {})[ast.unparse(target)] = named
    yield root, found.get(_MODULE, {})
    for function in functions:
        chain, scope = [found.get(id(function), {})], id(function)
        while scope != _MODULE:
            scope = around[scope]
            chain.append(found.get(scope, {}))
        yield function, {name: one for names in reversed(chain) for name, one in names.items()}


def _place(node: ast.expr) -> tuple[int, int]:
    return (node.lineno, node.col_offset) if isinstance(node, ast.Call) else (0, 0)


def _scope_of(target: ast.expr, scope: int) -> int:
    """An attribute is everybody's."""
    return _MODULE if isinstance(target, ast.Attribute) else scope


def _enter(node: ast.AST, scope: int, around: dict[int, int], owner: dict[int, int]) -> None:
    pending = [(node, scope)]
    while pending:
        node, scope = pending.pop()
        owner[id(node)] = scope
        if isinstance(node, ast.FunctionDef):
            around[id(node)] = scope
            scope = id(node)
        pending += [(child, scope) for child in ast.iter_child_nodes(node)]


def _function_of(
    call: ast.Call, programs: Mapping[tuple[int, int], PythonProgram],
    modules: Mapping[tuple[int, str], PythonProgram], around: Scopes, scope: int,
) -> Named | None:  # fmt: skip
    """`module.get_function("name")`."""
    if not (isinstance(call.func, ast.Attribute) and call.func.attr in ("get_function", "get_kernel") and call.args):
        return None
    held = call.func.value
    program = programs.get(_place(held))
    while program is None:
        program = modules.get((scope, ast.unparse(held)))
        if scope == _MODULE:
            break
        scope = around[scope]
    name = _written(call.args[0])
    return None if program is None or not name else Named(name, program.compiler.library)


def _written(node: ast.expr) -> str:
    """A kernel's name, without template arguments that are made at run time."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    first: ast.expr | None = None
    if isinstance(node, ast.JoinedStr) and node.values:
        first = node.values[0]
    elif isinstance(node, ast.BinOp):
        first = node.left
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        first = node.func.value
    text = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
    return text.partition("<")[0] if "<" in text else ""


# -- kernels around expressions -----------------------------------------------------------------------


def _around_expression(program: PythonProgram) -> tuple[str, str]:
    """A kernel as a draft reads it, and a launch of ours: CuPy and PyCUDA choose theirs."""
    texts: dict[str, str] = {}
    for text in program.texts:
        if text.literal is not None:
            texts[text.role] = texts.get(text.role, "") + without_comments(text.literal.text)
    try:
        name = name_of(program)
        if program.compiler.library == "PyCUDA":
            return _of_pycuda(program, name, texts)
        passed = parameters_of(program)
    except NotMade:
        return "", ""
    kinds, length = letters(passed), _free("n", {p.name for p in passed})
    head = f"template <{', '.join(f'typename {kind}' for kind in kinds)}>\n" if kinds else ""
    head += f"__global__ void {name}({', '.join(map(_declaration, passed))}, long long {length}) {{\n"
    is_tree = program.name == "ReductionKernel"
    if is_tree:
        results = "".join(f"  {p.name}[0] = total;\n" for p in passed if p.is_result)
        added = _indexed(texts["map_expr"], passed)
        body = f"  for (long long i = 0; i < {length}; ++i) {{\n total += {added};\n  }}\n{results}"
    else:
        body = f"  if (i < {length}) {{\n{_indexed(texts.get('operation', ''), passed)};\n  }}\n"
    own = f"{texts.get('preamble', '')}\n{head}{body}}}\n"
    chosen = {kind: _likely(kind, passed, " ".join(texts.values())) for kind in kinds}
    lines: list[str] = []
    for one in passed:
        kind = chosen.get(one.type, one.type)
        count = "1" if is_tree and one.is_result else length
        lines += [] if one.is_scalar else [f"{kind}* {one.name} = new {kind}[{count}];"]
    template = f"<{', '.join(chosen.values())}>" if kinds else ""
    given = ", ".join(f"{p.name}{f', {length}' if p.is_raw else ''}" for p in passed)
    return own, _launched(name + template, lines, f"{given}, {length}", length, is_tree=is_tree)


def _free(name: str, taken: set[str]) -> str:
    """A name that is nobody's."""
    return next(other for other in (name, "count", "elements", "porter_n") if other not in taken)


def _declaration(passed: Passed) -> str:
    if passed.is_scalar:
        return f"{passed.type} {passed.name}"
    return f"{'' if passed.is_result else 'const '}{passed.type}* {passed.name}{_size_of(passed)}"


def _likely(kind: str, passed: Sequence[Passed], text: str) -> str:
    """The type for a letter: one of integers where the text needs them."""
    names = [re.escape(one.name) for one in passed if one.type == kind]
    if any(re.search(rf"\[[^\]]*\b{name}\b", text) for name in names):
        return "int"
    return "int" if re.search(r"%|<<|>>|\^|~|(?<!&)&(?!&)|(?<!\|)\|(?!\|)", text) else "float"


def _size_of(passed: Passed) -> str:
    return f", long long {passed.name}_size" if passed.is_raw else ""


def _indexed(text: str, passed: Sequence[Passed]) -> str:
    names = {one.name for one in passed if not one.is_raw and not one.is_scalar}
    return re.sub(r"(?<![\w.])[A-Za-z_]\w*", lambda word: f"{word[0]}[i]" if word[0] in names else word[0], text)


def _of_pycuda(program: PythonProgram, name: str, texts: Mapping[str, str]) -> tuple[str, str]:
    pairs, arguments = declared(program), program.words["arguments"]
    is_tree = program.name == "ReductionKernel"
    result = program.words.get("dtype_out", "").rpartition(".")[2]
    lines = [f"{kind}* {word} = new {kind}[n];" for kind, star, word in pairs if star]
    given = ", ".join(word for _, _, word in pairs)
    if is_tree:
        kind = C_TYPES.get(result, "float")
        head = f"__global__ void {name}({kind}* porter_out, {arguments}, long n) {{\n"
        body = f"  for (long i = 0; i < n; ++i) {{ total += {texts.get('map_expr', '')}; }}\n  porter_out[0] = total;\n"
        lines.append(f"{kind}* porter_out = new {kind}[1];")
        given = f"porter_out, {given}"
    else:
        head = f"__global__ void {name}({arguments}, long n) {{\n"
        body = f"  if (i < n) {{\n{texts.get('operation', '')};\n  }}\n"
    own = f"{texts.get('preamble', '')}\n{head}{body}}}\n"
    return own, _launched(name, lines, f"{given}, n", "n", is_tree=is_tree)


def _launched(name: str, lines: Sequence[str], given: str, length: str, *, is_tree: bool) -> str:
    dimensions = f"1, {_TREE_THREADS}" if is_tree else f"({length} + {_THREADS - 1}) / {_THREADS}, {_THREADS}"
    inside = "\n".join(
        f"  {line}" for line in (f"long {length} = 1000;", *lines, f"{name}<<<{dimensions}>>>({given});")
    )
    return f"void python_module() {{\n{inside}\n}}\n"
