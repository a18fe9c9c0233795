"""B008: bfloat16 where hipCUB takes another type for it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from porter.cpp.brackets import template_end
from porter.cpp.lex import IDENTIFIER
from porter.engine.rule import Effort, Finding, Rule, Unit, clean, reports

_BFLOATS = frozenset({"nv_bfloat16", "__nv_bfloat16", "hip_bfloat16", "__hip_bfloat16", "BFloat16"})
_DEVICE = frozenset({"DeviceRadixSort", "DeviceSegmentedRadixSort"})
_BLOCK = frozenset({"BlockRadixSort"})
_REDUCE = frozenset({"DeviceReduce", "DeviceSegmentedReduce"})
_EXTREMES = frozenset({"Min", "Max", "ArgMin", "ArgMax"})
_IN_TYPE = re.compile(r"\b(?:__nv_bfloat16|__hip_bfloat16|BFloat16)\b")
_KEYS = 2
"""The argument behind the temporary storage and its size."""
_BEFORE_NAME = frozenset({"*", "&", "const", "__restrict__", "__restrict", ">"})
_CURE = "cast the pointers to hip_bfloat16 of <hip/hip_bfloat16.h>, which has the same bits and is known to it"
_NO_CODEC = f"rocPRIM has no order for __hip_bfloat16 as keys, so that this does not compile: {_CURE}"
_NO_LIMITS = (
    f"hipCUB begins with the limit of __hip_bfloat16, which is 0 as it has none, a silent wrong result: {_CURE}"
)


class _Call(NamedTuple):
    """A call or type of CUB's."""

    place: int
    """The token of the class."""
    told: str
    """What is wrong with bfloat16."""
    template: tuple[int, int] | None
    """Tokens of the first template argument."""
    method: int | None


