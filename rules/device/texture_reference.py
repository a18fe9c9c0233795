"""D015: texture and surface references, which CUDA had up to version 11."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple, cast

from porter.cpp.syntax import IDENTIFIER
from porter.engine.rule import Edit, Effort, Finding, Rule, Span, Unit, clean, fixes, reports

_SUPPORT = "porter/texture_reference.hpp"
_MACROS = {"texture": "PORTER_TEXTURE_REFERENCE", "surface": "PORTER_SURFACE_REFERENCE"}
_EVIDENCE = re.compile(r"(cuda|hip)(ReadMode|TextureType|SurfaceType)\w+")
_USE = re.compile(
    r"tex[123]D(fetch|Layered|Lod|Grad)*|surf[123]D(Layered)?(read|write)"
    r"|cuda(Bind|Unbind)(Texture|Surface)\w*|cudaGetTexture\w+"
)
_HEADER = re.compile(r"\.(?:h|hh|hpp|hxx|cuh)$")
_TEXELS = re.compile(
    r"(?:unsigned|signed|(?:(?:un)?signed\s+)?(?:char|short|int)|float|u?(?:char|short|int)[124]|float[124])\s*(?:,\s*[123])?"
)
_SIMPLE = re.compile(r"[\w\s]+(,[\w\s]+){0,2}")


class _Declaration(NamedTuple):
    """`static texture<A, B, C> one, two;`: places of its tokens."""

    first: int
    angle: int
    closing: int
    names: tuple[int, ...]
    """Empty where it is not of that form."""


class TextureReference(Rule):
    """Texture or surface reference at file scope

    `texture<float, 2> t;` is a variable that kernels read and that the host binds to memory with `cudaBindTexture`.
    CUDA 12 dropped it, and on gfx942 HIP refuses it. The port declares two variables with one macro
    (`porter/texture_reference.hpp`): a description in constant memory, which kernels read through `porter::tex2D` and
    its like, and the host's side with CUDA's members (`filterMode`, `addressMode`, `normalized`), from which binding
    makes the description. CUDA takes a binding along with a launch; here it is written in the order of the null
    stream. `surface<void, 2> s;` is ported likewise. References with constructor arguments, `extern` ones, and those
    made by macros are left to a person.
    """

    code = "D015"
    triggers = frozenset(_MACROS)
    answers = frozenset({"surface"})
    hazards = ("texture-host-api",)
    examples = (
        fixes(
            "texture<float, 2, cudaReadModeElementType> image;\n__device__ float f() { return tex2D(image, 1, 2); }",
            "PORTER_TEXTURE_REFERENCE(image, float, 2, cudaReadModeElementType);\n"
            "__device__ float f() { return tex2D(image, 1, 2); }",
            effort=Effort.REVIEW,
        ),
        fixes(
            "static texture<unsigned char, 1> a, b;\n__device__ int f() { return tex1Dfetch(a, 0); }",
            "PORTER_TEXTURE_REFERENCE(a, unsigned char, 1); PORTER_TEXTURE_REFERENCE(b, unsigned char, 1);\n"
            "__device__ int f() { return tex1Dfetch(a, 0); }",
            effort=Effort.REVIEW,
        ),
        fixes(
            "surface<void, 2> image;\n__device__ void f(float v) { surf2Dwrite(v, image, 4, 2); }",
            "PORTER_SURFACE_REFERENCE(image, void, 2);\n__device__ void f(float v) { surf2Dwrite(v, image, 4, 2); }",
            effort=Effort.REVIEW,
        ),
        fixes(
            "texture<float,1> table;",
            "PORTER_TEXTURE_REFERENCE(table, float,1);",
            effort=Effort.REVIEW,
            path="a.h",
        ),
        clean("texture<float,1> table;"),
        clean("template <class T, int n> struct texture { T data[n]; }; texture<float, 2> t;", path="a.h"),
        clean("namespace gl { texture<float, 2> t; }", path="a.h"),
        clean("struct S { texture<float, 2> t; };", path="a.h"),
        clean("texture<Pixel, 2> t;", path="a.h"),
        reports("extern texture<float, cudaTextureType1D> table;"),
        reports("#define TABLE(name) texture<float, 1, cudaReadModeElementType> name##_table;"),
        reports("typedef texture<Word> Ref; static Ref ref; void bind(Word *p) { cudaBindTexture(0, ref, p); }"),
        reports("texture<float, 1, cudaReadModeElementType> t(0, cudaFilterModeLinear, cudaAddressModeClamp);"),
        clean("template <class T, int n> struct texture { T data[n]; }; texture<float, 2> t; float f() { return 0; }"),
        clean("void f(cudaTextureDesc texture) { texture.normalizedCoords = 0; bool b = texture.sRGB < 1; }"),
        clean("gl::texture<float, 2> image; void f() { image.bind(); }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per declaration."""
        for word in sorted(self.triggers & unit.identifiers):
            places = unit.tokens.names[word]
            if not any(unit.tokens.texts[index - 1] in ("class", "struct") for index in places if index):
                yield from self._references(unit, word, places)

    def _references(self, unit: Unit, word: str, places: Iterable[int]) -> Iterator[Finding]:
        texts = unit.tokens.texts
        for index in places:
            if not unit.is_free(index) or not unit.next_is(index, "<"):
                continue
            found = _declaration(unit, index)
            if found is None or not _is_cuda(unit, found):
                continue
            span = unit.span(index, found.closing)
            if not found.names:
                yield self.finding(unit, span, f"a {word} reference of this form has no counterpart", Effort.MANUAL)
                continue
            names = ", ".join(texts[name] for name in found.names)
            message = f"{word} reference {names}: access in software, binding in the order of the null stream"
            yield self.finding(unit, span, message, Effort.REVIEW, _edits(unit, found), (_SUPPORT,))


