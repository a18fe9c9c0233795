"""The kernels and device functions of a file with their parsed bodies, and the cached model of a unit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from porter.cpp.asm import KEYWORDS, said
from porter.cpp.brackets import split_commas, written
from porter.cpp.constants import Constants, Macro
from porter.cpp.heads import Head, find_heads, find_lambdas
from porter.cpp.lex import IDENTIFIER, Tokens, joined, lex
from porter.cpp.nesting import Nesting
from porter.cpp.nodes import EMPTY, Node, calls, unwrapped
from porter.cpp.scopes import class_around
from porter.cpp.signatures import parameters_of, template_parameters_of
from porter.cpp.statements import parse_block, parse_expression, parse_statements
from porter.engine.unit import Unit
from porter.warp.collectives import BARRIERS, CHOSEN, COLLECTIVES, GROUPS, Collective, argument, collective, named
from porter.warp.groups import block_groups, is_block, synchronised


@dataclass(frozen=True)
class Function:
    """A kernel or device function that has a body."""

    tokens: Tokens
    head: Head
    name: str
    is_kernel: bool

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return tuple(parameter.name for parameter in parameters_of(self.tokens, self.head))

    @cached_property
    def parameter_types(self) -> Mapping[str, str]:
        """Types of the parameters as written."""
        return {parameter.name: parameter.type for parameter in parameters_of(self.tokens, self.head)}

    @cached_property
    def fewest(self) -> int:
        """How many arguments a call must have: parameters before the first default value."""
        stretches = split_commas(self.tokens, self.head.opening + 1, self.head.closing)
        texts = self.tokens.texts
        return next((n for n, (first, last) in enumerate(stretches) if "=" in texts[first:last]), len(self.parameters))

    def takes(self, count: int) -> bool:
        """Whether a call with so many arguments can mean it; who makes an object ends it, too."""
        if self.tokens.texts[self.head.name_first - 1] == "~":
            return True
        is_given = self.tokens.texts[self.head.opening + 1] == "this"
        return self.fewest <= count + is_given <= len(self.parameters)

    @cached_property
    def defaults(self) -> tuple[Node, ...]:
        """The default value of each parameter, an empty node where it has none."""
        return _defaults(self.tokens, self.head.opening, self.head.closing)

    @cached_property
    def template_parameters(self) -> tuple[str, ...]:
        """Names of the template parameters."""
        texts = template_parameters_of(self.tokens, self.head)
        return tuple(words[-1].lstrip(".") for text in texts if (words := text.partition("=")[0].split()))

    @cached_property
    def type_parameters(self) -> frozenset[str]:
        """Names of the template parameters that are types."""
        texts = template_parameters_of(self.tokens, self.head)
        words = (text.partition("=")[0].split() for text in texts)
        return frozenset(one[-1] for one in words if len(one) > 1 and one[0] in ("typename", "class"))

    def template_default(self, name: str) -> Node | None:
        """The default value of a template parameter that is no type."""
        for written_parameter in template_parameters_of(self.tokens, self.head):
            left, equals, right = written_parameter.partition("=")
            if equals and left.split()[-1:] == [name] and left.split()[0] not in ("typename", "class"):
                tokens = lex(right.strip())
                return parse_expression(tokens, 0, len(tokens))
        return None

    @property
    def is_const(self) -> bool:
        """Whether it is a member function that leaves its object as it is."""
        return "const" in self.tokens.texts[self.head.closing + 1 : self.head.body or 0]

    @cached_property
    def owner(self) -> str | None:
        """The class that it is a member of."""
        texts, head = self.tokens.texts, self.head
        is_qualified = "::" in texts[head.name_first : head.name_last]
        return texts[head.name_first] if is_qualified else class_around(self.tokens, head.begin)

    @cached_property
    def body(self) -> Node:
        """The statements, those that a constructor's initialisers make first."""
        assert self.head.body is not None
        body = parse_block(self.tokens, self.head.body, self.head.end)
        first = _initialisers(self.tokens, self.head)
        return Node("block", body.first, body.last, kids=(*first, *body.kids)) if first else body

    @cached_property
    def words(self) -> frozenset[str]:
        """All tokens of the body: what is not among them, no statement of it names."""
        return frozenset(self.tokens.texts[self.head.closing : self.head.end])

    @cached_property
    def calls(self) -> tuple[Node, ...]:
        """All calls in the body, in the order of the text."""
        return tuple(calls(self.body))

    @cached_property
    def declarations(self) -> tuple[Node, ...]:
        """All declarations in the body, in the order of the text."""
        return tuple(node for node in self.body.walk() if node.kind == "declaration")

    @cached_property
    def called(self) -> frozenset[str]:
        """Plain names that the body calls."""
        return frozenset(call.callee.rpartition("::")[2] for call in self.calls if call.callee)

    @cached_property
    def called_members(self) -> frozenset[str]:
        """Names of members that the body calls."""
        return frozenset(call.kids[0].text for call in self.calls if call.kids[0].kind == "member")

    @cached_property
    def collectives(self) -> tuple[tuple[Node, Collective], ...]:
        """The warp-wide calls written in the body."""
        return tuple((call, found) for call in self.calls if (found := collective(call)) is not None)

    @cached_property
    def has_barrier(self) -> bool:
        """Whether the body waits for the block."""
        return not self.called.isdisjoint(BARRIERS)

    def __hash__(self) -> int:
        return hash((self.name, self.head.begin))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Function) or self.head.begin != other.head.begin:
            return False
        return self.head == other.head and self.tokens is other.tokens


