"""Kernels and device functions with clang's types, and the names a project declares."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from clang import cindex

from porter.cpp.clang.answers import qualified_name
from porter.cpp.clang.libclang import Cursor, TranslationUnit, children, is_invalid, place_of, type_text
from porter.cpp.clang.passes import Pass
from porter.cpp.clang.stubs import origin_of
from porter.cpp.kernels import PlacedFunction, PlacedKernel
from porter.model import Kernel, Parameter, Span
from porter.source import SourceFile

_KIND = cindex.CursorKind
_FUNCTIONS = (_KIND.FUNCTION_DECL, _KIND.FUNCTION_TEMPLATE, _KIND.CXX_METHOD)
_SCOPES = (
    _KIND.NAMESPACE,
    _KIND.LINKAGE_SPEC,
    _KIND.UNEXPOSED_DECL,
    _KIND.STRUCT_DECL,
    _KIND.CLASS_DECL,
    _KIND.CLASS_TEMPLATE,
    _KIND.ENUM_DECL,
    _KIND.UNION_DECL,
)


def typed_kernels(placed: Iterable[PlacedKernel], passes: Sequence[Pass]) -> tuple[Kernel, ...]:
    """The kernels read from tokens, with clang's parameters where it has the function."""
    return tuple(_typed_kernel(item, passes) for item in placed)


def _typed_kernel(placed: PlacedKernel, passes: Sequence[Pass]) -> Kernel:
    kernel = placed.kernel
    cursor = None if placed.in_macro else _function_at(placed.signature.start, kernel.name, passes)
    if cursor is None:
        return kernel
    parameters = _parameters(cursor)
    if parameters is None:
        return replace(kernel, qualified=qualified_name(cursor))
    return replace(kernel, qualified=qualified_name(cursor), parameters=parameters, typed=True)


def typed_parameters(placed: PlacedFunction, passes: Sequence[Pass]) -> tuple[Parameter, ...]:
    """Clang's parameters of a device function, or those read from tokens."""
    cursor = _function_at(placed.signature.start, placed.function.name, passes)
    return (_parameters(cursor) if cursor is not None else None) or placed.function.parameters


def _function_at(offset: int, name: str, passes: Sequence[Pass]) -> Cursor | None:
    for one in passes:
        unit = one.declarations
        if unit is None or not one.is_active(offset):
            continue
        cursor = unit.cursor_at(offset)
        if cursor is not None and cursor.kind in _FUNCTIONS and cursor.spelling == name:
            return cursor
    return None


def _parameters(cursor: Cursor) -> tuple[Parameter, ...] | None:
    """Names and types of a function's parameters; None when clang had to guess one."""
    found = [child for child in children(cursor) if child.kind == _KIND.PARM_DECL]
    if any(is_invalid(parameter) for parameter in found):
        return None
    return tuple(Parameter(parameter.spelling, type_text(parameter.type) or "") for parameter in found)


def kernels_of_macros(unit: TranslationUnit, known: Sequence[Kernel], source: SourceFile) -> tuple[Kernel, ...]:
    """Kernels that only clang sees: made by macros, or marked by a macro of another file."""
    spans = [kernel.span for kernel in known]
    found: list[Kernel] = []

    def visitor(cursor: Cursor) -> bool:
        if cursor.kind in _FUNCTIONS:
            place = place_of(cursor)
            mine = place is not None and place.path == unit.path and _is_kernel(cursor)
            if place is not None and mine and not any(s.start <= place.offset < s.end for s in spans):
                found.append(_like_macro(_kernel_of(cursor, place.offset, source), known))
            return False
        return cursor.kind in _SCOPES

    unit.visit(visitor)
    return tuple(found)


def _like_macro(kernel: Kernel, known: Sequence[Kernel]) -> Kernel:
    """Adds what the tokens of the macro say of the kernel it makes: `name##_kernel` made `copy_kernel`."""
    for template in known:
        pieces = [re.escape(piece) for piece in template.name.split("##")]
        if len(pieces) > 1 and re.fullmatch(rf"\w*{pieces[-1]}|{pieces[0]}\w*", kernel.name):
            return replace(
                kernel,
                attributes=template.attributes,
                launch_bounds=template.launch_bounds,
                shared=template.shared,
                callees=template.callees,
            )
    return kernel


def _is_kernel(cursor: Cursor) -> bool:
    return any(child.kind == _KIND.CUDAGLOBAL_ATTR for child in children(cursor))


def _kernel_of(cursor: Cursor, offset: int, source: SourceFile) -> Kernel:
    parameters = _parameters(cursor)
    end = max(cursor.extent.end.offset, offset + 1)
    templates = tuple(
        child.spelling
        for child in children(cursor)
        if child.kind in (_KIND.TEMPLATE_TYPE_PARAMETER, _KIND.TEMPLATE_NON_TYPE_PARAMETER)
    )
    return Kernel(
        name=cursor.spelling,
        qualified=qualified_name(cursor),
        path=source.path,
        line=source.position(offset)[0],
        span=Span(min(offset, cursor.extent.start.offset), min(end, len(source.data))),
        parameters=parameters or (),
        template_parameters=templates,
        typed=parameters is not None,
    )


def declared_names(unit: TranslationUnit) -> frozenset[str]:
    """Every name that the file and its local headers declare."""
    names: set[str] = set()
    ours: dict[str, bool] = {}

    def visitor(cursor: Cursor) -> bool:
        place = place_of(cursor)
        if place is None:
            return cursor.kind in _SCOPES
        if place.path not in ours:
            ours[place.path] = origin_of(place.path) is None
        if not ours[place.path] or cursor.kind == _KIND.MACRO_INSTANTIATION:
            return False
        if cursor.kind.is_declaration() or cursor.kind == _KIND.MACRO_DEFINITION:
            names.add(cursor.spelling)
        return cursor.kind in _SCOPES

    unit.visit(visitor)
    return frozenset(names - {""})
