"""Cuts a kernel out of a file that needs more than the machine has: its closure stays, line by line where it was."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from porter.validation.build.torch_use import torch_of
from porter.validation.devices.device import Program
from porter.validation.harness.items import Item, items
from porter.validation.toolchain.entry import without_types
from porter.validation.toolchain.nvcc import find_nvcc
from porter.validation.toolchain.result import Missing
from porter.validation.toolchain.torch_headers import TorchHeaders

from porter.cpp.launches import base_name
from porter.cpp.lex import Include, Tokens, lex
from porter.engine.support import FOLDER, include_folder
from porter.system.reading import is_regular, read_regular, regular_file

_FRAMEWORKS = frozenset({"torch", "ATen", "c10", "caffe2", "pybind11", "tensorflow", "jaxlib"})
_TORCH_NAME = re.compile(r"(?:at|c10|torch)$|(?:C10|AT|TORCH|WARP)_|gpuAtomic|ATenCeilDiv$")
_MOVED = {"THC/THCAtomics.cuh": "ATen/cuda/Atomic.cuh", "THC/THCDeviceUtils.cuh": "ATen/cuda/DeviceUtils.cuh"}
_ALONE = frozenset(
    f"ATen/cuda/{name}" for name in ("Atomic.cuh", "DeviceUtils.cuh", "NumericLimits.cuh", "detail/TensorInfo.cuh")
)
"""Headers of PyTorch's for kernels that need no library of CUDA or ROCm."""
_USUAL = (
    (re.compile(r"u?int(?:8|16|32|64|ptr)_t"), "cstdint", "cstdint"),
    (re.compile(r"(?:FLT|DBL)_(?:MAX|MIN|EPSILON)"), "cfloat", "cfloat"),
    (re.compile(r"(?:U?INT|U?L?LONG|U?CHAR|U?SHRT)_(?:MAX|MIN)"), "climits", "climits"),
    (re.compile(r"(?:__)?half2?"), "cuda_fp16.h", "hip/hip_fp16.h"),
    (re.compile(r"(?:__)?nv_bfloat162?"), "cuda_bf16.h", "hip/hip_bf16.h"),
    (
        re.compile(r"CU(?:deviceptr|stream|event|context|module|function|array|texObject|surfObject|result)"),
        "cuda.h",
        "hip/hip_runtime.h",
    ),
    (re.compile(r"(?:cu|hip)rand(?:State\w*|_\w+)?"), "curand_kernel.h", "hiprand/hiprand_kernel.h"),
    (
        re.compile(r"cu(?:Float|Double)?Complex|(?:make_)?(?:cu|hip)(?:Float|Double)?Complex"),
        "cuComplex.h",
        "hip/hip_complex.h",
    ),
    (re.compile(r"cooperative_groups"), "cooperative_groups.h", "hip/hip_cooperative_groups.h"),
    (re.compile(r"nvcuda|wmma"), "mma.h", "hip/hip_runtime.h"),
    (re.compile(r"assert"), "cassert", "cassert"),
    (re.compile(r"printf"), "cstdio", "cstdio"),
    (re.compile(r"numeric_limits"), "limits", "limits"),
    (re.compile(r"M_(?:PI|E|SQRT2|LN2)\w*"), "cmath", "cmath"),
)
_OF_THRUST = (
    (frozenset({"complex"}), "thrust/complex.h"),
    (frozenset({"plus", "minus", "multiplies", "maximum", "minimum", "less", "greater"}), "thrust/functional.h"),
    (frozenset({"pair", "make_pair"}), "thrust/pair.h"),
    (frozenset({"tuple", "make_tuple", "get"}), "thrust/tuple.h"),
)
"""Its headers for names that device code uses."""
_CONDITIONS = {"if": 1, "ifdef": 1, "ifndef": 1, "endif": -1}
_ERROR = re.compile(r"^[ \t]*#[ \t]*error\b[^\n]*", re.MULTILINE)
"""What a header says to whoever builds it without its build: the kernel alone may not need what is missing."""
_SYSTEM = ("/usr/include", "/usr/local/include", "/usr/include/x86_64-linux-gnu")


@dataclass(frozen=True)
class _File:
    path: Path
    text: str
    tokens: Tokens
    items: tuple[Item, ...]
    local: dict[int, _File] = field(default_factory=dict)
    """Files of the project by the place of the `#include` that names them."""
    is_support: bool = False
    """A header that porter wrote: included as it is, wherever the unit lies."""

    def walk(self) -> Iterator[_File]:
        """This file and all it includes."""
        yield self
        for other in self.local.values():
            yield from other.walk()