@dataclass(frozen=True)
class Bodies:
    """Device code of one file."""

    tokens: Tokens
    constants: Constants
    own: int | None = None
    """How many of the tokens are the file's own; None: all. Behind them stands what it uses of its headers."""

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        """The file's kernels and device functions that have bodies, in order."""
        return tuple(filter(self.is_own, self.all_functions))

    def is_own(self, function: Function) -> bool:
        """Whether a function stands in the file itself."""
        return self.own is None or function.head.begin < self.own

    @cached_property
    def all_functions(self) -> tuple[Function, ...]:
        """Those and the functions of headers in sight."""
        tokens = self.tokens
        heads: dict[int, tuple[Head, bool]] = {}
        for marker in ("__device__", "__global__"):
            for head in find_heads(tokens, marker):
                if head.is_definition and head.body is not None:
                    heads[head.body] = (head, marker == "__global__")
        found = [
            Function(tokens, head, _bare(written(tokens, head.name_first, head.name_last)), is_kernel)
            for _, (head, is_kernel) in sorted(heads.items())
        ]
        lambdas = tuple(find_lambdas(tokens))
        if not lambdas:
            return tuple(found)
        bodies = Nesting([(body, head.end) for body, (head, _) in heads.items()])
        outer = (head for head in lambdas if next(bodies.around(head.begin), None) is None)
        found += [Function(tokens, head, _name_of_lambda(tokens, head), is_kernel=False) for head in outer]
        return tuple(sorted(found, key=lambda function: function.head.body or 0))

    @cached_property
    def by_name(self) -> Mapping[str, tuple[Function, ...]]:
        """All functions of a name."""
        found: dict[str, list[Function]] = {}
        for function in self.all_functions:
            found.setdefault(function.name, []).append(function)
        for name, functions in self._instances.items():
            found.setdefault(name, []).extend(functions)
        return {name: tuple(functions) for name, functions in found.items()}

    @cached_property
    def _instances(self) -> Mapping[str, tuple[Function, ...]]:
        """Functions that macros make, by the names that they have where the macros are used: `MAKE(sum, float)`."""
        tokens, found = self.tokens, dict[str, tuple[Function, ...]]()
        for function in self.all_functions:
            directive = function.head.directive
            macro = None if directive is None else tokens.texts[directive.first]
            for made in self.constants.macros.get(macro or "", ()):
                if made.parameters and directive is not None and made.place == directive.first:
                    for name in _names_made(tokens, function.head, made):
                        found[name] = (*found.get(name, ()), function)
        return found

    def defaults(self, name: str) -> tuple[tuple[Node, ...], ...]:
        """The default values of the parameters of each function of a name: where it is defined, where declared."""
        known = self._defaults.get(name)
        if known is None:
            defined = [function.defaults for function in self.by_name.get(name, ())]
            declared = [_defaults(self.tokens, *place) for place in self._declarations(name)] if defined else []
            known = self._defaults[name] = (*defined, *declared)
        return known

    def mask_places(self, name: str) -> frozenset[int]:
        """Which parameters of the functions of a name are a mask of lanes, there or where they hand it on."""
        known = self._mask_places.get(name)
        if known is None:
            self._mask_places[name] = frozenset()
            masks = (self._masks_of(function) for function in self.by_name.get(name, ()))
            renamed = self._named_by_macros.get(name)
            own = frozenset[int]() if renamed is None or renamed.mask is None else frozenset({renamed.mask})
            known = self._mask_places[name] = own.union(*masks)
        return known

    def handed_masks(self, call: Node) -> Iterator[Node]:
        """What a call hands on as masks, as far as it is written."""
        places = self.mask_places(call.callee.rpartition("::")[2])
        return filter(None, (argument(call, place) for place in places))

    @cached_property
    def _mask_places(self) -> dict[str, frozenset[int]]:
        return {}

    def _masks_of(self, function: Function) -> frozenset[int]:
        made = [argument(call, found.mask) for call, found in function.collectives]
        for call in function.calls:
            name = call.callee.rpartition("::")[2]
            if name in self.reach and name != function.name:
                made += self.handed_masks(call)
        masks = {mask.text for mask in map(unwrapped, filter(None, made)) if mask.kind == "name"}
        masks -= set(_chosen_here(function.body)) if not masks.isdisjoint(function.parameters) else set()
        return frozenset(place for place, name in enumerate(function.parameters) if name in masks)

    @cached_property
    def _defaults(self) -> dict[str, tuple[tuple[Node, ...], ...]]:
        return {}

    def _declarations(self, name: str) -> Iterator[tuple[int, int]]:
        """The parentheses of declarations of a function that have default values: a call has none."""
        tokens = self.tokens
        for index in tokens.names.get(name, ()):
            closing = tokens.partner.get(index + 1, -1) if tokens.texts[index + 1] == "(" else -1
            if tokens.texts[closing + 1 : closing + 2] in ([";"], ["const"]) and "=" in tokens.texts[index:closing]:
                yield index + 1, closing

    @cached_property
    def macro_bodies(self) -> Mapping[str, tuple[tuple[Macro, Node], ...]]:
        """The function-like macros with their replacements read as statements: one of those that are written alike."""
        texts = self.tokens.texts
        found: dict[str, tuple[tuple[Macro, Node], ...]] = {}
        for name, macros in self.constants.macros.items():
            if any(macro.parameters is not None for macro in macros):
                written = {(m.parameters, *texts[m.first : m.last]): m for m in reversed(macros) if m.first < m.last}
                found[name] = tuple(
                    (m, parse_statements(self.tokens, m.first, m.last)) for m in reversed(written.values())
                )
        return found

    @cached_property
    def reach(self) -> Mapping[str, frozenset[str]]:
        """Kinds of warp-wide and block-wide operations that a function or macro in sight comes to.

        Those that come to none may be missing.
        """
        direct: dict[str, set[str]] = {}
        called: dict[str, set[str]] = {}
        for function in self.all_functions:
            if function.name not in self._concerned:
                continue
            kinds = {found.kind for _, found in function.collectives} | self._waits(function)
            if _reads_lanes(self.tokens, function.head):
                kinds.add("lane")
            made = {kind for node in function.declarations if (kind := class_named(node.text)) in self._classes}
            for name in filter(None, (function.name, function.owner if function.name == CALLED else None)):
                direct.setdefault(name, set()).update(kinds)
                called.setdefault(name, set()).update(
                    function.called, self.members & function.called_members, made - {name}
                )
        for name, functions in self._instances.items():
            called.setdefault(name, set()).update(function.name for function in functions)
        for name, renamed in self._named_by_macros.items():
            direct.setdefault(name, set()).add(renamed.kind)
        for name in self.macro_bodies.keys() & self._concerned:
            for macro, body in self.macro_bodies[name]:
                for call in calls(body):
                    found = collective(call)
                    kinds = {found.kind} if found else {"barrier"} if call.callee in BARRIERS else set()
                    if (group := synchronised(call)) is not None:
                        kinds |= {"barrier"} if is_block(group, frozenset()) else set()
                        kinds |= {"group"} if group.text in (macro.parameters or ()) else set()
                    direct.setdefault(name, set()).update(kinds)
                    called.setdefault(name, set()).add(call.callee.rpartition("::")[2])
        return _closure(direct, called)

    @cached_property
    def _classes(self) -> frozenset[str]:
        """Classes with a constructor, a destructor or a call operator in sight."""
        classes = _names_of_classes(self.tokens)
        return frozenset(
            owner
            for function in self.all_functions
            if function.name == CALLED or function.name in classes
            if (owner := function.owner) is not None and function.name in (CALLED, owner)
        )

    @cached_property
    def built_classes(self) -> frozenset[str]:
        """Those whose constructor or destructor comes to an operation of the warp or block."""
        return frozenset(
            name
            for name in self._classes
            if name in self.by_name and self.reach.get(name) and any(f.owner == name for f in self.by_name[name])
        )

    @cached_property
    def called_classes(self) -> frozenset[str]:
        """Those whose call operator does."""
        return frozenset(
            function.owner
            for function in self.by_name.get(CALLED, ())
            if function.owner is not None and self.reach.get(function.owner)
        )

    def _waits(self, function: Function) -> set[str]:
        """`barrier` where a function waits for the block, `group` where it waits for a group that it is handed."""
        head = function.head
        if function.has_barrier or not self.meeting_macros.isdisjoint(function.words):
            return {"barrier"}
        if any((head.body or head.begin) < place < head.end for place in self.assembled_barriers):
            return {"barrier"}
        if "sync" not in function.words:
            return set()
        groups = block_groups(function.parameter_types, function.declarations)
        waited = [group for call in function.calls if (group := synchronised(call)) is not None]
        if any(is_block(group, groups) for group in waited):
            return {"barrier"}
        types = {name: function.parameter_types.get(name, "") for name in (group.text for group in waited)}
        generic = any(set(written.split()) & function.type_parameters for written in types.values())
        return {"group"} if generic else set()

    @cached_property
    def members(self) -> frozenset[str]:
        """Names of functions that may be members: those in classes, behind a scope, and of headers."""
        return frozenset(
            function.name for function in self.all_functions if not self.is_own(function) or function.owner is not None
        )

    @cached_property
    def _named_by_macros(self) -> Mapping[str, Collective]:
        """The warp-wide functions that macros give another name: `#define SHFL __shfl_sync`."""
        texts = self.tokens.texts
        return {
            name: found
            for name, macros in self.constants.macros.items()
            for macro in macros
            if macro.parameters is None and (found := named("".join(texts[macro.first : macro.last]))) is not None
        }

    @cached_property
    def _concerned(self) -> frozenset[str]:
        """Functions and macros that by their words may come to such an operation: only those need be parsed for it."""
        words: dict[str, set[str]] = {}
        found: set[str] = set()
        for function in self.all_functions:
            words.setdefault(function.name, set()).update(function.words)
            if function.name == CALLED and function.owner is not None:
                words.setdefault(function.owner, set()).update(function.words)
            if _reads_lanes(self.tokens, function.head) or ("sync" in function.words and self._waits(function)):
                found.add(function.name)
        for name, functions in self._instances.items():
            words.setdefault(name, set()).update(*(function.words for function in functions))
        for place in self.assembled_barriers:
            found |= {self.all_functions[number].name for number in self._nesting.around(place)}
        for name, macros in self.constants.macros.items():
            if any(macro.parameters is not None for macro in macros):
                words.setdefault(name, set()).update(*(self.tokens.texts[m.first : m.last] for m in macros))
        for name, macros in self.constants.macros.items() if "sync" in self.tokens.names else ():
            if any(m.parameters is not None and "sync" in self.tokens.texts[m.first : m.last] for m in macros):
                found.add(name)
        operations = _OPERATIONS | self.meeting_macros | self._named_by_macros.keys()
        new = found | {name for name, inside in words.items() if not operations.isdisjoint(inside)}
        while new:
            found |= new
            new = {name for name in words.keys() - found if not new.isdisjoint(words[name])}
        return frozenset(found)

    @cached_property
    def object_macros(self) -> Mapping[str, tuple[Node, ...]]:
        """The object-like macros whose replacements are expressions."""
        return {
            name: tuple(parse_expression(self.tokens, m.first, m.last) for m in macros if m.first < m.last)
            for name, macros in self.constants.macros.items()
            if all(m.parameters is None for m in macros)
        }

    @cached_property
    def barrier_places(self) -> list[int]:
        """The tokens that name a barrier of the block or a function or macro that comes to one, in order."""
        meeting = (
            BARRIERS
            | self.meeting_macros
            | {name for name, kinds in self.reach.items() if not kinds.isdisjoint(("barrier", "group"))}
        )
        if not GROUPS.isdisjoint(self.tokens.names):
            meeting |= {"sync"}
        places = {index for name in meeting for index in self.tokens.names.get(name, ())}
        return sorted(places.union(self.assembled_barriers))

    @cached_property
    def assembled_barriers(self) -> frozenset[int]:
        """The `asm` before each text that waits for the block."""
        tokens = self.tokens
        return frozenset(
            place
            for keyword in KEYWORDS
            for place in tokens.names.get(keyword, ())
            if waits_for_block(said(tokens, place))
        )

    @cached_property
    def meeting_macros(self) -> frozenset[str]:
        """Macros without parameters that wait for the block: `#define BARRIER __syncthreads()`."""
        return self.macros_with(BARRIERS)

    @cached_property
    def shared_macros(self) -> frozenset[str]:
        """Macros without parameters that say `__shared__`."""
        return self.macros_with(frozenset({"__shared__"}))

    def macros_with(self, words: frozenset[str]) -> frozenset[str]:
        """Macros without parameters that say one of some words."""
        texts = self.tokens.texts
        if words.isdisjoint(self.tokens.names):
            return frozenset()
        return frozenset(
            name
            for name, macros in self.constants.macros.items()
            if any(m.parameters is None and not words.isdisjoint(texts[m.first : m.last]) for m in macros)
        )

    @cached_property
    def memo(self) -> dict[object, object]:
        """Results of walks over these bodies."""
        return {}

    def forget(self) -> None:
        """Drops the results: walks know their bodies, and would keep them and the file until garbage is collected."""
        seen = self.memo.pop(_IN_SIGHT, self)
        self.memo.clear()
        if seen is not self:
            cast(Bodies, seen).forget()

    def calls(self, function: Function, name: str) -> bool:
        """Whether a function's text mentions a name, read from the tokens."""
        return bool(self.tokens.named(name, (function.head.body or 0) + 1, function.head.end))

    def callers(self, name: str) -> tuple[Function, ...]:
        """The functions whose texts mention a name, those of headers included, in order."""
        known = self._callers.get(name)
        if known is None:
            around = {number for index in self.tokens.names.get(name, ()) for number in self._nesting.around(index)}
            known = self._callers[name] = tuple(self.all_functions[number] for number in sorted(around))
        return known

    @cached_property
    def _callers(self) -> dict[str, tuple[Function, ...]]:
        return {}

    @cached_property
    def _nesting(self) -> Nesting:
        return Nesting([(function.head.body or 0, function.head.end) for function in self.all_functions])

    def function_at(self, index: int) -> Function | None:
        """The function whose declaration contains a token."""
        around = list(self._declared.around(index + 1))
        return self.functions[around[-1]] if around else None

    @cached_property
    def _declared(self) -> Nesting:
        return Nesting([(function.head.begin, function.head.end + 1) for function in self.functions])