class Bfloat16InCub(Rule):
    """bfloat16 as keys or values of CUB

    CUB knows `__nv_bfloat16`. hipCUB and rocPRIM know `hip_bfloat16`, which is another type than the `__hip_bfloat16`
    of `<hip/hip_bf16.h>`: as keys of a radix sort the latter does not compile (up to ROCm 7.1 at least), and `Min`,
    `Max`, `ArgMin` and `ArgMax` of `DeviceReduce` begin with 0, for it has no limits, so that the greatest of negative
    values is 0. Where the type is a template's parameter and the file names bfloat16, it is to be looked at.
    """

    code = "B008"
    triggers = _DEVICE | _BLOCK | _REDUCE
    text = r"[bB][fF]loat16"
    only_reports = True
    examples = (
        reports(
            "void f(__nv_bfloat16 *k, __nv_bfloat16 *o, int n) { cub::DeviceRadixSort::SortKeys(t, b, k, o, n); }",
        ),
        reports("void f(const nv_bfloat16 *in, int n) { cub::DeviceReduce::Max(t, b, in, out, n, s); }"),
        reports("__global__ void k(__nv_bfloat16 *p) { using S = cub::BlockRadixSort<__nv_bfloat16, 128, 4>; }"),
        reports("void f(cub::DoubleBuffer<__nv_bfloat16> k) { cub::DeviceRadixSort::SortKeys(t, b, k, n); }"),
        reports("void f(V k) { cub::DeviceRadixSort::SortKeys<__nv_bfloat16>(t, b, k.a, k.b, n); }"),
        reports(
            "template <typename T> void f(const T *k, T *o, int n) { cub::DeviceRadixSort::SortKeys(t, b, k, o, n); }\n"
            "template void f<__nv_bfloat16>(const __nv_bfloat16 *, __nv_bfloat16 *, int);",
            effort=Effort.REVIEW,
        ),
        clean("void f(float *k, __nv_bfloat16 *v, int n) { cub::DeviceRadixSort::SortPairs(t, b, k, o, v, w, n); }"),
        clean("void f(__nv_bfloat16 *in, int n) { cub::DeviceReduce::Sum(t, b, in, out, n, s); }"),
        clean("void f(__nv_bfloat16 *in, int n) { cub::DeviceReduce::Reduce(t, b, in, out, n, Max(), init); }"),
        clean("void f(__nv_bfloat16 *k, int n) { mine::DeviceReduce::Max(t, b, k, o, n); }"),
        clean(
            "void f(__nv_bfloat16 *k, int n) { cub::DeviceRadixSort::SortKeys(t, b, "
            "reinterpret_cast<hip_bfloat16 *>(k), reinterpret_cast<hip_bfloat16 *>(o), n); }"
        ),
        reports("void f(void *k, int n) { cub::DeviceReduce::Min(t, b, (const __nv_bfloat16 *)k, o, n); }"),
        clean("void f(__nv_bfloat16 *p, __half *k, int n) { cub::DeviceReduce::Max(t, b, k, o, n); }"),
        clean(
            "template <typename T> void f(const T *k, T *o, int n) { cub::DeviceRadixSort::SortKeys(t, b, k, o, n); }"
        ),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per call."""
        if _BFLOATS.isdisjoint(unit.identifiers):
            return
        for call in _calls(unit):
            certain = _is_bfloat(unit, call)
            if certain is None:
                continue
            last = call.method if call.method is not None else call.place
            told = call.told if certain else f"where the type is bfloat16: {call.told}"
            yield self.finding(unit, unit.span(call.place, last), told, Effort.MANUAL if certain else Effort.REVIEW)


def _calls(unit: Unit) -> Iterator[_Call]:
    texts = unit.tokens.texts
    for name in sorted((_DEVICE | _BLOCK | _REDUCE) & unit.identifiers):
        for index in unit.tokens.names[name]:
            if texts[index - 2 : index] != ["cub", "::"] or unit.dialects.is_hip(unit.tokens.starts[index]):
                continue
            if name in _BLOCK:
                yield _Call(index, _NO_CODEC, _first_argument(unit, index + 1), None)
            elif texts[index + 1] == "::" and (name in _DEVICE or texts[index + 2] in _EXTREMES):
                told = _NO_CODEC if name in _DEVICE else _NO_LIMITS
                yield _Call(index, told, _first_argument(unit, index + 3), index + 2)


def _first_argument(unit: Unit, opening: int) -> tuple[int, int] | None:
    texts = unit.tokens.texts
    end = template_end(unit.tokens, opening, len(unit.tokens)) if texts[opening] == "<" else None
    if end is None:
        return None
    return opening + 1, next((place for place in range(opening + 1, end) if texts[place] == ","), end - 1)


def _is_bfloat(unit: Unit, call: _Call) -> bool | None:
    """Whether the keys are bfloat16; False: they are of a template's type; None: they are not."""
    texts = unit.tokens.texts
    if call.template is not None:
        return _of_words(unit, texts[slice(*call.template)], call.place)
    if call.method is None:
        return None
    arguments = unit.arguments(call.method)
    if len(arguments) <= _KEYS:
        return None
    span = arguments[_KEYS]
    inside = [i for i in range(call.method, len(unit.tokens)) if span.start <= unit.tokens.starts[i] < span.end]
    if len(inside) == 1 and unit.tokens.kinds[inside[0]] == IDENTIFIER:
        return _of_name(unit, texts[inside[0]], call.place)
    written = [texts[i] for i in inside]
    return _of_words(unit, written, call.place) if not _BFLOATS.isdisjoint(written) else _of_type(unit, call.method)


def _of_name(unit: Unit, name: str, place: int) -> bool | None:
    """What the nearest declaration of a variable before a place says."""
    for index in reversed([i for i in unit.tokens.names[name] if i < place]):
        if unit.tokens.texts[index - 1] in _BEFORE_NAME or unit.declares(index):
            first = index
            while first > 0 and unit.tokens.texts[first - 1] not in ("(", ",", ";", "{", "}"):
                first -= 1
            return _of_words(unit, unit.tokens.texts[first:index], place)
    return None


def _of_words(unit: Unit, words: list[str], place: int) -> bool | None:
    if not _BFLOATS.isdisjoint(words):
        return True if "hip_bfloat16" not in words else None
    return False if any(_is_parameter(unit, word, place) for word in words) else None


def _is_parameter(unit: Unit, word: str, place: int) -> bool:
    """Whether a word is a template's parameter."""
    texts = unit.tokens.texts
    places = unit.tokens.names.get(word, ())
    return any(texts[i - 1] in ("typename", "class") and texts[i + 1] in (",", ">", "=") for i in places if i < place)


def _of_type(unit: Unit, method: int) -> bool | None:
    """What clang says of an expression."""
    types = unit.semantics.call_argument_types(unit.tokens.starts[method]) if unit.semantics else None
    known = types[_KEYS] if types is not None and len(types) > _KEYS else None
    return True if known is not None and _IN_TYPE.search(known) is not None else None
