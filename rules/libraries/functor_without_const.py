"""B007: functors without state whose call operator is not const."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.brackets import split_commas
from porter.cpp.syntax import Tokens
from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes

_CALL = ("operator", "(", ")", "(")
_BORDERS = frozenset({";", "{", "}"})
_CLASSES = frozenset({"struct", "class"})
_OF_TYPES = frozenset({"unary_function", "binary_function"})
_NOT_ALONE = frozenset({"virtual", "static", "const", "="})


class FunctorWithoutConst(Rule):
    """Functor whose call operator is not const

    CUB of CUDA's older releases calls an operator that it was given through a variable. hipCUB's device-wide calls hold
    it in a wrapper whose own call is const: an `operator()` without `const` does not compile there. In a class without
    data the word changes nothing else, and is added to operators for the device.
    """

    code = "B007"
    text = r"operator(?<=\boperator)\s*\(\s*\)\s*\("
    examples = (
        fixes(
            "template <class T> struct Sum { __device__ T operator()(T a, T b) { return a + b; } };",
            "template <class T> struct Sum { __device__ T operator()(T a, T b) const { return a + b; } };",
        ),
        fixes(
            "struct Base {};\nstruct Max : Base {\n"
            "  typedef int type;\n  MY_DEVICE int operator()(int a) { return a; }\n};",
            "struct Base {};\nstruct Max : Base {\n"
            "  typedef int type;\n  MY_DEVICE int operator()(int a) const { return a; }\n};",
        ),
        fixes(
            "struct E {}; struct L : public thrust::binary_function<int, int, bool>, E "
            "{ __device__ bool operator()(int a, int b) { return a < b; } };",
            "struct E {}; struct L : public thrust::binary_function<int, int, bool>, E "
            "{ __device__ bool operator()(int a, int b) const { return a < b; } };",
        ),
        clean("struct S : Counter { __device__ int operator()(int a) { return count += a; } };"),
        clean("struct C { int n; }; struct S : C { __device__ int operator()(int a) { return n += a; } };"),
        clean("struct S { int n; __device__ int operator()(int a) { return n++ + a; } };"),
        clean("struct S { __device__ int operator()(int a) const { return a; } };"),
        clean("struct S { __device__ int operator()(int a) { return f(a); } __device__ int f(int); };"),
        clean("struct S { int operator()(int a) { return a; } };"),
        clean("struct S { __device__ virtual int operator()(int a) { return a; } };"),
        clean(
            "struct S { __device__ int operator()(int a) { return a; } "
            "__device__ int operator()(int a) const { return a + 1; } };"
        ),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per operator."""
        tokens = unit.tokens
        for index in tokens.names.get("operator", ()):
            if tuple(tokens.texts[index : index + 4]) != _CALL or tokens.directive_of(index) is not None:
                continue
            closed = tokens.partner.get(index + 3, -1)
            opening = next(tokens.braces_around(index), None)
            if closed < 0 or opening is None or tokens.texts[closed + 1] != "{" or not _is_for_device(tokens, index):
                continue
            if _is_class(tokens, opening) and _has_calls_alone(tokens, opening) and _has_empty_bases(tokens, opening):
                edit = Edit(tokens.end(closed), tokens.end(closed), " const")
                message = "hipCUB calls what it is given as const: the operator, of a class without data, says so"
                yield self.finding(unit, unit.span(index), message, Effort.NONE, (edit,))


def _is_for_device(tokens: Tokens, index: int) -> bool:
    words = _before(tokens, index)
    return any("__device__" in word or "DEVICE" in word for word in words) and _NOT_ALONE.isdisjoint(words)


def _before(tokens: Tokens, index: int) -> list[str]:
    """The words from the last border to a place."""
    first = index
    while first > 0 and tokens.texts[first - 1] not in _BORDERS:
        first -= 1
    return list(tokens.texts[first:index])


def _is_class(tokens: Tokens, opening: int) -> bool:
    words = _before(tokens, opening)
    return not _CLASSES.isdisjoint(words) and ")" not in words


def _has_empty_bases(tokens: Tokens, opening: int) -> bool:
    """Whether its bases have no data: those that hold types alone (`thrust::unary_function`), and empty ones."""
    head = _before(tokens, opening)
    if ":" not in head:
        return True
    first = opening - len(head) + head.index(":") + 1
    bases = [" ".join(tokens.texts[start:end]).partition("<")[0] for start, end in split_commas(tokens, first, opening)]
    names = [base.split()[-1] if base.split() else "" for base in bases]
    return all(name in _OF_TYPES or _is_empty(tokens, name) for name in names)


def _is_empty(tokens: Tokens, name: str) -> bool:
    return any(
        tokens.texts[index - 1] in _CLASSES and tuple(tokens.texts[index + 1 : index + 4]) == ("{", "}", ";")
        for index in tokens.names.get(name, ())
    )


def _has_calls_alone(tokens: Tokens, opening: int) -> bool:
    """Whether a class has call operators that are not const, names for types, and nothing else."""
    index, last = opening + 1, tokens.partner.get(opening, opening)
    words: list[str] = []
    while index < last:
        text = tokens.texts[index]
        if text in ("{", "(") and index in tokens.partner:
            words.append(text)
            index = tokens.partner[index]
            text = tokens.texts[index]
        if text in (";", "}"):
            if not _is_harmless(words):
                return False
            words = []
        else:
            words.append(text)
        index += 1
    return not words


def _is_harmless(words: list[str]) -> bool:
    names_type = bool(words) and words[0] in ("using", "typedef")
    is_call = "operator" in words and words[-2:] == [")", "{"] and "const" not in words[words.index("operator") :]
    return not words or names_type or is_call