_OPERATIONS = frozenset({*COLLECTIVES, *(name.removeprefix("__") for name in COLLECTIVES), *BARRIERS})
"""Words of all warp-wide and block-wide operations, under CUDA's names and under those of our header."""
_LANE_REGISTERS = ("laneid", "lanemask_", "warpid", "shfl.", "vote.", "activemask")


_WAITS = re.compile(r"\b(?:bar|barrier)(?:\.cta)?\.(?:sync|red)\b")


def waits_for_block(assembly: str) -> bool:
    """Whether inline assembly waits for other warps of the block."""
    return "bar" in assembly and _WAITS.search(assembly) is not None


def _reads_lanes(tokens: Tokens, head: Head) -> bool:
    """Whether inline assembly in a function reads a lane's number or exchanges values."""
    return any(
        any(word in text for word in _LANE_REGISTERS)
        for keyword in KEYWORDS
        for place in tokens.named(keyword, head.body or head.begin, head.end)
        if (text := said(tokens, place))
    )


def _defaults(tokens: Tokens, opening: int, closing: int) -> tuple[Node, ...]:
    found: list[Node] = []
    for first, last in split_commas(tokens, opening + 1, closing):
        equals = next((i for i in range(first, last) if tokens.texts[i] == "="), None)
        found.append(EMPTY if equals is None else parse_expression(tokens, equals + 1, last))
    return tuple(found)


