"""Kernels, device functions and launches of a file read from its tokens alone, without clang."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

from porter.cpp.brackets import template_end, written
from porter.cpp.calls import MEMBER, calls_between
from porter.cpp.heads import Head, find_heads
from porter.cpp.launches import find_launches, launched_kernels
from porter.cpp.lex import Tokens, joined, lex
from porter.cpp.scopes import Scope, find_scopes, qualify
from porter.cpp.shared_memory import file_scope_shared, mentioned, shared_in
from porter.cpp.signatures import attributes_of, launch_bounds_of, parameters_of, template_parameters_of
from porter.model import Kernel, Launch, Parameter, SharedArray, Span
from porter.source import SourceFile

__all__ = [
    "DeviceFunction",
    "PlacedFunction",
    "PlacedKernel",
    "attach_launches",
    "find_device_functions",
    "find_kernels",
    "find_launches",
    "headed_functions",
    "place_device_functions",
    "place_kernels",
]


@dataclass(frozen=True, slots=True)
class DeviceFunction:
    """A `__device__` or `__host__ __device__` function."""

    name: str
    qualified: str
    span: Span
    parameters: tuple[Parameter, ...]


@dataclass(frozen=True, slots=True)
class PlacedKernel:
    """A kernel without launches, and where its name and parameters stand."""

    kernel: Kernel
    signature: Span
    """From the first character of the name, scopes left out, to after the `)` of the parameters."""
    in_macro: bool


@dataclass(frozen=True, slots=True)
class PlacedFunction:
    """A device function, and where its name and parameters stand."""

    function: DeviceFunction
    signature: Span


def find_kernels(tokens: Tokens, path: str, source: SourceFile) -> tuple[Kernel, ...]:
    """Every `__global__` function, in macros and inactive branches too; declarations yield to definitions."""
    kernels = tuple(placed.kernel for placed in place_kernels(tokens, path, source))
    return attach_launches(kernels, find_launches(tokens, path, source), tokens) if kernels else ()


def place_kernels(tokens: Tokens, path: str, source: SourceFile) -> tuple[PlacedKernel, ...]:
    """What `find_kernels` finds, with the places that a parser can be asked about."""
    known = tokens.memo.get(("kernels", path))
    if known is None:
        known = tokens.memo[("kernels", path)] = _placed_kernels(tokens, path, source)
    return cast("tuple[PlacedKernel, ...]", known)


def _placed_kernels(tokens: Tokens, path: str, source: SourceFile) -> tuple[PlacedKernel, ...]:
    heads = find_heads(tokens, "__global__")
    if not heads:
        return ()
    scopes = find_scopes(tokens)
    outside = file_scope_shared(tokens, source, heads)
    kernels = [_kernel(tokens, head, path, source, scopes, outside) for head in heads]
    pairs = list(zip(kernels, heads, strict=True))
    defined = {(k.qualified, len(k.parameters)) for k, h in pairs if h.is_definition}
    return tuple(
        PlacedKernel(kernel, _signature(tokens, head), head.directive is not None)
        for kernel, head in pairs
        if head.is_definition or (kernel.qualified, len(kernel.parameters)) not in defined
    )


def _signature(tokens: Tokens, head: Head) -> Span:
    name = head.name_first
    for index in range(head.name_first, head.name_last - 1):
        if tokens.texts[index] == "::":
            name = index + 1
    return Span(tokens.starts[name], tokens.end(head.closing))


def find_device_functions(tokens: Tokens, source: SourceFile) -> tuple[DeviceFunction, ...]:
    """Every `__device__` function that has a body."""
    del source
    return tuple(placed.function for placed in place_device_functions(tokens))


def place_device_functions(tokens: Tokens) -> tuple[PlacedFunction, ...]:
    """What `find_device_functions` finds, with the places that a parser can be asked about."""
    known = tokens.memo.get("device functions")
    if known is None:
        known = tokens.memo["device functions"] = _placed_device_functions(tokens)
    return cast("tuple[PlacedFunction, ...]", known)


def _placed_device_functions(tokens: Tokens) -> tuple[PlacedFunction, ...]:
    heads = [head for head in find_heads(tokens, "__device__") if head.is_definition]
    if not heads:
        return ()
    scopes = find_scopes(tokens)
    return tuple(PlacedFunction(_device_function(tokens, head, scopes), _signature(tokens, head)) for head in heads)


def headed_functions(tokens: Tokens, macros: str) -> Iterator[tuple[Span, str]]:
    """Functions of a file whose heads macros make that stand elsewhere, as their text, with their qualified names."""
    together = joined(tokens, lex(macros))
    if together is None:
        return
    count, scopes = len(tokens), find_scopes(tokens)
    for marker in ("__global__", "__device__"):
        for head in find_heads(together, marker):
            if head.is_definition and head.end <= count:
                name = written(tokens, head.name_first, head.name_last)
                yield _span(tokens, head), qualify(scopes, head.marker, name)


def attach_launches(kernels: tuple[Kernel, ...], launches: tuple[Launch, ...], tokens: Tokens) -> tuple[Kernel, ...]:
    """The kernels with their launch sites; a launch through a variable counts for what was assigned to it."""
    if not launches:
        return kernels
    names = frozenset(kernel.name for kernel in kernels)
    sites: dict[str, list[Launch]] = {}
    for launch in launches:
        for name in launched_kernels(tokens, launch, names):
            sites.setdefault(name, []).append(launch)
    return tuple(replace(k, launches=tuple(sites[k.name])) if k.name in sites else k for k in kernels)


def _kernel(
    tokens: Tokens,
    head: Head,
    path: str,
    source: SourceFile,
    scopes: tuple[Scope, ...],
    outside: tuple[SharedArray, ...],
) -> Kernel:
    name = written(tokens, head.name_first, head.name_last)
    template = template_end(tokens, head.name_first + 1, head.name_last) if head.name_last > head.name_first else None
    bare = written(tokens, head.name_first, head.name_first + 1) if template == head.name_last else name
    return Kernel(
        name=bare.rpartition("::")[2],
        qualified=qualify(scopes, head.marker, bare),
        path=path,
        line=source.position(tokens.starts[head.name_first])[0],
        span=_span(tokens, head),
        parameters=parameters_of(tokens, head),
        template_parameters=template_parameters_of(tokens, head),
        attributes=attributes_of(tokens, head),
        launch_bounds=launch_bounds_of(tokens, head),
        shared=(*shared_in(tokens, head, source), *mentioned(tokens, head, outside)),
        callees=callees_of(tokens, head),
        typed=False,
    )


def _device_function(tokens: Tokens, head: Head, scopes: tuple[Scope, ...]) -> DeviceFunction:
    name = written(tokens, head.name_first, head.name_last)
    return DeviceFunction(
        name=name.rpartition("::")[2],
        qualified=qualify(scopes, head.marker, name),
        span=_span(tokens, head),
        parameters=parameters_of(tokens, head),
    )


def _span(tokens: Tokens, head: Head) -> Span:
    return Span(tokens.starts[head.begin], tokens.end(head.end - 1))


def callees_of(tokens: Tokens, head: Head) -> tuple[str, ...]:
    """Names called in the body, qualified as written, in order of appearance, without members of objects."""
    if head.body is None:
        return ()
    called = (name for name, _ in calls_between(tokens, head.body + 1, head.end) if not name.startswith(MEMBER))
    return tuple(dict.fromkeys(called))