def kind_of(program: Program) -> str:
    """`kernel`, or `launcher` for a function of the file that is no kernel."""
    try:
        source = _read(program.source.absolute(), program.include_dirs, set())
    except OSError:
        return "kernel"
    name = base_name(without_types(program.kernel))
    named = [item for file in source.walk() for item in file.items if name in item.declares and item.is_function]
    return "launcher" if named and not any(item.is_kernel for item in named) else "kernel"


def units_of(program: Program) -> Iterator[str | None]:
    """What to compile, best first: the file as it is (None), then the kernel cut out of it."""
    if not program.source.is_file():
        raise FileNotFoundError(2, "no such file", str(program.source))
    yield None
    text = cut_out(program)
    if text is not None:
        yield text


def with_torch(program: Program) -> Program:
    """The program with PyTorch's headers to be found, where what is cut out of its source asks for them."""
    folders = (program.source.parent, *program.include_dirs)
    torch = torch_of(program.source, tuple(f"-I{folder}" for folder in folders))
    if not isinstance(torch, TorchHeaders):
        return program
    found = torch.options if program.language == "hip" else torch.options_for_cuda
    return replace(program, options=(*program.options, *found))


def ahead_of(program: Program) -> tuple[tuple[Path, ...], Program]:
    """The project's headers that an option puts before the source, and the program without these options."""
    found: list[Path] = []
    left: list[str] = []
    words = iter(program.options)
    for word in words:
        name = next(words, "") if word == "-include" else ""
        place = next(filter(None, (regular_file(folder, name) for folder in program.include_dirs if name)), None)
        if place is not None:
            found.append(place)
        else:
            left += [word, name] if word == "-include" else [word]
    return tuple(found), replace(program, options=tuple(left))


def cut_out(program: Program) -> str | None:
    """The source, after what an option puts before it, with all that the kernel does not need blanked.

    None when the kernel is not found in it. In the place of PyTorch's headers stand those that kernels need;
    `with_torch` says where they are, and `ahead_of` which options are done with.
    """
    seen: set[Path] = set()
    before = tuple(_read(path, program.include_dirs, seen) for path in ahead_of(program)[0])
    source = _read(program.source.absolute(), program.include_dirs, seen)
    files = (*before, source)
    everything = [item for whole in files for file in whole.walk() for item in file.items]
    name = base_name(without_types(program.kernel))
    roots = [item for item in everything if name in item.declares and item.is_function]
    if not roots:
        return None
    wanted = {name, *re.findall(r"[A-Za-z_]\w*", program.kernel)}
    macros = _macros(files)
    needed = _closure(everything, wanted, macros)
    known = _folders(program)
    included = frozenset(one.name for whole in files for file in whole.walk() for one in file.tokens.includes)
    headers = (*_usual_headers(needed, included, program), *_torch_headers(source, needed, program))
    return "\n".join([*headers, *(line for whole in files for line in _emit(whole, needed, known))])


def _usual_headers(needed: frozenset[Item], included: frozenset[str], program: Program) -> Iterator[str]:
    """Headers of the language for types that what is left names: a project's header may leave them to its users.

    CUDA's own that the files include come first, too: what is left of `extern "C" {` may stand open around them.
    """
    mentioned = {name for item in needed for name in item.mentions}
    for pattern, cuda, hip in _USUAL:
        is_asked = re.fullmatch(r"cu\w+\.h", cuda) is not None and not included.isdisjoint((cuda, hip))
        if is_asked or any(map(pattern.fullmatch, mentioned)):
            header = hip if program.language == "hip" else cuda
            yield f"#if __has_include(<{header}>)\n#include <{header}>\n#endif"
    for members, header in _OF_THRUST:
        if "thrust" in mentioned and not mentioned.isdisjoint(members):
            yield f"#if __has_include(<{header}>)\n#include <{header}>\n#endif"


def _torch_headers(source: _File, needed: frozenset[Item], program: Program) -> Iterator[str]:
    """Those that what is left needs: types and macros, and what the source includes by name."""
    mentioned = {name for item in needed for name in item.mentions} | set(re.findall(r"\w+", program.kernel))
    if not any(map(_TORCH_NAME.match, mentioned)) or with_torch(program) is program:
        return
    yield "#include <porter_torch/kernels.h>"
    names = (include.name for file in source.walk() for include in file.tokens.includes)
    for name in dict.fromkeys(_MOVED.get(name, name).replace("/hip/", "/cuda/") for name in names):
        if name in _ALONE:
            yield f"#include <{name}>"


