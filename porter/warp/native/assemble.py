"""Puts the edits of the widened kernels of a file together; helpers that others use, too, get a copy of their own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from porter.cpp.conditionals import Group, find_groups
from porter.cpp.scopes import ANONYMOUS, Scope, find_scopes
from porter.engine import edits as editing
from porter.model import Edit
from porter.warp.function import Function
from porter.warp.native.view import View

_SUFFIX = "_64"


@dataclass(frozen=True)
class Attempt:
    """A kernel that can be widened by itself: the edits of all its functions, and its calls of helpers."""

    kernel: Function
    edits: tuple[Edit, ...]
    functions: tuple[Function, ...]
    calls: tuple[tuple[int, str], ...]
    """The token and the name of each helper that is called."""


class _Impossible(Exception):
    """Why a kernel cannot be put together with the others."""


@dataclass
class _Copies:
    """What is known of the helpers of a file while kernels are taken in."""

    view: View
    in_place: frozenset[str]
    variants: dict[int, tuple[Edit, ...]] = field(default_factory=dict)
    """By the beginning of a helper, the edits inside it."""
    texts: dict[int, dict[int, str]] = field(default_factory=dict)
    """By the place where copies go, the copies by the beginning of the original."""


def assemble(
    view: View, attempts: tuple[Attempt, ...]
) -> tuple[list[tuple[Attempt, tuple[Edit, ...]]], list[tuple[Attempt, str]]]:
    """The kernels that can be widened together with all their edits in the file, and those that cannot, with why."""
    dropped: list[tuple[Attempt, str]] = []
    accepted = list(attempts)
    while True:
        copies = _Copies(view, _in_place(view, accepted))
        done: list[tuple[Attempt, set[Edit], set[int]]] = []
        failed: tuple[Attempt, str] | None = None
        for item in accepted:
            try:
                done.append((item, *_edits(copies, item, accepted)))
            except _Impossible as impossible:
                failed = item, str(impossible)
                break
        if failed is None:
            return [(item, _moved(copies, edits, places)) for item, edits, places in done], dropped
        accepted.remove(failed[0])
        dropped.append(failed)


def _in_place(view: View, accepted: list[Attempt]) -> frozenset[str]:
    """Names of the helpers that are only called from code that is widened, so that they are edited where they are."""
    if view.is_header:
        return frozenset()
    kernels = {item.kernel.head.begin for item in accepted}
    helpers = {f.name: None for item in accepted for f in item.functions if not f.is_kernel}
    names = {name for name in helpers if all(map(view.is_own, view.bodies.by_name[name]))}
    walked = {f.head.begin for item in accepted for f in item.functions}
    while True:
        bad = {
            name
            for name in names
            for f in view.bodies.by_name[name]
            if f.head.begin not in walked or _other_caller(view, name, kernels, names)
        }
        if not bad:
            return frozenset(names)
        names -= bad


def _other_caller(view: View, name: str, kernels: set[int], names: set[str]) -> bool:
    """Whether code that keeps 32 lanes mentions a helper."""
    inside = [f for f in view.bodies.callers(name) if view.bodies.is_own(f)]
    if any(f.head.begin not in kernels and (f.is_kernel or f.name not in names) for f in inside):
        return True
    tokens = view.tokens
    return any(
        (directive := tokens.directive_of(index)) is not None and directive.name == "define"
        for index in tokens.names.get(name, ())
    )


def _edits(copies: _Copies, item: Attempt, accepted: list[Attempt]) -> tuple[set[Edit], set[int]]:
    """The edits of a kernel, and the places of the copies that it needs."""
    view = copies.view
    tokens = view.tokens
    helpers = [f for f in item.functions if not f.is_kernel]
    inside = {f.head.begin: _within(*_extent(view, f), item.edits) for f in helpers}
    copied = [f for f in helpers if f.name in _copied(copies, item, inside)]
    names = {f.name: _copy_name(view, f.name) for f in copied}
    edits = set(item.edits) - {edit for f in copied for edit in inside[f.head.begin]}
    renamed = [Edit(tokens.starts[i], tokens.end(i), names[name]) for i, name in item.calls if name in names]
    moved = {edit for f in copied for edit in _within(*_extent(view, f), renamed)}
    edits |= set(renamed) - moved
    users = sorted(one.kernel.head.begin for one in accepted)
    places: set[int] = set()
    for function in copied:
        own = inside[function.head.begin]
        if copies.variants.setdefault(function.head.begin, own) != own:
            raise _Impossible(f"another kernel needs {function.name} widened in another way")
        if any(name == function.name and index < function.head.end for index, name in item.calls):
            raise _Impossible(f"{function.name} is called before it is defined, and needs a copy")
        place, text = _copy(view, function, {*own, *_within(*_extent(view, function), renamed)}, users)
        copies.texts.setdefault(place, {})[function.head.begin] = text
        places.add(place)
    if any(edit.start < view.base for edit in edits):
        raise _Impossible("it depends on a constant of a header")
    return edits, places


def _moved(copies: _Copies, edits: set[Edit], places: set[int]) -> tuple[Edit, ...]:
    """Edits and copies in offsets of the file itself."""
    texts = {place: "".join(text for _, text in sorted(copies.texts[place].items())) for place in places}
    everything = sorted({*edits, *(Edit(place, place, text) for place, text in texts.items())})
    base = copies.view.base
    return tuple(Edit(edit.start - base, edit.end - base, edit.text) for edit in everything)


def _extent(view: View, function: Function) -> tuple[int, int]:
    """Where a function's declaration begins and its body ends."""
    return view.tokens.starts[function.head.begin], view.tokens.end(function.head.end - 1)