def _chosen_here(body: Node) -> Iterator[str]:
    """Variables that are set to the lanes that are there: `mask &= __activemask();`."""
    for node in body.walk():
        found = map(collective, calls(node.kids[1])) if node.kind == "assign" else ()
        if any(one is not None and one.kind in CHOSEN for one in found):
            yield unwrapped(node.kids[0]).text


def _initialisers(tokens: Tokens, head: Head) -> tuple[Node, ...]:
    """What a constructor initialises, as calls: `: Base(a), b{f(c)}`."""
    index = head.closing + 1
    while head.body is not None and index < head.body and tokens.texts[index] != ":":
        index = tokens.partner.get(index, index) + 1 if tokens.texts[index] in "([{" else index + 1
    if head.body is None or index >= head.body:
        return ()
    found: list[Node] = []
    for first, last in split_commas(tokens, index + 1, head.body):
        opening = next((i for i in range(first, last) if tokens.texts[i] in ("(", "{")), last)
        closing = tokens.partner.get(opening, last)
        if first < opening < closing < head.body:
            callee = Node("name", first, opening - 1, _bare(written(tokens, first, opening)))
            values = (parse_expression(tokens, a, b) for a, b in split_commas(tokens, opening + 1, closing))
            call = Node("call", first, closing, kids=(callee, *values))
            found.append(Node("statement", first, closing, kids=(call,)))
    return tuple(found)


