"""`porter cases init`: a draft of a case file from signatures and launch sites; what they do not tell is marked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from porter.validation.case import LANES, SUFFIX
from porter.validation.caseargs import TODO
from porter.validation.casefile import SCHEMA
from porter.validation.draft_image import image_line
from porter.validation.draft_torch import DTYPES as TORCH_DTYPES
from porter.validation.draft_torch import View, dispatched, split_types, view_in
from porter.validation.expression import FUNCTIONS, BadExpression, Expression
from porter.validation.shorthand import split

from porter.errors import Unusable
from porter.kernels import find_kernels
from porter.lex import lex
from porter.model import Kernel, Launch, Parameter
from porter.source import SourceFile

_DTYPES = {
    "float": "float32", "double": "float64", "__half": "float16", "half": "float16", "__nv_bfloat16": "bfloat16",
    "nv_bfloat16": "bfloat16", "int": "int32", "signed": "int32", "unsigned": "uint32", "unsigned int": "uint32",
    "short": "int16", "unsigned short": "uint16", "char": "int8", "signed char": "int8", "unsigned char": "uint8",
    "long": "int64", "long long": "int64", "unsigned long": "uint64", "unsigned long long": "uint64", "bool": "bool",
    "size_t": "uint64", "ptrdiff_t": "int64",
    **{f"{sign}int{bits}_t": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}  # fmt: skip
_VECTOR = re.compile(r"(float|double|int|uint|char|uchar|short|ushort|longlong|ulonglong)([234])")
_SCALARS = {"uint": "unsigned", "uchar": "unsigned char", "ushort": "unsigned short", "longlong": "long long",
            "ulonglong": "unsigned long long"}  # fmt: skip
_QUALIFIERS = re.compile(r"\b(?:const|volatile|__restrict__|__restrict|restrict|std::|__grid_constant__)\b|std::")
_COOPERATIVE = "LaunchCooperativeKernel"
_DEEPEST = 6


@dataclass(frozen=True)
class Draft:
    """The text of a case file."""

    text: str
    cases: int
    marks: int
    """Places that have to be filled in."""


def draft(source: Path, kernels: tuple[str, ...] = ()) -> Draft:
    """Cases for the kernels of a file, or for those named."""
    try:
        file = SourceFile(str(source), source.read_bytes())
    except OSError as error:
        raise Unusable(f"{source}: {error.strerror}") from None
    found = find_kernels(lex(file.text), str(source), file)
    names = {kernel.name for kernel in found}
    unknown = [name for name in kernels if name not in names]
    if unknown or not found:
        there = ", ".join(sorted(names)) or "none"
        raise Unusable(f"{source}: no kernel {unknown[0] if unknown else ''}; there are: {there}".replace("  ", " "))
    chosen = [kernel for kernel in found if not kernels or kernel.name in kernels]
    parts = [f'schema = "{SCHEMA}"\nsource = "{source.name}"\n']
    for kernel in chosen:
        parts += [_case(one, file.text, source.parent) for one in _instances(kernel, file.text)]
    text = "\n".join(parts)
    return Draft(text, len(parts) - 1, text.count(TODO))


def place_of(source: Path) -> Path:
    """Where the draft goes: beside the source."""
    return source.with_name(source.stem + SUFFIX)


@dataclass(frozen=True)
class _Instance:
    """A kernel as one launch has it."""

    kernel: Kernel
    launch: Launch | None
    template: Mapping[str, str]
    given: Mapping[str, str]
    """Names of the host's variables -> the kernel's parameters that they are passed for."""

    @property
    def name(self) -> str:
        """As a case names it."""
        qualified = self.kernel.qualified.replace("(anonymous namespace)::", "")
        if not self.kernel.template_parameters:
            return qualified
        arguments = (self.template.get(_last_word(p), TODO) for p in self.kernel.template_parameters)
        return f"{qualified}<{', '.join(arguments)}>"


def _last_word(text: str) -> str:
    words = re.findall(r"\w+", text.partition("=")[0])
    return words[-1] if words else text


def _instances(kernel: Kernel, text: str) -> Iterator[_Instance]:
    """One per distinct set of template arguments."""
    seen: set[tuple[str, ...]] = set()
    for launch in kernel.launches or (None,):
        arguments = _template_arguments(launch)
        if arguments in seen:
            continue
        seen.add(arguments)
        names = [_last_word(parameter) for parameter in kernel.template_parameters]
        host = text[: launch.span.start] if launch else text
        known = {n: v for n, a in zip(names, arguments, strict=False) if (v := _template_value(a, host)) is not None}
        yield _Instance(kernel, launch, known, _given(kernel, launch, text))


def _template_arguments(launch: Launch | None) -> tuple[str, ...]:
    inside = re.search(r"<(.*)>\s*$", launch.kernel, re.DOTALL) if launch else None
    return tuple(split_types(inside[1])) if inside else ()


def _template_value(argument: str, host: str) -> str | None:
    """A type or a number that is one; a name only when it stands for a number."""
    if _dtype(argument) or re.fullmatch(r"-?\d+|true|false", argument):
        return argument
    return _constant(argument, host) or dispatched(argument, host)


def _constant(name: str, host: str) -> str | None:
    word = re.escape(name)
    declared = rf"(?:constexpr|const)\s+(?:\w+\s+)*{word}\s*=\s*(\d+)\s*[;,]"
    defined = rf"#\s*define\s+{word}\s+(\d+)\s*$"
    found: list[str] = re.findall(declared, host) or re.findall(defined, host, re.MULTILINE)
    return found[-1] if found else None


def _given(kernel: Kernel, launch: Launch | None, text: str) -> dict[str, str]:
    if launch is None:
        return {}
    called = re.search(r">>>\s*\((.*)\)\s*$", text[launch.span.start : launch.span.end], re.DOTALL)
    arguments = split(called[1]) if called else []
    if len(arguments) != len(kernel.parameters):
        return {}
    pairs = zip(arguments, kernel.parameters, strict=True)
    return {argument: p.name for argument, p in pairs if re.fullmatch(r"\w+", argument) and "*" not in p.type}


# -- the text of a case -------------------------------------------------------------------------------


def _case(instance: _Instance, text: str, folder: Path) -> str:
    kernel, launch = instance.kernel, instance.launch
    scalars = [p.name for p in kernel.parameters if _is_integer(p, instance)]
    lines = ["[[case]]", f'kernel = "{instance.name}"']
    if scalars:
        sizes = ", ".join(f"{name} = [1, 31, 32, 33, 1000]" for name in scalars)
        lines.append(f"sweep = {{ {sizes} }}")
    host = text[: launch.span.start] if launch else ""
    for key, written in (("grid", launch.grid if launch else ""), ("block", launch.block if launch else "")):
        lines.append(f"{key} = {_dimensions(written, host, instance, scalars)}")
    shared = launch.shared if launch else "0"
    if shared.strip() not in ("", "0"):
        lines.append(f"shared = {_side(shared, host, instance, scalars)}")
    if launch is not None and _COOPERATIVE in text[launch.span.start : launch.span.end]:
        lines.append("cooperative = true")
    lines.append("arguments = [")
    body = text[kernel.span.start : kernel.span.end]
    for parameter in kernel.parameters:
        image = image_line(parameter.name, parameter.type, body, text)
        lines.append(f'  "{image or _argument(parameter, instance, body, scalars)}",')
    lines.append("]")
    lines.append(_reference(kernel, folder))
    return "\n".join(lines) + "\n"


def _reference(kernel: Kernel, folder: Path) -> str:
    path = folder / "reference.py"
    for name in (f"reference_{kernel.name}", kernel.name):
        if path.is_file() and re.search(rf"^def {name}\(", path.read_text("utf-8", "replace"), re.MULTILINE):
            return f'reference = "reference.py:{name}"'
    return f'# reference = "reference.py:{kernel.name}"  # without one, original and port are compared with each other'


def _bare(kind: str, template: Mapping[str, str]) -> str:
    words = " ".join(_QUALIFIERS.sub(" ", kind.replace("*", " ").replace("&", " ")).split())
    return template.get(words, words)


def _dtype(kind: str) -> str | None:
    words = " ".join(_QUALIFIERS.sub(" ", kind).split())
    if torch := re.fullmatch(r"(?:at|c10|torch)::(\w+)", words):
        return TORCH_DTYPES.get(torch[1])
    return _DTYPES.get(words) or _DTYPES.get(words.removesuffix(" int"))


def _is_integer(parameter: Parameter, instance: _Instance) -> bool:
    dtype = _dtype(_bare(parameter.type, instance.template))
    return "*" not in parameter.type and dtype is not None and dtype.lstrip("u").startswith("int")


def _argument(parameter: Parameter, instance: _Instance, body: str, scalars: list[str]) -> str:
    view = view_in(parameter.type)
    if view is not None:
        return _view(parameter, view, instance, body)
    bare = _bare(parameter.type, instance.template)
    dtype, vector = _dtype(bare), _VECTOR.fullmatch(bare)
    if "*" not in parameter.type:
        value = parameter.name if parameter.name in scalars else TODO
        return f"scalar {parameter.name}: {dtype or TODO} = {value}"
    if vector is not None:
        dtype = _DTYPES[_SCALARS.get(vector[1], vector[1])]
    sides = [_length(parameter.name, body, scalars) or TODO]
    if vector is not None:
        sides.append(vector[2])
    kind, values = _kind(parameter, body)
    return f"{kind} {parameter.name}: {dtype or TODO}[{', '.join(sides)}]{values}"


def _view(parameter: Parameter, view: View, instance: _Instance, body: str) -> str:
    """An accessor: how many dimensions it has is known, how long they are is not."""
    dtype = _dtype(_bare(view.element, instance.template)) or TODO
    name = re.escape(parameter.name)
    inside = body.partition("{")[2]
    element = rf"\b{name}(?:\s*\[[^;=\]]*\])+\s*"
    kind, values = f"{TODO}(in, out, inout or scratch)", ""
    if re.search(element + r"[-+*/|&^]=|\batomic\w+\s*\(\s*&?\s*" + element, inside, re.IGNORECASE):
        kind, values = "inout", " = zeros"
    elif re.search(element + "=(?!=)", inside):
        kind = "out"
    elif re.search(element, inside) or re.match(r"\s*const\b", parameter.type):
        kind = "in"
    sides = ", ".join([TODO] * view.dimensions)
    return f"{kind} {parameter.name}: {dtype}[{sides}] {{view={view.kind}}}{values}"


def _length(name: str, body: str, scalars: list[str]) -> str | None:
    """The size that guards the index of an array: `if (i < n) ... name[i]`."""
    for index in re.findall(rf"\b{re.escape(name)}\s*\[\s*(\w+)\s*\]", body):
        for size in scalars:
            if re.search(rf"\b{index}\s*<\s*{size}\b|\b{index}\s*>=\s*{size}\b", body):
                return size
    return None


def _kind(parameter: Parameter, body: str) -> tuple[str, str]:
    """How the kernel uses a pointer: plain assignments write, atomics add to what is there."""
    if re.search(r"\bconst\b[^*]*\*", parameter.type):
        return "in", ""
    name = re.escape(parameter.name)
    inside = body.partition("{")[2]
    uses = len(re.findall(rf"\b{name}\b", inside))
    if re.search(rf"\batomic\w+\s*\(\s*&?\s*\(?\s*{name}\b", inside):
        return "inout", " = zeros"
    if len(re.findall(rf"\b{name}\s*\[[^;=]*\]\s*=(?!=)", inside)) == uses > 0:
        return "out", ""
    if re.search(rf"\b{name}\s*\[[^;=]*\]\s*[-+*/|&^]=", inside):
        return "inout", ""
    return f"{TODO}(out, inout or scratch)", ""


# -- launch expressions -------------------------------------------------------------------------------


def _dimensions(written: str, host: str, instance: _Instance, scalars: list[str]) -> str:
    text = _looked_up(written.strip(), host, _DEEPEST)
    inner = re.fullmatch(r"dim3\s*\((.*)\)", text, re.DOTALL)
    sides = split(inner[1]) if inner else [text]
    shown = [_side(side, host, instance, scalars) for side in sides]
    return shown[0] if len(shown) == 1 else f"[{', '.join(shown)}]"


def _looked_up(text: str, host: str, depth: int) -> str:
    """What a variable of type dim3 was made of."""
    if not re.fullmatch(r"\w+", text) or text.isdigit() or depth == 0:
        return text
    made = re.findall(rf"\bdim3\s+{text}\s*[({{]([^;]*)[)}}]\s*;|\bdim3\s+{text}\s*=\s*dim3\s*\(([^;]*)\)\s*;", host)
    return f"dim3({made[-1][0] or made[-1][1]})" if made else text


def _side(written: str, host: str, instance: _Instance, scalars: list[str]) -> str:
    """A C++ expression as one of a case file; marked, with what was written, where that cannot be."""
    converted = _converted(written, host, instance, scalars, _DEEPEST)
    try:
        expression = Expression(converted)
        expression.check()
        if expression.names <= {*scalars, LANES}:
            return converted if converted.isdigit() else f'"{converted}"'
    except BadExpression:
        pass
    shown = " ".join(written.split()).replace("\\", "/").replace('"', "'")
    return f'"{TODO}: {shown}"' if shown else f'"{TODO}"'


_SIZES = {"float": 4, "double": 8, "int": 4, "unsigned": 4, "half": 2, "__half": 2, "char": 1, "float4": 16, "T": 0}


def _converted(text: str, host: str, instance: _Instance, scalars: list[str], depth: int) -> str:
    text = " ".join(text.split())
    text = re.sub(r"sizeof\s*\(\s*([\w ]+?)\s*\)", lambda m: str(_SIZES.get(m[1], 0) or m[0]), text)
    text = re.sub(r"static_cast\s*<[^<>]*>\s*", "", text)
    text = re.sub(r"\(\s*(?:unsigned|int|size_t|unsigned int)\s*\)\s*(?=[\w(])", "", text)
    text = re.sub(r"\b(\d+)[uUlL]+\b", r"\1", text)
    text = re.sub(r"(?<!/)/(?!/)", " // ", text)
    text = re.sub(r"\b(?:std::)?(min|max)\b", r"\1", text)

    def known(match: re.Match[str]) -> str:
        name = match[0]
        if name in scalars or name in FUNCTIONS:
            return name
        if name in instance.given and instance.given[name] in scalars:
            return instance.given[name]
        if name in instance.template:
            return instance.template[name]
        value = _variable(name, host) if depth else None
        if value is None:
            return name
        inner = _converted(value[0], host, instance, scalars, depth - 1)
        if not value[1] and not set(re.findall(r"[A-Za-z_]\w*", inner)) & set(scalars):
            return name  # a size of this one run of the program
        return inner if re.fullmatch(r"\w+", inner) else f"({inner})"

    text = re.sub(r"\b[A-Za-z_]\w*\b(?!\s*::)", known, re.sub(r"\b\w+::", "", text))
    return " ".join(text.split()).removeprefix("(").removesuffix(")") if _is_wrapped(text) else " ".join(text.split())


def _is_wrapped(text: str) -> bool:
    """Whether one pair of parentheses holds all of it."""
    text = text.strip()
    if not (text.startswith("(") and text.endswith(")")):
        return False
    depth = 0
    for index, char in enumerate(text):
        depth += {"(": 1, ")": -1}.get(char, 0)
        if depth == 0 and index < len(text) - 1:
            return False
    return True


def _variable(name: str, host: str) -> tuple[str, bool] | None:
    """What a variable or a macro was last set to before the launch, if one expression tells; whether it is constant."""
    word = re.escape(name)
    if re.search(rf"(?<!&)&\s*{word}\b", host):
        return None
    found = list(re.finditer(rf"(?<![.\w>]){word}\s*=(?!=)\s*([^;={{}}]*?)\s*(?:;|,\s*\w+\s*=)", host))
    if found:
        begin = max(host.rfind(mark, 0, found[-1].start()) for mark in ";{}")
        is_constant = re.search(r"\bconst(?:expr)?\b", host[begin + 1 : found[-1].start()]) is not None
        return found[-1][1], is_constant
    macros = re.findall(rf"^[ \t]*#[ \t]*define[ \t]+{word}[ \t]+(.+)$", host, re.MULTILINE)
    return (macros[-1], True) if macros and macros[-1] != name else None