def _declaration(unit: Unit, index: int) -> _Declaration | None:
    """What stands at `texture <`; None where the bracket is a comparison."""
    tokens = unit.tokens
    texts = tokens.texts
    closing = next((i for i in range(index + 2, min(index + 24, len(tokens))) if texts[i] in (">", ";", "{", ")")), -1)
    if closing < 0 or texts[closing] != ">":
        return None
    first = index - 1 if index and texts[index - 1] == "static" else index
    simple = _SIMPLE.fullmatch(unit.slice(Span(tokens.end(index + 1), tokens.starts[closing])))
    starts = first == 0 or texts[first - 1] in (";", "}", "{") or tokens.directive_of(first - 1) is not None
    if not simple or not starts or tokens.directive_of(index) is not None:
        return _Declaration(first, index + 1, closing, ())
    return _Declaration(first, index + 1, closing, _declared(unit, closing + 1))


def _declared(unit: Unit, place: int) -> tuple[int, ...]:
    """`one, two;` from a token on."""
    texts, kinds = unit.tokens.texts, unit.tokens.kinds
    names: list[int] = []
    while kinds[place] == IDENTIFIER and texts[place + 1] in (",", ";"):
        names.append(place)
        if texts[place + 1] == ";":
            return tuple(names)
        place += 2
    return ()


def _is_cuda(unit: Unit, found: _Declaration) -> bool:
    """Whether its arguments, or what is done with it, are CUDA's: other libraries have textures, too."""
    texts = unit.tokens.texts
    if any(_EVIDENCE.fullmatch(text) for text in texts[found.angle : found.closing]):
        return True
    if not found.names:
        return any(_USE.fullmatch(name) for name in unit.identifiers)
    declared = {texts[name] for name in found.names}
    return not declared.isdisjoint(_used(unit)) or _is_for_includers(unit, found)


def _is_for_includers(unit: Unit, found: _Declaration) -> bool:
    """Whether a header has it of CUDA's texels, so that those who include it use it; the class is nobody's in sight."""
    if not _HEADER.search(unit.source.path) or any(unit.tokens.braces_around(found.first)):
        return False
    arguments = unit.slice(Span(unit.tokens.end(found.angle), unit.tokens.starts[found.closing]))
    return bool(_TEXELS.fullmatch(arguments.strip())) and not unit.program.declares(unit.tokens.texts[found.angle - 1])


def _used(unit: Unit) -> frozenset[str]:
    """The words in what may name a texture in the calls of CUDA's functions for them."""
    known = unit.tokens.memo.get(_used)
    if known is None:
        calls = (i for name in unit.identifiers if _USE.fullmatch(name) for i in unit.tokens.names[name])
        spans = (span for i in calls for span in unit.arguments(i)[:2])
        known = frozenset(word for span in spans for word in re.findall(r"\w+", unit.slice(span)))
        unit.tokens.memo[_used] = known
    return cast("frozenset[str]", known)


def _edits(unit: Unit, found: _Declaration) -> tuple[Edit, ...]:
    """The arguments stay where they are: other rules have to do with them."""
    tokens = unit.tokens
    texts = tokens.texts
    start, last = tokens.starts[found.first], found.names[-1]
    arguments = unit.slice(Span(tokens.end(found.angle), tokens.starts[found.closing])).strip()
    macro = _MACROS[texts[found.angle - 1]]
    more = "".join(f"; {macro}({texts[name]}, {arguments})" for name in found.names[1:])
    return (
        Edit(start, tokens.end(found.angle), f"{macro}({texts[found.names[0]]}, "),
        Edit(tokens.starts[found.closing], tokens.end(last), f"){more}"),
    )