def class_named(written_type: str) -> str:
    """`const ns :: S < int >`: S."""
    return written_type.partition("<")[0].rstrip().rpartition(" ")[2]


def _names_made(tokens: Tokens, head: Head, macro: Macro) -> Iterator[str]:
    """The names of a function that a macro makes, one for each use of the macro."""
    parts = [text for text in tokens.texts[head.name_first : head.name_last] if text != "##"]
    parameters = macro.parameters or ()
    if parameters and not set(parameters).isdisjoint(parts):
        for index in tokens.names.get(macro.name, ()):
            if index != macro.place and tokens.texts[index + 1] == "(" and (closed := tokens.partner.get(index + 1)):
                values = (written(tokens, a, b) for a, b in split_commas(tokens, index + 2, closed))
                given = dict(zip(parameters, values, strict=False))
                yield "".join(given.get(part, part) for part in parts)


def _name_of_lambda(tokens: Tokens, head: Head) -> str:
    """That of the variable that a lambda is the value of."""
    is_value = tokens.texts[head.begin - 1] == "=" and tokens.kinds[head.begin - 2] == IDENTIFIER
    return tokens.texts[head.begin - 2] if is_value else LAMBDA


def _names_of_classes(tokens: Tokens) -> frozenset[str]:
    """Names behind `struct` and `class`."""
    return frozenset(
        tokens.texts[index + 1] for keyword in ("struct", "class") for index in tokens.names.get(keyword, ())
    )