def _read(path: Path, folders: tuple[Path, ...], seen: set[Path]) -> _File:
    seen.add(path)
    text = read_regular(path).decode("latin-1")
    tokens = lex(text)
    local: dict[int, _File] = {}
    for include in tokens.includes:
        found = _find(path, include, folders)
        if found is not None and _is_support(found):
            local[include.line_start] = _File(found, "", lex(""), (), is_support=True)
        elif found is not None and found not in seen:
            local[include.line_start] = _read(found, folders, seen)
        elif found is not None:
            local[include.line_start] = _File(found, "", lex(""), ())
    return _File(path, text, tokens, items(tokens), local)


def _is_support(path: Path) -> bool:
    """Whether a file is one of the headers that a ported tree gets."""
    return path.parent.name == FOLDER and (include_folder() / FOLDER / path.name).is_file()


def _find(path: Path, include: Include, folders: tuple[Path, ...]) -> Path | None:
    """The project's own file that an `#include` names."""
    near: tuple[Path, ...] = () if include.angled else (path.parent,)
    for folder in (*near, *folders):
        found: Path | None = regular_file(folder, include.name)
        if found is not None:
            return found
    return None


def _macros(files: Iterable[_File]) -> dict[str, frozenset[str]]:
    """Macros of the project, and what their bodies mention."""
    found: dict[str, frozenset[str]] = {}
    for file in (one for whole in files for one in whole.walk()):
        for directive in file.tokens.directives:
            words = file.tokens.texts[directive.first : directive.last]
            if directive.name == "define" and words:
                found[words[0]] = found.get(words[0], frozenset()) | frozenset(words[1:])
    return found


def _closure(everything: Iterable[Item], wanted: set[str], macros: dict[str, frozenset[str]]) -> frozenset[Item]:
    """Items that declare what is mentioned, from the kernel on; every overload of a name."""
    by_name: dict[str, list[Item]] = {}
    needed: set[Item] = set()
    for item in everything:
        for name in () if item.never else item.declares:
            by_name.setdefault(name, []).append(item)
        if item.always:
            needed.add(item)
    waiting = [*wanted, *(name for item in needed for name in item.mentions)]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        waiting += macros.get(name, ())
        for item in by_name.get(name, ()):
            needed.add(item)
            waiting += item.mentions
    return frozenset(needed)


def _folders(program: Program) -> tuple[Path, ...]:
    """Where headers that are not the project's own are."""
    folders = [*program.include_dirs, *map(Path, _SYSTEM), *Path("/usr/include/c++").glob("*")]
    if program.language == "cuda":
        nvcc = find_nvcc()
        if not isinstance(nvcc, Missing):
            home = Path(nvcc.path).resolve().parents[1]
            folders += [home / "include", home / "include" / "cccl", *nvcc.include_dirs]
        folders += [Path("/usr/local/cuda/include"), Path("/usr/local/cuda/include/cccl")]
    else:
        folders += [Path("/opt/rocm/include")]
    return tuple(folders)


def _emit(file: _File, needed: frozenset[Item], known: tuple[Path, ...]) -> Iterator[str]:
    """The text with line markers; included files of the project in the place of their `#include`."""
    dropped = [(item.start, item.end) for item in file.items if item not in needed and _is_balanced(file, item)]
    text = file.text
    for start, end in dropped:
        text = text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]
    text = _ERROR.sub(lambda line: " " * len(line[0]), text)
    marker = str(file.path).replace("\\", "\\\\").replace('"', '\\"')
    yield f'#line 1 "{marker}"'
    position = 0
    for include in file.tokens.includes:
        if any(start <= include.line_start < end for start, end in dropped):
            continue
        inner = file.local.get(include.line_start)
        if inner is None and _is_known(include, known):
            continue
        yield text[position : include.line_start]
        if inner is not None and inner.is_support:
            yield f'#include "{inner.path}"'
        elif inner is not None and inner.text:
            yield from _emit(inner, needed, known)
        line = file.text.count("\n", 0, include.line_end) + 1
        yield f'#line {line} "{marker}"'
        position = include.line_end
    yield text[position:]


def _is_balanced(file: _File, item: Item) -> bool:
    """Whether no `#if` begins inside the item and ends outside, or the other way round."""
    inside = [d for d in file.tokens.directives if item.start <= d.start < item.end]
    return sum(_CONDITIONS.get(d.name, 0) for d in inside) == 0


def _is_known(include: Include, known: tuple[Path, ...]) -> bool:
    """Whether the machine has the header, and it is no framework's."""
    if include.name.partition("/")[0] in _FRAMEWORKS:
        return False
    return any(is_regular(folder / include.name) for folder in known)
