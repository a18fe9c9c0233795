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
_STANDALONE = Settings(torch="standalone")


class WrappedCub(Rule):
    """CUB in a namespace of the project

    `CUB_WRAPPED_NAMESPACE` and, before CUDA 11.6, `CUB_NS_PREFIX` put CUB into a namespace of the project, so that two
    versions of it can live in one program. hipCUB knows neither macro and stays in `::hipcub`. An alias in the
    project's namespace lets `mine::cub::DeviceScan` mean hipCUB's; a second one is for PyTorch's hipify, which writes
    `mine::hipcub` in extensions.
    """

    code = "A016"
    triggers = _WRAPPED | {_PREFIX}
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
        reports("#define CUB_WRAPPED_NAMESPACE mine\n#include <torch/extension.h>\nint a;", effort=Effort.REVIEW),
        clean("#include <cub/cub.cuh>\n#ifdef CUB_WRAPPED_NAMESPACE\nint a;\n#endif"),
        clean(
            "#define CUB_WRAPPED_NAMESPACE mine\n#include <hipcub/hipcub.hpp>\n"
            "namespace mine { namespace cub = ::hipcub; }"
        ),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per macro that is given a namespace."""
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