def _bare(name: str) -> str:
    """`ns::S<a::B>::h<int>`: h."""
    place = name.find("operator")
    if place >= 0 and not name[place + len("operator") :][:1].isalnum():
        return name[place:]
    count = 1
    while count:
        name, count = _INNERMOST.subn("", name)
    return name.partition("<")[0].rstrip().rpartition("::")[2]


_INNERMOST = re.compile(r"<[^<>]*>")


def _closure(direct: dict[str, set[str]], called: dict[str, set[str]]) -> dict[str, frozenset[str]]:
    changed = True
    while changed:
        changed = False
        for name, callees in called.items():
            kinds = direct.setdefault(name, set())
            for callee in callees:
                extra = direct.get(callee, set()) - kinds
                if extra:
                    kinds |= extra
                    changed = True
    return {name: frozenset(kinds) for name, kinds in direct.items()}


CALLED = "operator()"
LAMBDA = "(lambda)"
"""The name of functions that have none: nobody calls them by it."""
_last: list[tuple[Unit, Bodies]] = []
_IN_SIGHT = "in sight"


def bodies_of(unit: Unit) -> Bodies:
    """The device code of a unit; kept for the rules that ask one after the other."""
    if not _last or _last[0][0] is not unit:
        for _, bodies in _last:
            bodies.forget()
        _last[:] = [(unit, Bodies(unit.tokens, Constants(unit.tokens)))]
    return _last[0][1]


