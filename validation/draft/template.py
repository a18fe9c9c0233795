"""Which template arguments a kernel is launched with: written at the launch, or told by what is passed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from porter.validation.cases.argument_rows import TODO
from porter.validation.draft.assumed import assumed, last_word
from porter.validation.draft.declarations import Function, matching, without_comments
from porter.validation.draft.expression import Unknown, split_arguments
from porter.validation.draft.host import Host
from porter.validation.draft.includers import sources_naming
from porter.validation.draft.torch import dispatched, split_types
from porter.validation.draft.types import bare, elements_of
from porter.validation.draft.unit import SourceText

from porter.model import Kernel, Launch

_DEEPEST = 6
_LONGEST = 400
"""Characters of template arguments."""
_NUMBER = r"-?\d+|true|false"


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
    told_by: str = ""
    """The file of the project that writes them, where it is not the source."""
    is_overloaded: bool = False
    """Whether others have its name: the types of its parameters tell it apart."""

    @property
    def name(self) -> str:
        """As a case names it."""
        qualified = self.kernel.qualified.replace("(anonymous namespace)::", "")
        if not self.kernel.template_parameters:
            types = ", ".join(" ".join(one.type.split()) for one in self.kernel.parameters)
            return f"{qualified}({types})" if self.is_overloaded else qualified
        wanted = [
            p
            for p in self.kernel.template_parameters
            if (not _has_default(p) or last_word(p) in self.template) and last_word(p) not in self.empty
        ]
        arguments = (self.template.get(last_word(p), TODO) for p in wanted)
        return f"{qualified}<{', '.join(arguments)}>"

    @property
    def empty(self) -> frozenset[str]:
        """The parameter packs that were taken to be empty."""
        return frozenset(name for name in self.assumed if not self.template[name])

    def type_of(self, kind: str) -> str:
        """A parameter's type without pointers, template parameters replaced."""
        words = bare(kind)
        if "<" in words:
            return re.sub(r"(?<![\w:])\w+", lambda word: self.template.get(word[0], word[0]), words)
        return self.template.get(words, words)


def _is_for(parameter: str, value: str) -> bool:
    """Whether a number or type can be what a template parameter stands for: `T(0)` makes no number of `T`."""
    is_type = re.match(r"\s*(?:typename|class)\b", parameter) is not None
    return not (is_type and re.fullmatch(_NUMBER, value))


def _has_default(text: str) -> bool:
    return "=" in text


def instances(unit: SourceText, kernel: Kernel, *, assuming: bool = False) -> Iterator[Instance]:
    """One per distinct set of template arguments; those that nothing tells stay open, or are assumed."""
    seen: set[tuple[str, ...]] = set()
    alike = {_types(other) for other in unit.kernels if other.qualified == kernel.qualified}
    for launch in kernel.launches or (None,):
        written = _template_arguments(launch)
        names = [last_word(parameter) for parameter in kernel.template_parameters]
        given = _given(kernel, launch, unit.host)
        position = launch.span.start if launch else len(unit.host.text)
        known = {
            name: value
            for name, argument, parameter in zip(names, written, kernel.template_parameters, strict=False)
            if (value := _written(unit.host, argument, position)) is not None and _is_for(parameter, value)
        }
        for name in names:
            told = None if name in known else _deduced(unit.host, kernel, name, given, position)
            if told is not None and not re.fullmatch(_NUMBER, told):
                known[name] = told
        told_by = ""
        if assuming and launch is None and any(name not in known for name in names):
            elsewhere, told_by = _written_elsewhere(unit, kernel)
            known = elsewhere | known
        open_ = [p for p in kernel.template_parameters if last_word(p) not in known and not _has_default(p)]
        guessed = _assumed(unit, kernel, open_, position) if assuming and open_ else {}
        key = tuple(known.get(name, "") for name in names)
        if key not in seen:
            seen.add(key)
            yield Instance(kernel, launch, known | guessed, given, tuple(guessed), told_by, len(alike) > 1)


def _types(kernel: Kernel) -> tuple[str, ...]:
    """The types of a kernel's parameters, as far as they tell it from others of its name."""
    return tuple(re.sub(r"\bconst$|\b__restrict__\b|\s", "", one.type) for one in kernel.parameters)


