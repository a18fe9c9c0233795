"""Compares prototypes: what a caller of the CUDA function would notice when it is renamed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from porter.names.derive.declarations import Parameter, Prototype

Rename = Callable[[str], str]
"""CUDA identifier -> HIP identifier; empty when it has no counterpart."""
Resolve = Callable[[str], str]
"""Type name -> what it is a typedef of ("" when it is none)."""


class Difference(NamedTuple):
    """What a caller would notice; `effort` is `review` when the call still compiles, else `manual`."""

    text: str
    effort: str


_DROPPED = frozenset(
    [
        "const",
        "struct",
        "enum",
        "union",
        "class",
        "typename",
        "register",
        "volatile",
        "__restrict__",
        "restrict",
        "__restrict",
        "inline",
        "static",
        "extern",
        "constexpr",
        "__cdecl",
        "CUDAAPI",
        "CUDARTAPI",
        "CUBLASWINAPI",
        "CUFFTAPI",
        "CURANDAPI",
        "CUSPARSEAPI",
        "CUDNNWINAPI",
        "NVTX_API",
        "__forceinline__",
        "__host__",
        "__device__",
        "__global__",
        "std",
        "::",
    ]
)
_INTEGERS = {
    name: bits
    for bits, names in (
        (8, "char|signed char|unsigned char|int8_t|uint8_t|__int8_t|__uint8_t|bool|_Bool"),
        (16, "short|unsigned short|short int|unsigned short int|signed short|int16_t|uint16_t|__int16_t|__uint16_t"),
        (32, "int|unsigned|unsigned int|signed|signed int|int32_t|uint32_t|__int32_t|__uint32_t|cuuint32_t"),
        (32, "GLuint|GLenum"),
        (64, "long|unsigned long|long int|unsigned long int|signed long|long long|unsigned long long|long long int"),
        (64, "unsigned long long int|signed long long|int64_t|uint64_t|__int64_t|__uint64_t|size_t|ssize_t|clock_t"),
        (64, "cuuint64_t|uintptr_t|__hip_size_t"),
    )
    for name in names.split("|")
}
"""Bits of the integer types, on Linux."""
_UNSIGNED = ("unsigned", "uint", "size_t", "cuuint", "bool", "_Bool", "GLuint", "GLenum", "__uint")


class Comparison:
    """Compares types under a renaming; typedefs are looked through on both sides."""

    def __init__(
        self, rename: Rename, cuda_typedef: Resolve, hip_typedef: Resolve, is_enum: Callable[[str], bool]
    ) -> None:
        self._rename = rename
        self._cuda_typedef = cuda_typedef
        self._hip_typedef = hip_typedef
        self._is_enum = is_enum

    def difference(
        self, cuda: Sequence[Prototype], hip: Sequence[Prototype], overloaded: bool = False
    ) -> Difference | None:
        """How the closest of HIP's overloads differs from CUDA's first; an overload that HIP lacks is worth a look.

        With `overloaded` one common overload is enough.
        """
        if not cuda or not hip:
            return None
        if overloaded:
            found = [self._closest(prototype, hip) for prototype in cuda]
            return None if None in found else found[0]
        first = self._closest(cuda[0], hip)
        if first is not None:
            return first
        for other in cuda[1:]:
            legacy = _is_of_32_bits(cuda[0], other)
            if not legacy and not other.template and self._closest(other, hip) is not None:
                types = ", ".join(_shown(p.type) for p in other.parameters)
                return Difference(f"HIP lacks the overload ({types})", "review")
        return None

    def _closest(self, cuda: Prototype, hip: Sequence[Prototype]) -> Difference | None:
        found = [self._prototypes(cuda, candidate) for candidate in hip]
        if None in found:
            return None
        return min((d for d in found if d is not None), key=lambda d: (d.effort == "manual", len(d.text)))

    def _prototypes(self, cuda: Prototype, hip: Prototype) -> Difference | None:
        count = self._counts(cuda, hip)
        if count:
            return Difference(count, "manual")
        if cuda.template or hip.template:
            return None
        ours, theirs = list(cuda.parameters), list(hip.parameters)
        pairs = list(zip(ours, theirs, strict=False))
        differing = [i for i, (a, b) in enumerate(pairs) if not self._accepts(a, b)]
        if differing and _permuted(ours, theirs):
            return Difference(f"other argument order in HIP: {', '.join(p.name for p in theirs)}", "manual")
        notes = [_argument(i, *pairs[i]) for i in differing[:3]]
        if len(differing) > 3:
            notes.append(f"and {len(differing) - 3} more")
        effort = "manual" if any("*" in theirs[i].type + ours[i].type for i in differing) else "review"
        if not notes and cuda.result and hip.result and not self._returns(cuda.result, hip.result):
            notes.append(f"returns {_shown(cuda.result)} in CUDA, {_shown(hip.result)} in HIP")
        return Difference("; ".join(notes), effort) if notes else None

    def _counts(self, cuda: Prototype, hip: Prototype) -> str:
        most, least = len(cuda.parameters), cuda.required
        if any(p.type == "..." or p.name == "..." for p in (*hip.parameters, *cuda.parameters)):
            return ""
        if least >= hip.required and most <= len(hip.parameters):
            return ""
        extra = len(hip.parameters) - most
        if extra > 0:
            added = [p.name or p.type for p in hip.parameters if p.name not in {q.name for q in cuda.parameters}]
            detail = f" ({', '.join(added)})" if 0 < len(added) == extra else ""
            return f"HIP takes {extra} more argument{'s' if extra > 1 else ''}{detail}"
        if extra < 0:
            lost = [p.name or p.type for p in cuda.parameters if p.name not in {q.name for q in hip.parameters}]
            detail = f" ({', '.join(lost)})" if 0 < len(lost) == -extra else ""
            return f"HIP takes {-extra} fewer argument{'s' if extra < -1 else ''}{detail}"
        return "arguments optional in CUDA are required in HIP"

    def _accepts(self, ours: Parameter, theirs: Parameter) -> bool:
        """Whether an argument made for CUDA's parameter does for HIP's."""
        if self._same(ours.type, theirs.type):
            return True
        a, b = self._canonical(ours.type, True), self._canonical(theirs.type, False)
        if b == "void *" and "*" in a:
            return True
        if a in _INTEGERS and b in _INTEGERS:
            return _INTEGERS[a] <= _INTEGERS[b]
        if (a, b) == ("float", "double"):
            return True
        return self._is_enum(ours.type.split()[-1]) and b in _INTEGERS and _INTEGERS[b] >= 32

    def _returns(self, cuda: str, hip: str) -> bool:
        """Whether HIP's result does where CUDA's is expected: a wider integer does not."""
        a, b = self._canonical(cuda, True), self._canonical(hip, False)
        return (
            self._same(cuda, hip)
            or (a, b) == ("float", "double")
            or (a in _INTEGERS and b in _INTEGERS and _INTEGERS[b] <= _INTEGERS[a])
        )

    def _same(self, cuda: str, hip: str) -> bool:
        renamed = [self._rename(word) or word for word in _words(cuda)]
        if renamed == _words(hip):
            return True
        theirs = self._canonical(hip, False)
        return theirs in (self._canonical(cuda, True), self._canonical(cuda, True, keep=True))

    def _canonical(self, written: str, cuda: bool, keep: bool = False) -> str:
        words = [part for word in _words(written) for part in self._looked_through(word, cuda, keep)]
        return _integer(" ".join(words))

    def _looked_through(self, word: str, cuda: bool, keep: bool = False) -> list[str]:
        """What a word is a typedef of, down to a builtin integer, a pointer or a struct.

        With `keep`, a name that is the same in HIP is looked through on CUDA's side.
        """
        renamed = self._rename(word) if cuda else ""
        if renamed and not (keep and renamed == word):
            return self._looked_through(renamed, False)
        resolve = self._cuda_typedef if cuda else self._hip_typedef
        seen: set[str] = set()
        while word not in _INTEGERS and word not in seen:
            seen.add(word)
            target = _words(resolve(word))
            if not target or "(" in target or "{" in target:
                break
            if len(target) > 1 or target[0] in _INTEGERS:
                return [part for t in target for part in ([t] if t in seen else self._looked_through(t, cuda, keep))]
            word = target[0]
        return [word]


def _words(written: str) -> list[str]:
    """A type's words without what does not matter to a caller."""
    spaced = written.replace("*", " * ").replace("&", " & ").split()
    return [w for w in spaced if w not in _DROPPED and not (w.isupper() and w.endswith(("API", "_CB", "DECL")))]


