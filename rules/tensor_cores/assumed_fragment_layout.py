"""X102: code that knows which element of a matrix a fragment's element is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from porter.cpp.syntax import IDENTIFIER, NUMBER, split_commas, template_end
from porter.engine.rule import Effort, Finding, Rule, Unit, clean, reports

_SLUG = "[wmma-fragment-layout]"
_COUNTS = frozenset({"num_elements", "num_storage_elements"})
_ENDS = frozenset({";", "{", "}"})


class _Fragment(NamedTuple):
    """What a fragment's type says: matrix_a, matrix_b, accumulator or a template's parameter, and its elements."""

    use: str
    element: str

    @property
    def as_many_as_cuda(self) -> bool:
        """Whether CUDA's number of elements, written out, stays inside and reaches all of them."""
        return self.element != "double" and (self.use == "accumulator" or self.element in ("half", "__half"))


class AssumedFragmentLayout(Rule):
    """Elements of a wmma fragment by number

    CUDA leaves open which element of the matrix `x[i]` of a lane is; `porter/wmma.hpp` has an order of its own. Work
    on every element with the index of a loop up to `num_elements` is right under any order. A fixed element, an index
    made from the lane, `x` handed on, or an element of A or B made from one of the accumulator takes NVIDIA's order for
    granted: go through shared memory with `store_matrix_sync` or `load_matrix_sync`.
    """

    code = "X102"
    only_reports = True
    triggers = frozenset({"fragment"})
    hazards = ("wmma-fragment-layout",)
    examples = (
        reports(
            """
            using namespace nvcuda;
            __global__ void k(float *out) {
              wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
              wmma::fill_fragment(c, 0.0f);
              out[threadIdx.x] = c.x[0];
            }
            """
        ),
        reports(
            """
            using namespace nvcuda;
            __device__ void k(wmma::fragment<wmma::accumulator, 16, 16, 16, float> &c, float *bias) {
              for (int i = 0; i < 8; i++) c.x[i % 4 * 2 + i / 4] += bias[i];
            }
            """
        ),
        reports(
            """
            using namespace nvcuda;
            __device__ void k(wmma::fragment<wmma::accumulator, 16, 16, 16, float> &c) {
              wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
              for (int i = 0; i < c.num_elements; i++) a.x[i] = __float2half(c.x[i]);
            }
            """
        ),
        reports(
            """
            using namespace nvcuda::wmma;
            using Left = fragment<matrix_b, 16, 16, 16, signed char, row_major>;
            __device__ void k(Left &a) {
              for (int i = 0; i < 8; i++) a.x[i] = 0;
            }
            """
        ),
        clean(
            """
            using namespace nvcuda;
            __global__ void k(float s) {
              wmma::fragment<wmma::accumulator, 16, 16, 16, float> c, d[2];
              wmma::fragment<wmma::accumulator, 16, 16, 16, half> h;
              for (int i = 0; i < c.num_elements; i++) c.x[i] = s * c.x[i] + d[1].x[i];
              for (int i = 0; i < 8; ++i) h.x[i] = __float2half(c.x[i]);
              for (auto &v : c.x) v += s;
            }
            """
        ),
        clean("struct fragment { float x[4]; }; float f(fragment &c) { return c.x[0]; }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per place."""
        if unit.tokens.names.keys().isdisjoint(("nvcuda", "wmma")):
            return
        fragments = _fragments(unit)
        for index in unit.tokens.names.get("x", ()):
            fragment = _fragment_before(unit, index, fragments)
            if fragment is None:
                continue
            problem = _problem(unit, index, fragment, fragments)
            if problem:
                message = f"{problem}; which element of the matrix that is differs here {_SLUG}"
                yield self.finding(unit, unit.span(index), message, Effort.MANUAL)


def _fragments(unit: Unit) -> dict[str, _Fragment]:
    """Variables, parameters and type names declared with `fragment<...>`, and variables of such types."""
    tokens = unit.tokens
    found: dict[str, _Fragment] = {}
    types: dict[str, _Fragment] = {}
    for index in tokens.names.get("fragment", ()):
        after = template_end(tokens, index + 1, len(tokens)) if unit.next_is(index, "<") else None
        if after is None:
            continue
        arguments = [tokens.texts[first:last] for first, last in split_commas(tokens, index + 2, after - 1)]
        if len(arguments) < 5 or not all(arguments[:5]):
            continue
        fragment = _Fragment(arguments[0][-1], arguments[4][-1] if len(arguments[4]) != 2 else " ".join(arguments[4]))
        name = _alias(unit, index, after)
        if name is not None:
            types[name] = fragment
        else:
            found |= dict.fromkeys(_declared(unit, after), fragment)
    for name, fragment in types.items():
        for index in tokens.names.get(name, ()):
            found |= dict.fromkeys(_declared(unit, index + 1), fragment)
    return found


def _alias(unit: Unit, index: int, after: int) -> str | None:
    """The name of `using NAME = ...fragment<...>` or `typedef ...fragment<...> NAME`."""
    texts = unit.tokens.texts
    first = index
    while first > 0 and texts[first - 1] not in (";", "{", "}", "(", ",", "=", "typedef"):
        first -= 1
    if first > 0 and texts[first - 1] == "typedef":
        return texts[after]
    if first > 2 and texts[first - 1] == "=" and texts[first - 3] == "using":
        return texts[first - 2]
    return None


def _declared(unit: Unit, index: int) -> Iterator[str]:
    """The variables after a type: `c, d[2];`, `&c)`."""
    tokens = unit.tokens
    while index < len(tokens):
        while index < len(tokens) and tokens.texts[index] in ("&", "*", "const", "(", "__restrict__"):
            index += 1
        if index >= len(tokens) or tokens.kinds[index] != IDENTIFIER:
            return
        yield tokens.texts[index]
        index += 1
        while index < len(tokens) and tokens.texts[index] in ("[", ")"):
            index = tokens.partner.get(index, index) + 1 if tokens.texts[index] == "[" else index + 1
        if index + 2 >= len(tokens) or tokens.texts[index] != ",":
            return
        index += 1
        if tokens.kinds[index + 1] == IDENTIFIER or tokens.texts[index + 1] in ("::", "<"):
            return  # the next parameter has a type of its own


def _fragment_before(unit: Unit, index: int, fragments: dict[str, _Fragment]) -> _Fragment | None:
    """The fragment of `c.x`, `c[i][j].x` or `c->x`."""
    texts = unit.tokens.texts
    if index < 2 or texts[index - 1] not in (".", "->"):
        return None
    at = index - 2
    while texts[at] == "]" and unit.tokens.partner.get(at, 0) > 0:
        at = unit.tokens.partner[at] - 1
    return fragments.get(texts[at])


def _problem(unit: Unit, index: int, fragment: _Fragment, fragments: dict[str, _Fragment]) -> str:
    """What is wrong with a mention of `x`; empty: nothing."""
    tokens = unit.tokens
    texts = tokens.texts
    if not unit.next_is(index, "["):
        return "" if _range_for(unit, index) or _is_size(unit, index) else "all elements are handed on"
    closed = tokens.partner.get(index + 1, index + 1)
    if closed != index + 3 or tokens.kinds[index + 2] not in (IDENTIFIER, NUMBER):
        return "the index is computed"
    if tokens.kinds[index + 2] == NUMBER:
        return f"element {texts[index + 2]} is taken"
    bound = _bound(unit, index, texts[index + 2])
    if bound is None:
        return f"{texts[index + 2]} is no loop's index over the elements"
    if _COUNTS.isdisjoint(bound) and not fragment.as_many_as_cuda:
        return f"the loop runs to {' '.join(bound)}, not to num_elements"
    others = {found.use for found in _of_statement(unit, index, fragments)}
    if "accumulator" in others and not others.isdisjoint(("matrix_a", "matrix_b")):
        return "elements of a factor and of an accumulator are taken for the same"
    return ""


def _is_size(unit: Unit, index: int) -> bool:
    """`sizeof(c.x)`"""
    opened = unit.tokens.partner.get(index + 1, 0) if unit.next_is(index, ")") else 0
    return opened > 0 and unit.tokens.texts[opened - 1] == "sizeof"


def _range_for(unit: Unit, index: int) -> bool:
    """`for (auto& v : c.x)`"""
    texts = unit.tokens.texts
    opened = unit.tokens.partner.get(index + 1, -1) if unit.next_is(index, ")") else -1
    return opened > 0 and texts[opened - 1] == "for" and ":" in texts[opened:index]


def _bound(unit: Unit, index: int, name: str) -> tuple[str, ...] | None:
    """The tokens after `name <` in the head of the closest loop before a place that counts it."""
    tokens = unit.tokens
    for start in reversed([place for place in tokens.names.get("for", ()) if place < index]):
        closed = tokens.partner.get(start + 1, start)
        head = tokens.texts[start + 1 : closed]
        if ";" not in head or name not in head[: head.index(";")]:
            continue
        condition = head[head.index(";") + 1 :]
        condition = condition[: condition.index(";")] if ";" in condition else condition
        if len(condition) > 2 and condition[0] == name and condition[1] in ("<", "!="):
            return tuple(condition[2:])
        return None
    return None


def _of_statement(unit: Unit, index: int, fragments: dict[str, _Fragment]) -> list[_Fragment]:
    """The fragments whose `x` is in the same statement."""
    texts = unit.tokens.texts
    first, last = index, index
    while first > 0 and texts[first - 1] not in _ENDS:
        first -= 1
    while last < len(unit.tokens) and texts[last] not in _ENDS:
        last += 1
    places = [place for place in range(first, last) if texts[place] == "x"]
    return [found for place in places if (found := _fragment_before(unit, place, fragments)) is not None]
