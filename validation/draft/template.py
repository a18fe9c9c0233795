"""Which template arguments a kernel is launched with: written at the launch, or told by what is passed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from porter.validation.cases.argument_rows import TODO
from porter.validation.draft.assumed import assumed, last_word
from porter.validation.draft.declarations import Function, matching
from porter.validation.draft.expression import Unknown, split_arguments
from porter.validation.draft.host import Host
from porter.validation.draft.torch import dispatched, split_types
from porter.validation.draft.types import bare, elements_of
from porter.validation.draft.unit import SourceText

from porter.model import Kernel, Launch

_DEEPEST = 6


@dataclass(frozen=True)
class Instance:
    """A kernel as one launch has it."""

    kernel: Kernel
    launch: Launch | None
    template: Mapping[str, str]
    given: tuple[str, ...]
    """The arguments as written; empty where they cannot be told."""
    assumed: tuple[str, ...] = ()
    """Template parameters that nothing tells, and that were given a value all the same."""

    @property
    def name(self) -> str:
        """As a case names it."""
        qualified = self.kernel.qualified.replace("(anonymous namespace)::", "")
        if not self.kernel.template_parameters:
            return qualified
        wanted = [p for p in self.kernel.template_parameters if not _has_default(p) or last_word(p) in self.template]
        arguments = (self.template.get(last_word(p), TODO) for p in wanted)
        return f"{qualified}<{', '.join(arguments)}>"

    def type_of(self, kind: str) -> str:
        """A parameter's type without pointers, template parameters replaced."""
        words = bare(kind)
        return self.template.get(words, words)


def _has_default(text: str) -> bool:
    return "=" in text


def instances(unit: SourceText, kernel: Kernel, *, assuming: bool = False) -> Iterator[Instance]:
    """One per distinct set of template arguments; those that nothing tells stay open, or are assumed."""
    seen: set[tuple[str, ...]] = set()
    for launch in kernel.launches or (None,):
        written = _template_arguments(launch)
        names = [last_word(parameter) for parameter in kernel.template_parameters]
        given = _given(kernel, launch, unit.host)
        position = launch.span.start if launch else len(unit.host.text)
        known = {
            name: value
            for name, argument in zip(names, written, strict=False)
            if (value := _value(unit.host, argument, position)) is not None
        }
        for name in names:
            if name not in known and (told := _deduced(unit.host, kernel, name, given, position)) is not None:
                known[name] = told
        open_ = [p for p in kernel.template_parameters if last_word(p) not in known and not _has_default(p)]
        guessed = _assumed(unit, kernel, open_, position) if assuming and open_ else {}
        key = tuple(known.get(name, "") for name in names)
        if key not in seen:
            seen.add(key)
            yield Instance(kernel, launch, known | guessed, given, tuple(guessed))


def _assumed(unit: SourceText, kernel: Kernel, parameters: Sequence[str], position: int) -> dict[str, str]:
    text = unit.reached(kernel)
    found = {p: assumed(p, kernel, unit.host, text, lambda word: _value(unit.host, word, position)) for p in parameters}
    return {last_word(parameter): value for parameter, value in found.items() if value is not None}


def _template_arguments(launch: Launch | None) -> tuple[str, ...]:
    inside = re.search(r"<(.*)>\s*$", launch.kernel, re.DOTALL) if launch else None
    return tuple(split_types(inside[1])) if inside else ()


def _given(kernel: Kernel, launch: Launch | None, host: Host) -> tuple[str, ...]:
    if launch is None:
        return ()
    text = host.text[launch.span.start : launch.span.end]
    called = re.search(r">>>\s*\((.*)\)\s*$", text, re.DOTALL)
    if called is None and (ggl := re.match(r"hipLaunchKernelGGL\s*\((.*)\)\s*$", text, re.DOTALL)):
        arguments = split_arguments(ggl[1])[5:]
    elif called is None and "LaunchCooperativeKernel" in text:
        arguments = _by_address(text, host, launch.span.start)
    else:
        arguments = split_arguments(called[1]) if called else ()
    fewest = len(kernel.parameters)
    return arguments if len(arguments) == fewest else ()