def _integer(text: str) -> str:
    """One spelling per integer type of this size and sign."""
    base, star, rest = text.partition(" *")
    if base in _INTEGERS:
        name = {8: "char", 16: "short", 32: "int", 64: "long long"}[_INTEGERS[base]]
        base = ("unsigned " if base.startswith(_UNSIGNED) else "") + name
    return base + star + rest


def _is_of_32_bits(new: Prototype, old: Prototype) -> bool:
    """Whether an overload is that of CUDA 3.1, which the headers' macros never call."""
    return any("_v1" in parameter.type for parameter in old.parameters) or any(
        "size_t" in a.type and b.type == a.type.replace("size_t", "unsigned int")
        for a, b in zip(new.parameters, old.parameters, strict=False)
    )


def _permuted(ours: list[Parameter], theirs: list[Parameter]) -> bool:
    """Whether both have the same named parameters in another order."""
    names = [p.name.lower() for p in ours if p.name], [p.name.lower() for p in theirs if p.name]
    return len(names[0]) == len(ours) and names[0] != names[1] and sorted(names[0]) == sorted(names[1])


def _shown(written: str) -> str:
    """A type without linkage and attributes."""
    return " ".join(w for w in written.split() if w not in _DROPPED or w == "const").replace(" *", "*")


def _argument(index: int, ours: Parameter, theirs: Parameter) -> str:
    name = ours.name or theirs.name
    label = f"argument {index + 1}" + (f" ({name})" if name else "")
    return f"{label} is {_shown(ours.type)} in CUDA, {_shown(theirs.type)} in HIP"