def _copied(copies: _Copies, item: Attempt, inside: dict[int, tuple[Edit, ...]]) -> set[str]:
    """Names of the helpers that need a copy: they, or what they call, are edited, and not where they are."""
    helpers = [f for f in item.functions if not f.is_kernel]
    changed = {f.name for f in helpers if inside[f.head.begin]}
    while True:
        more = {
            f.name
            for f in helpers
            if any(name in changed and f.head.begin <= index < f.head.end for index, name in item.calls)
        }
        if more <= changed:
            return changed - copies.in_place
        changed |= more


def _within(start: int, end: int, edits: Iterable[Edit]) -> tuple[Edit, ...]:
    return tuple(edit for edit in edits if start <= edit.start and edit.end <= end)


def _copy_name(view: View, name: str) -> str:
    """The name of a copy: that of the file is in it where the helper or its user is in a header."""
    own = all(map(view.is_own, view.bodies.by_name[name]))
    stem = re.sub(r"\W", "_", view.unit.source.path.rpartition("/")[2].partition(".")[0])
    return f"{name}{_SUFFIX}" if own else f"{name}{_SUFFIX}_{stem}"


def _copy(view: View, function: Function, inside: set[Edit], users: list[int]) -> tuple[int, str]:
    """A widened helper, and its place: beside the original, or before the kernels when that is in a header."""
    tokens = view.tokens
    head = function.head
    scopes = [scope for scope in find_scopes(tokens) if scope.opening < head.begin < scope.closing]
    if not view.is_own(function) and _has_open_namespace(view, head.begin):
        raise _Impossible(f"the namespaces around {function.name} cannot be followed")
    if head.directive is not None or not all(_is_namespace(view, scope) for scope in scopes):
        raise _Impossible(f"{function.name} is also called by others, and cannot be copied")
    new = _copy_name(view, function.name)
    if new in tokens.names:
        raise _Impossible(f"{new} is there already")
    start, end = _extent(view, function)
    index = max(i for i in range(head.name_first, head.opening) if tokens.texts[i] == function.name)
    name = Edit(tokens.starts[index], tokens.end(index), new)
    moved = [Edit(e.start - start, e.end - start, e.text) for e in sorted({*inside, name})]
    text = editing.apply(tokens.text[start:end], moved)
    if view.is_own(function):
        return end, f"\n{text}"
    opened = "".join("namespace {\n" if s.name == ANONYMOUS else f"namespace {s.name} {{\n" for s in scopes)
    return _before_users(view, users), f"{opened}{text}\n{'}' * len(scopes)}\n"


def _has_open_namespace(view: View, index: int) -> bool:
    """Whether some namespace before a token of a header is not closed as far as the tokens tell."""
    tokens = view.tokens
    return any(
        tokens.texts[opening] == "{" and opening not in tokens.partner
        for place in tokens.names.get("namespace", ())
        if place < index
        for opening in range(place + 1, place + 6)
    )


def _is_namespace(view: View, scope: Scope) -> bool:
    texts = view.tokens.texts
    for index in range(scope.opening - 1, max(-1, scope.opening - 61), -1):
        if texts[index] in ("namespace", "struct", "class", "union"):
            return texts[index] == "namespace"
    return False


def _before_users(view: View, users: list[int]) -> int:
    """A place of the file before the first kernel, outside of namespaces, that is compiled whenever a kernel is."""
    tokens = view.tokens
    first = users[0]
    place = tokens.starts[_outermost(view, first)]
    groups = find_groups(tokens)
    around = set(_branches(groups, place))
    if not all(around <= set(_branches(groups, tokens.starts[user])) for user in users):
        raise _Impossible("a copy of a helper would not be there in all branches of #if")
    return place


def _outermost(view: View, user: int) -> int:
    """The token where the outermost namespace around a kernel begins, or the kernel itself."""
    tokens = view.tokens
    for index in tokens.names.get("namespace", ()):
        if not view.first <= index < user or tokens.directive_of(index) is not None:
            continue
        opening = index + 1
        while tokens.texts[opening] not in ("{", ";", "="):
            opening += 1
        if tokens.texts[opening] == "{" and tokens.partner.get(opening, user + 1) > user:
            return index - 1 if tokens.texts[index - 1] == "inline" else index
    if any(scope.opening < user < scope.closing for scope in find_scopes(tokens)):
        raise _Impossible("it is a member of a class")
    return user


def _branches(groups: Iterable[Group], place: int) -> Iterator[int]:
    """The branches of conditionals that a place is in, each by its directive."""
    for group in groups:
        if group.span.start < place < group.span.end:
            yield max(d.start for d in group.directives if d.start < place)
