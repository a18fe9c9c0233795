"""A016: CUB wrapped into a namespace of the project."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.cpp.syntax import Directive, Include
from porter.engine.rule import Edit, Effort, Example, Finding, Rule, Settings, Unit, clean, fixes, reports

_WRAPPED = frozenset({"CUB_WRAPPED_NAMESPACE", "THRUST_CUB_WRAPPED_NAMESPACE"})
_PREFIX = "CUB_NS_PREFIX"
_OPENED = re.compile(r"\s*((?:namespace\s+[A-Za-z_]\w*(?:::\w+)*\s*\{\s*)+)")
_NAME = re.compile(r"\s*([A-Za-z_]\w*(?:::\w+)*)\s*")
_DONE = re.compile(r"\bnamespace\s+cub\s*=\s*::hipcub\b")
_NO_SCOPES = frozenset({"return", "else", "case", "new", "delete", "typename", "using", "const"})
_STANDALONE = Settings(torch="standalone")


class WrappedCub(Rule):
    """CUB in a namespace of the project

    `CUB_WRAPPED_NAMESPACE` and, before CUDA 11.6, `CUB_NS_PREFIX` put CUB into a namespace of the project, so that two
    versions of it can live in one program. hipCUB knows neither macro and stays in `::hipcub`. An alias in the
    project's namespace lets `mine::cub::DeviceScan` mean hipCUB's; a second one is for PyTorch's hipify, which writes
    `mine::hipcub` in extensions. Where no file names the macro, a build does, and the uses are written anew.
    """

    code = "A016"
    triggers = _WRAPPED | {_PREFIX, "cub"}
    examples = (
        Example(
            "#define CUB_WRAPPED_NAMESPACE mine\n#include <cub/cub.cuh>\nmine::cub::CachingDeviceAllocator a;",
            "#define CUB_WRAPPED_NAMESPACE mine\n#include <cub/cub.cuh>\n"
            "namespace mine { namespace cub = ::hipcub; }\nmine::cub::CachingDeviceAllocator a;",
            Effort.NONE,
            "example.cu",
            _STANDALONE,
        ),
        fixes(
            "#define CUB_NS_PREFIX namespace a { namespace b {\n#define CUB_NS_POSTFIX }}\n"
            "#include <cub/cub.cuh>\nint c;",
            "#define CUB_NS_PREFIX namespace a { namespace b {\n#define CUB_NS_POSTFIX }}\n#include <cub/cub.cuh>\n"
            "namespace a { namespace b { namespace cub = ::hipcub; namespace hipcub = ::hipcub; } }\nint c;",
        ),
        fixes(
            "#include <cub/cub.cuh>\nusing R = mine::cub::BlockReduce<int, 64>;",
            "#include <cub/cub.cuh>\nusing R = hipcub::BlockReduce<int, 64>;",
        ),
        fixes(
            "#include <cub/cub.cuh>\nusing R = typename ::a::b::cub::BlockReduce<int, 64>;",
            "#include <cub/cub.cuh>\nusing R = typename ::hipcub::BlockReduce<int, 64>;",
        ),
        fixes(
            "#include <thrust/scan.h>\nusing R = mine::cub::BlockReduce<int, 64>;",
            "#include <thrust/scan.h>\nusing R = hipcub::BlockReduce<int, 64>;",
        ),
        clean("using R = mine::cub::BlockReduce<int, 64>;"),
        clean("#include <cub/cub.cuh>\nusing R = cub::BlockReduce<int, 64>;\nusing S = ::cub::BlockScan<int, 64>;"),
        clean("#include <cub/cub.cuh>\nusing R = thrust::cuda_cub::cub::BlockReduce<int, 64>;"),
        clean("#include <cub/cub.cuh>\nusing R = mine::cub::NotCubs; int b = a.cub::BlockReduce;"),
        clean(
            "#include <cub/cub.cuh>\nnamespace mine { namespace cub { using ::cub::BlockReduce; } }\n"
            "using R = mine::cub::BlockReduce<int, 64>;"
        ),
        clean(
            "#include <cub/cub.cuh>\nnamespace mine { namespace cub = ::cub; }\n"
            "using R = mine::cub::BlockReduce<int, 64>;"
        ),
        reports("#define CUB_WRAPPED_NAMESPACE mine\n#include <torch/extension.h>\nint a;", effort=Effort.REVIEW),
        clean("#include <cub/cub.cuh>\n#ifdef CUB_WRAPPED_NAMESPACE\nint a;\n#endif"),
        clean(
            "#define CUB_WRAPPED_NAMESPACE mine\n#include <hipcub/hipcub.hpp>\n"
            "namespace mine { namespace cub = ::hipcub; }"
        ),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per macro that is given a namespace, or per use where a build gives it."""
        yield from self._uses(unit)
        if _DONE.search(unit.source.text):
            return
        seen: set[str] = set()
        for directive in unit.tokens.directives:
            opened = _opened(unit, directive)
            if opened is None or opened in seen:
                continue
            seen.add(opened)
            include = next((one for one in unit.tokens.includes if _is_cub(one) and one.start > directive.end), None)
            span = unit.span(directive.first)
            if include is None:
                message = "hipCUB stays in ::hipcub: this macro means nothing to it, and no header of CUB follows"
                yield self.finding(unit, span, message, Effort.REVIEW)
                continue
            edit = Edit(include.line_end, include.line_end, unit.source.newline + _alias(unit, opened))
            yield self.finding(unit, span, "hipCUB stays in ::hipcub: an alias is written", Effort.NONE, (edit,))

    def _uses(self, unit: Unit) -> Iterator[Finding]:
        tokens = unit.tokens
        for index in tokens.names.get("cub", ()):
            first = _qualifier(unit, index)
            if first == index or not unit.is_for_cuda(index) or tokens.texts[index + 1] != "::":
                continue
            row = unit.names.get(f"cub::{tokens.texts[index + 2]}")
            if row is None or row.hip != f"hipcub::{tokens.texts[index + 2]}" or not _is_of_build(unit):
                continue
            edit = Edit(tokens.starts[first], tokens.end(index), "hipcub")
            message = "hipCUB stays in ::hipcub, whatever namespace a build wraps CUB into"
            has_header = any(map(_is_cub, _includes(unit)))
            headers = () if has_header else ("<hipcub/hipcub.hpp>",)
            yield self.finding(unit, unit.span(first, index + 2), message, Effort.NONE, (edit,), includes=headers)


