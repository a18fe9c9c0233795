"""Which atomics on global memory order a block at most: those of the port are held against the original's.

Machine code does not tell: an atomic read-modify-write of gfx942 is the same instruction for a block and for the
device. So LLVM's IR is asked, and only where a source of the project names such a scope at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.validation.devices.device import Program

_NAMED = re.compile(
    rb"MEMORY_SCOPE_(WORKGROUP|WAVEFRONT|SINGLETHREAD)|\batomic\w+_block\b|thread_scope_block|\"(workgroup|wavefront|single)"
)
_INCLUDE = re.compile(rb'^\s*#\s*include\s*["<]([^">]+)[">]', re.M)
_FILES = 200
_WORDS = {
    "add": "add",
    "sub": "add",
    "fadd": "add",
    "fsub": "add",
    "min": "min",
    "umin": "min",
    "fmin": "min",
    "max": "max",
    "umax": "max",
    "fmax": "max",
    "xchg": "exch",
    "uinc_wrap": "inc",
    "udec_wrap": "dec",
}
"""LLVM's words for what PTX has."""
_NARROW = re.compile(r'syncscope\("(workgroup|wavefront|singlethread)(-one-as)?"\)')
_ATOMIC = re.compile(r"\b(atomicrmw|cmpxchg|load atomic|store atomic) (?:weak |volatile )*(\w+)?")
_SHARED = re.compile(r"ptr addrspace\((3|5)\)")
_DEFINE = re.compile(r"^define [^@]*@([\w.$\"]+)\(")
_CALLED = re.compile(r"@([\w.$\"]+)\(")


def names_block_scope(program: Program) -> bool:
    """Whether a source of the project, with what it includes, says that an atomic is for a block."""
    return any(_NAMED.search(content) for content in _contents(program))


def _contents(program: Program) -> Iterator[bytes]:
    waiting, seen = [program.source], {program.source}
    while waiting and len(seen) <= _FILES:
        path = waiting.pop()
        try:
            content = path.read_bytes()
        except OSError:
            continue
        yield content
        for name in _INCLUDE.findall(content):
            if name.startswith((b"porter/", b"hip/")):  # what these offer is no use of it
                continue
            found = next((f / name.decode("utf-8", "replace") for f in (path.parent, *program.include_dirs)
                          if (f / name.decode("utf-8", "replace")).is_file()), None)  # fmt: skip
            if found is not None and found not in seen:
                seen.add(found)
                waiting.append(found)


def narrow_in_ptx(text: str) -> frozenset[str]:
    """Operations of PTX on global memory with the scope of a block."""
    found: set[str] = set()
    for base, rest in re.findall(r"\b(atom|red|ld|st)((?:\.\w+)+)", text):
        words = rest.split(".")
        if "cta" in words and "shared" not in words:
            found.add(base if base in ("ld", "st") else next((w for w in words if w in _PTX), "other"))
    return frozenset(found)


_PTX = ("add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas")


def narrow_in_ir(text: str, kernel: str) -> frozenset[str]:
    """Operations of LLVM's IR on global memory with no more than the scope of a block, in what the kernel reaches."""
    bodies: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in text.splitlines():
        if match := _DEFINE.match(line):
            current = bodies.setdefault(match[1].strip('"'), [])
        elif line == "}":
            current = None
        elif current is not None:
            current.append(line)
    found: set[str] = set()
    waiting, seen = [kernel], {kernel}
    while waiting:
        for line in bodies.get(waiting.pop(), ()):
            found |= _operation(line)
            called = {name.strip('"') for name in _CALLED.findall(line)} - seen
            seen |= called
            waiting += called
    return frozenset(found)


def _operation(line: str) -> set[str]:
    if not _NARROW.search(line) or _SHARED.search(line):
        return set()
    match = _ATOMIC.search(line)
    if match is None:
        return set()
    if match[1] == "atomicrmw":
        return {_WORDS.get(match[2], match[2])}
    return {{"cmpxchg": "cas", "load atomic": "ld", "store atomic": "st"}[match[1]]}


def narrower(port: frozenset[str], original: frozenset[str]) -> frozenset[str]:
    """Operations that only the port does for a block alone; a compare and swap may stand for any other one."""
    return port - original - ({"cas", "ld"} if original else frozenset())
