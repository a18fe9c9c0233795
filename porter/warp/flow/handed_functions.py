"""Functors and lambdas that callers in sight hand to a template, which calls them: what they exchange, it exchanges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from porter.cpp.nodes import Node, bare_callee, calls, unwrapped
from porter.warp.bodies import Bodies
from porter.warp.collectives import EXCHANGES, FULL, argument, collective
from porter.warp.function import CALLED, Function, class_named


def called_parameters(function: Function) -> Mapping[str, int]:
    """The parameters of a template that it calls, each with its place."""
    kinds = function.type_parameters
    if not kinds:
        return {}
    typed = {name for name, written in function.parameter_types.items() if not kinds.isdisjoint(_words(written))}
    if typed.isdisjoint(function.words) or typed.isdisjoint(function.called):
        return {}
    return {name: place for place, name in enumerate(function.parameters) if name in typed & function.called}


def handed_classes(bodies: Bodies, function: Function) -> Mapping[str, str]:
    """The parameters that are handed an object whose call operator comes to an exchange, each with its class."""
    return {name: text for name, text in _handed(bodies, function).items() if text}


def handed_lambdas(bodies: Bodies, function: Function) -> frozenset[str]:
    """The parameters that are handed a lambda that exchanges among all lanes."""
    return frozenset(name for name, text in _handed(bodies, function).items() if not text)


def hands_exchange(bodies: Bodies, caller: Function, call: Node) -> bool:
    """Whether a call hands a template an object or variable by which that exchanges among all lanes.

    A lambda that is written there is looked at there.
    """
    for function in bodies.by_name.get(bare_callee(call), ()):
        for place in called_parameters(function).values():
            given = argument(call, place)
            if given is None or unwrapped(given).kind == "lambda":
                continue
            if (found := _exchanging(bodies, caller, given)) is not None:
                return not found or _names_all(bodies, found)
    return False


def _handed(bodies: Bodies, function: Function) -> Mapping[str, str]:
    key = ("handed functions", function.head.begin)
    if key not in bodies.memo:
        bodies.memo[key] = dict(_read(bodies, function))
    return cast("Mapping[str, str]", bodies.memo[key])


def _read(bodies: Bodies, function: Function) -> Iterator[tuple[str, str]]:
    called = called_parameters(function)
    for caller in bodies.callers(function.name) if called else ():
        for call in caller.calls if caller != function else ():
            if bare_callee(call) != function.name or not function.takes(len(call.arguments)):
                continue
            for name, place in called.items():
                given = argument(call, place)
                found = None if given is None else _exchanging(bodies, caller, given)
                if found is not None:
                    yield name, found


def _exchanging(bodies: Bodies, caller: Function, given: Node) -> str | None:
    """The class of an object that exchanges; nothing for a lambda that does, None for what does not."""
    node = unwrapped(given)
    if node.kind == "lambda":
        return "" if _exchanges_all(bodies, node) else None
    if node.kind == "name":
        for declaration in caller.declarations:
            for variable in declaration.kids:
                if variable.text == node.text:
                    initial = None if variable.initial is None else unwrapped(variable.initial)
                    if initial is not None and initial.kind == "lambda":
                        return _exchanging(bodies, caller, initial)
                    return _known(bodies, class_named(declaration.text))
        return None
    return _known(bodies, bare_callee(node)) if node.kind == "call" else None


def _known(bodies: Bodies, name: str) -> str | None:
    return (
        name
        if name in bodies.operations.called_classes and not EXCHANGES.isdisjoint(bodies.operations.reach.get(name, ()))
        else None
    )


def _names_all(bodies: Bodies, name: str) -> bool:
    operators = (one for one in bodies.by_name.get(CALLED, ()) if one.owner == name)
    return any(_exchanges_all(bodies, one.body) for one in operators)


def _exchanges_all(bodies: Bodies, node: Node) -> bool:
    """Whether something exchanges with a mask that is written there, and names all lanes."""
    for call in calls(node):
        found = collective(call)
        mask = None if found is None else argument(call, found.mask)
        if found is not None and found.kind in EXCHANGES and mask is not None and _is_full(bodies, mask):
            return True
    return False


def _is_full(bodies: Bodies, mask: Node) -> bool:
    return any(value & FULL == FULL for value in bodies.constants.possible(unwrapped(mask)))


def _words(written: str) -> set[str]:
    return set(written.replace("&", " ").replace("*", " ").split())
