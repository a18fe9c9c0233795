"""Which symbol a C++ kernel name stands for: the unit that instantiates it, and the search among symbols."""

from __future__ import annotations

import ctypes
import functools
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from porter.validation.devices.device import Program

MARKER = "porter_entry"
_INSTANTIATED = """
extern "C" __attribute__((used)) const void* const {marker}_host = reinterpret_cast<const void*>({address});
extern "C" __device__ const void* {marker} = reinterpret_cast<const void*>({address});
"""
_SIGNATURE = re.compile(r"(?P<name>[\w:]+(?:<.*>)?)\s*\((?P<types>.*)\)", re.DOTALL)


def _marker(index: int) -> str:
    return f"{MARKER}_{index}" if index else MARKER


def entry_unit(program: Program, kernels: Sequence[str] = ()) -> str:
    """A translation unit that includes the source and instantiates the program's kernel, or all those given."""
    return unit_of(program.source, kernels or (program.kernel,), program.assumed)


def _instantiated(kernel: str, marker: str) -> str:
    """The lines for one kernel. One of several with its name is chosen in front of them: clang does not choose among
    kernels where a variable of the device is set."""
    address = address_of(kernel)
    if address.startswith("&"):
        return _INSTANTIATED.format(address=address, marker=marker)
    chosen = f"\nstatic constexpr auto {marker}_chosen = {address};"
    return chosen + _INSTANTIATED.format(address=f"{marker}_chosen", marker=marker)


def without_types(kernel: str) -> str:
    """A kernel's name without the types of parameters that tell it from others of that name."""
    parts = _SIGNATURE.fullmatch(kernel.strip())
    return parts["name"] if parts else kernel


def unit_of(path: Path, kernels: Sequence[str], before: str = "") -> str:
    """A translation unit that includes a file, after some text, and instantiates kernels of it."""
    source = str(path.absolute()).replace("\\", "\\\\").replace('"', '\\"')
    parts = [
        f'{before}#include "{source}"\n',
        "\n// Taking the address instantiates a kernel, whatever its parameters are.",
    ]
    for index, kernel in enumerate(kernels):
        parts.append(_instantiated(kernel, _marker(index)))
    return "".join(parts)


def address_of(kernel: str) -> str:
    """The address of a kernel; of several with one name that with these types of parameters: `k(float*, int)`."""
    parts = _SIGNATURE.fullmatch(kernel.strip())
    return f"static_cast<void (*)({parts['types']})>(&{parts['name']})" if parts else f"&{kernel}"


_ERROR = re.compile(r"^([^\n]+?)[:(](\d+)(?::\d+)?\)?: (?:fatal |catastrophic )?error\b", re.MULTILINE)
"""Of clang and of nvcc: file and line."""
_OWN = re.compile(rf"\b{MARKER}(?:_(\d+))?(?:_host)? = ")


def refused_kernels(said: str, unit: Path, text: str, kernels: Sequence[str]) -> frozenset[str]:
    """The kernels of a unit that a compiler has errors about, all of them in the lines that instantiate these; none
    where an error stands elsewhere, for then it may be anything's."""
    errors = _ERROR.findall(said)
    if not errors or {file for file, _ in errors} != {str(unit)}:
        return frozenset()
    lines = text.splitlines()
    places = [_OWN.search(lines[int(line) - 1]) if 0 < int(line) <= len(lines) else None for _, line in errors]
    return frozenset(kernels[int(place[1] or 0)] for place in places if place) if all(places) else frozenset()


def entry_symbol(assembly: str, index: int = 0) -> str | None:
    """The symbol of a kernel of an entry unit, as the compiler itself wrote it: the marker points to it."""
    marker = _marker(index)
    pattern = (
        rf"^{marker}:\s*\n\s*\.quad\s+(?P<amd>[\w.$]+)"
        rf"|\.u64\s+{marker}(?:\[1\])?\s*=\s*\{{?\s*(?:generic\()?(?P<ptx>[\w$%]+)"
    )
    found = re.search(pattern, assembly, re.MULTILINE)
    return (found["amd"] or found["ptx"]) if found else None