def _qualifier(unit: Unit, index: int) -> int:
    """The first identifier of `mine::other::cub`, or `cub` itself."""
    tokens = unit.tokens
    first = index
    while first > 1 and tokens.texts[first - 1] == "::" and _is_scope(tokens.texts[first - 2]):
        first -= 2
    is_member = first > 0 and tokens.texts[first - 1] in (".", "->", ">")
    return index if is_member or tokens.texts[first] in unit.names.namespaces else first


def _is_scope(text: str) -> bool:
    return _NAME.fullmatch(text) is not None and text not in _NO_SCOPES


def _is_of_build(unit: Unit) -> bool:
    """Whether CUB, or Thrust, is included, and no file names the macros, opens a namespace `cub` or gives an alias."""
    programs = tuple(unit.program.all_tokens)
    if any(not tokens.names.keys().isdisjoint(WrappedCub.triggers - {"cub"}) for tokens in programs):
        return False
    if not any(_is_cub(include) or include.name.startswith("thrust/") for include in _includes(unit)):
        return False
    places = (
        (tokens, index) for tokens in programs for name in ("cub", "hipcub") for index in tokens.names.get(name, ())
    )
    return not any(tokens.texts[index + 1] in ("{", "=") for tokens, index in places)


def _includes(unit: Unit) -> Iterator[Include]:
    return (include for tokens in unit.program.all_tokens for include in tokens.includes)


def _opened(unit: Unit, directive: Directive) -> str | None:
    """The namespaces that a #define of one of the macros puts CUB into, as they are opened."""
    if directive.name != "define" or directive.first >= directive.last:
        return None
    name = unit.tokens.texts[directive.first]
    value = unit.source.text[unit.span(directive.first).end : directive.end]
    if name == _PREFIX:
        match = _OPENED.match(value)
        return " ".join(match[1].split()) if match else None
    match = _NAME.match(value) if name in _WRAPPED else None
    return f"namespace {match[1]} {{" if match else None


def _is_cub(include: Include) -> bool:
    return include.name.startswith("cub/") and include.name != "cub/version.cuh"


def _alias(unit: Unit, opened: str) -> str:
    aliases = ["namespace cub = ::hipcub;"]
    if unit.settings.torch == "leave":
        aliases.append("namespace hipcub = ::hipcub;")
    return " ".join([opened, *aliases, *["}"] * opened.count("{")])