def _by_address(text: str, host: Host, position: int) -> tuple[str, ...]:
    """`void* args[] = {&a, &b}` of a cooperative launch."""
    inside = re.search(r"\((.*)\)\s*$", text, re.DOTALL)
    parts = split_arguments(inside[1]) if inside else ()
    if len(parts) < 4:
        return ()
    name = re.sub(r"\W", "", parts[3].rpartition(")")[2])
    made = list(re.finditer(rf"\bvoid\s*\*\s*{name}\s*\[\s*\w*\s*\]\s*=\s*\{{", host.text[:position])) if name else []
    end = matching(host.text, made[-1].end() - 1) if made else None
    if not made or end is None:
        return ()
    listed = split_arguments(host.text[made[-1].end() : end - 1])
    return tuple(re.sub(r"^(?:\([^()]*\)\s*)?&\s*", "", part) for part in listed if part)


def _value(host: Host, argument: str, position: int, depth: int = 0) -> str | None:
    """A type or a number that is one; a name only when it stands for one."""
    if re.fullmatch(r"-?\d+|true|false", argument):
        return argument
    if elements_of(host, argument) is not None:
        return argument if elements_of(Host(""), argument) is not None else _named_type(host, argument)
    told = dispatched(argument, host.text[:position])
    if told is not None:
        return told
    function = host.function_at(position)
    if function is not None and argument in function.template and depth < _DEEPEST:
        return _from_callers(host, function, argument, depth)
    try:
        value = host.value(argument, position).number
    except Unknown:
        value = None
    if value is None and argument in host.sizes:
        value = host.sizes[argument]
    if value is None and _is_foreign(host, argument):
        return argument
    return str(int(value)) if value is not None else None


def _is_foreign(host: Host, name: str) -> bool:
    """Whether a name is a library's: an enumerator, say."""
    if re.fullmatch(r"(?:\w+::)+[A-Z]\w*", name):
        return True
    return re.fullmatch(r"[A-Z][A-Z0-9_]*_[A-Z0-9_]+", name) is not None and not re.search(
        rf"\b{name}\s*=|\b(?:int|typename|class|bool|unsigned)\s+{name}\b|define\s+{name}\b", host.text
    )


def _named_type(host: Host, argument: str) -> str:
    """Structures keep their name; typedefs may be a function's own."""
    plain = host.plain_type(argument)
    return argument if host.record(plain) is not None else plain


def _from_callers(host: Host, function: Function, name: str, depth: int) -> str | None:
    told = host.template_argument(function, name)
    if told is not None:
        return _value(host, told[0], told[1], depth + 1)
    key = (function.start, name)
    if key not in host.given:
        host.given[key] = None  # functions that call each other
        arguments = (
            _type_of_argument(host, argument, caller, depth + 1)
            for caller, given in host.calls(function)
            for (kind, _), argument in zip(function.parameters, given, strict=False)
            if bare(kind) == name
        )
        host.given[key] = next((kind for kind in arguments if kind is not None), None)
    return host.given[key]


def _deduced(host: Host, kernel: Kernel, name: str, given: tuple[str, ...], position: int) -> str | None:
    """A template parameter from the type of what is passed."""
    for parameter, argument in zip(kernel.parameters, given, strict=False):
        if bare(parameter.type) == name:
            told = _type_of_argument(host, argument, position)
            if told is not None:
                return told
    return None


def _type_of_argument(host: Host, argument: str, position: int, depth: int = 0) -> str | None:
    from porter.validation.draft.arrays import bare_pointer

    if re.fullmatch(r"-?\d+", argument):
        return "int"
    if re.fullmatch(r"-?\d*\.\d*(?:[eE][-+]?\d+)?[fF]?", argument):
        return "float" if argument[-1] in "fF" else "double"
    cast = re.match(r"^\(\s*([\w: ]+?)\s*\*\s*\)", argument)
    base = re.match(r"\w+", bare_pointer(argument))
    if cast is None and base is None:
        return None
    declared = cast[1] if cast else host.declared_type(base[0], position) if base else None
    if declared is None:
        return None
    inside = re.match(r"(?:thrust::|std::)?\w*vector\s*<(.*?)>", declared)
    kind = bare(inside[1] if inside else declared)
    return _value(host, kind, position, depth + 1) if depth < _DEEPEST else None