def find_symbol(symbols: Iterable[str], kernel: str) -> str | None:
    """The symbol of `ns::kernel<float, 4>` among mangled names; None when there is none, or more than one."""
    wanted = _normal(kernel)
    names = {symbol: _normal(signature_name(demangle(symbol))) for symbol in symbols}
    for matches in (lambda name: name == wanted, lambda name: _is_prefix(wanted, name)):
        found = [symbol for symbol, name in names.items() if matches(name)]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _is_prefix(wanted: str, name: str) -> bool:
    """Whether a name differs by trailing template arguments (defaults) or by leading scopes only."""
    scopes, opened, arguments = name.partition("<")
    if not name.startswith(wanted.partition("<")[0]):
        name = scopes.rpartition("::")[2] + opened + arguments
    return name == wanted or name.startswith(wanted[:-1] + "," if wanted.endswith(">") else wanted + "<")


@functools.cache
def _cxa_demangle() -> ctypes._NamedFuncPointer | None:
    for library in ("libstdc++.so.6", "libc++abi.so.1", "libc++abi.dylib"):
        try:
            function = ctypes.CDLL(library).__cxa_demangle
        except (OSError, AttributeError):
            continue
        function.restype = ctypes.c_void_p
        return function
    return None


@functools.lru_cache(maxsize=4096)
def demangle(symbol: str) -> str:
    """The C++ name of a symbol, by the C++ runtime library; the symbol itself when it is no mangled name."""
    function = _cxa_demangle()
    if function is None or not symbol.startswith("_Z"):
        return symbol
    status = ctypes.c_int()
    result = function(symbol.encode(), None, None, ctypes.byref(status))
    if not result:
        return symbol
    try:
        return ctypes.string_at(result).decode()
    finally:
        free = ctypes.CDLL(None).free
        free.argtypes = (ctypes.c_void_p,)
        free(result)


def signature_name(demangled: str) -> str:
    """`void ns::k<int>(int*) [clone x]` -> `ns::k<int>`: without result type, parameters and suffixes."""
    depth, end = 0, len(demangled)
    text = demangled.replace("(anonymous namespace)::", "")
    end = len(text)
    for index, char in enumerate(text):
        if char == "(" and depth == 0:
            end = index
            break
        depth += {"<": 1, ">": -1}.get(char, 0)
    text = text[:end]
    depth = 0
    for index in range(len(text) - 1, -1, -1):
        char = text[index]
        depth += {">": 1, "<": -1}.get(char, 0)
        if char == " " and depth == 0:
            return text[index + 1 :]
    return text


_SPELLINGS = (
    (r"\(anonymous namespace\)::", ""),
    (r"\b(\d+|0x[0-9a-fA-F]+)(?:[uU][lL]{0,2}|[lL]{1,2}[uU]?)\b", r"\1"),
    (r"\((?:unsigned |signed )?(?:int|char|short|long|long long|bool)\)", ""),
    (r"\bunsigned (?!int|char|short|long)", "unsigned int "),
    (r"\bunsigned(?=[\s,>*&]|$)(?! (?:int|char|short|long))", "unsigned int"),
    (r"\bsigned (?=int|short|long)", ""),
    (r"\b(long long|long|short) int\b", r"\1"),
    (r"\blong unsigned(?: int)?\b", "unsigned long"),
    (r"\b(?:std::)?uint8_t\b", "unsigned char"),
    (r"\b(?:std::)?int8_t\b", "signed char"),
    (r"\b(?:std::)?uint16_t\b", "unsigned short"),
    (r"\b(?:std::)?int16_t\b", "short"),
    (r"\b(?:std::)?uint32_t\b", "unsigned int"),
    (r"\b(?:std::)?int32_t\b", "int"),
    (r"\b(?:std::)?(?:uint64_t|size_t)\b", "unsigned long"),
    (r"\b(?:std::)?int64_t\b", "long"),
    (r"\bconst ((?:(?:unsigned|signed|long) )*[\w:]+)", r"\1 const"),
    (r"\bhalf\b", "__half"),
    (r"(?:^|(?<=[<,(\s]))::", ""),
)


def _normal(name: str) -> str:
    """One spelling for names that mean the same."""
    text = " ".join(name.split())
    for pattern, replacement in _SPELLINGS:
        text = re.sub(pattern, replacement, text)
    return re.sub(r"\s*([<>,*&:()])\s*", r"\1", text).strip()