def bodies_in_sight(unit: Unit) -> Bodies:
    """The device code of a unit together with the helpers, macros and constants of its headers that it comes to.

    The file's own tokens come first, so that places in it are the same as in the unit; `functions` are its own.
    """
    memo = bodies_of(unit).memo
    if _IN_SIGHT not in memo:
        memo[_IN_SIGHT] = _in_sight(unit)
    return cast(Bodies, memo[_IN_SIGHT])


def mentions_in_sight(unit: Unit, names: frozenset[str]) -> bool:
    """Whether a unit, or what it uses of its headers, has one of some names."""
    return not names.isdisjoint(unit.identifiers) or not names.isdisjoint(bodies_in_sight(unit).tokens.names)


def _in_sight(unit: Unit) -> Bodies:
    own = bodies_of(unit)
    heads = unit.program.head_macros - own.constants.macros.keys()
    known = _joined(unit, own, unit.program.brought(heads)) if heads else own
    words = heads.union(*(function.words for function in known.functions))
    brought = unit.program.brought(words - own.by_name.keys() - own.constants.macros.keys()) if words else ""
    return _joined(unit, own, brought)


def _joined(unit: Unit, own: Bodies, brought: str) -> Bodies:
    """The device code of a unit with a text from its headers."""
    if not brought:
        return own
    count = len(unit.tokens)
    tokens = joined(unit.tokens, lex(brought))
    if tokens is not None:
        return Bodies(tokens, Constants(tokens), count)
    tokens = lex(f"{unit.source.text}\n{brought}")
    # a comment, string or bracket that the file leaves open would swallow or pair with what stands behind it
    sound = tokens.starts[:count] == unit.tokens.starts[:count] and all(
        (index < count) == (partner < count) for index, partner in tokens.partner.items()
    )
    return Bodies(tokens, Constants(tokens), count) if sound else own