def _written_elsewhere(unit: SourceText, kernel: Kernel) -> tuple[dict[str, str], str]:
    """Template arguments that another file of the project launches or instantiates the kernel with, and that file."""
    host, best = unit.host, (dict[str, str](), "")
    for path, text in sources_naming(unit.path, kernel.name):
        plain = without_comments(text)
        for match in re.finditer(rf"\b{re.escape(kernel.name)}\s*<(?!<)", plain):
            end = _closing(plain, match.end())
            if end is None or not re.match(r"\s*(?:<<\s*<|[),;(])", plain[end:]):
                continue
            written = split_types(plain[match.end() : end - 1])
            there = _There(host, plain, match.start())
            found = {
                last_word(parameter): value
                for parameter, argument in zip(kernel.template_parameters, written, strict=False)
                if (value := there.told(argument)) is not None and _is_for(parameter, value)
            }
            if len(found) > len(best[0]):
                best = found, path.name
        if len(best[0]) == len(kernel.template_parameters):
            break
    return best


@dataclass(frozen=True)
class _There:
    """A place in another file that names a kernel's template arguments."""

    host: Host
    """Of the source."""
    text: str
    place: int

    def told(self, argument: str) -> str | None:
        """An argument as the source names it: a macro's parameter as its first use has it, a constant as its number."""
        if re.fullmatch(r"[A-Za-z_]\w*", argument) is None:
            return _told(self.host, argument)
        passed = self._passed(argument)
        if passed is not None:
            return _told(self.host, passed)
        return _told(self.host, argument) or self._number(argument)

    def _passed(self, name: str) -> str | None:
        """What the first use of the macro around the place gives for a parameter of this name."""
        start = self.place
        while (line := self.text.rfind("\n", 0, start)) > 0 and self.text[line - 1] == "\\":
            start = line - 1
        head = re.match(r"\s*#\s*define\s+(\w+)\(([^)]*)\)", self.text[max(0, line) : self.place])
        names = [one.strip() for one in head[2].split(",")] if head else []
        if head is None or name not in names:
            return None
        used = re.search(rf"^(?!\s*#)[^\n]*?\b{head[1]}\s*\(([^()]*)\)", self.text, re.MULTILINE)
        given = split_types(used[1]) if used else []
        return given[names.index(name)] if len(given) == len(names) else None

    def _number(self, name: str) -> str | None:
        value = _value(Host(self.text), name, self.place)
        return value if value is not None and re.fullmatch(_NUMBER, value) else None


def _told(host: Host, argument: str) -> str | None:
    """What another file writes, where it means the same in the source: types, numbers, and classes of the text."""
    return _written(host, argument, len(host.text))


def _written(host: Host, argument: str, position: int) -> str | None:
    """A template argument as written at a place: a class of the text, or what else has a value there."""
    word = re.sub(r"<.*", "", argument).rpartition("::")[2].strip()
    made = re.search(rf"\b(?:struct|class)\s+{word}\b[^;()]*\{{", host.text) if word.isidentifier() else None
    if made is not None:
        is_template = host.text[: made.start()].rstrip().endswith(">")
        return argument if is_template == ("<" in argument) else None
    return _value(host, argument, position)


def _closing(text: str, start: int) -> int | None:
    """After the `>` that closes a list of template arguments."""
    depth = 1
    for index in range(start, min(len(text), start + _LONGEST)):
        depth += {"<": 1, ">": -1}.get(text[index], 0)
        if text[index] in ";{}":
            return None
        if not depth:
            return index + 1
    return None


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
    if value is None and (switched := _switched(host, argument, position)) is not None:
        return _value(host, switched, position, depth + 1) if depth < _DEEPEST else None
    if value is None and _is_foreign(host, argument):
        return argument
    return str(int(value)) if value is not None else None


def _switched(host: Host, name: str, position: int) -> str | None:
    """The first value that a macro around a place gives a name of its caller: `SWITCH(dim, DIM, [&] { k<DIM> ...`."""
    if not name.isidentifier():
        return None
    for word, (parameters, body) in host.macros.items():
        calls = list(re.finditer(rf"\b{word}\s*\(", host.text[:position])) if parameters else []
        calls = [call for call in calls[-1:] if (matching(host.text, call.end() - 1) or position) >= position]
        given = split_arguments(host.text[calls[-1].end() : position]) if calls else ()
        if parameters is None or name not in given[: len(parameters)]:
            continue
        own = re.escape(parameters[given.index(name)])
        made = re.search(rf"\bconst(?:expr)?\b[^;=]*\b{own}\s*=\s*([^;]+);|\busing\s+{own}\s*=\s*([^;]+);", body)
        if made is not None:
            return (made[1] or made[2]).strip()
    return None


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
        if bare(parameter.type) == name and not ("*" in parameter.type and argument.isdigit()):
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
