"""Whether the device's pass compiles a place, as far as the conditions around it tell without one."""

from __future__ import annotations

from collections.abc import Container

from porter.cpp.conditionals import Group, find_groups, group_at
from porter.cpp.lex import IDENTIFIER, Directive, Tokens
from porter.cpp.preprocessor import ABSENT, UNKNOWN, Lookup, Macro, condition_holds

DEVICE_ARCHITECTURE = "__CUDA_ARCH__"


class DeviceSide:
    """The conditions of one file; a macro that something in sight defines is not known: nobody follows the order.

    `alike` are macros that are defined for both passes, and are the same: those of the stubs, options of the build.
    """

    def __init__(
        self, tokens: Tokens, defined: Container[str], architecture: int | None, alike: Container[str] = ()
    ) -> None:
        self._tokens = tokens
        self._defined = defined
        self._alike = alike
        self._groups = find_groups(tokens)
        self._lookup = _lookup(defined, architecture)

    def compiles(self, offset: int) -> bool | None:
        """None: only the compiler knows."""
        innermost = group_at(self._groups, offset)
        answers = {self._holds(group, offset) for group in innermost.around()} if innermost is not None else set()
        return False if False in answers else None if None in answers else True

    def follows_host(self, offset: int) -> bool:
        """Whether all conditions around an offset decide as they do in the host's pass, whatever that is."""
        innermost = group_at(self._groups, offset)
        return innermost is None or all(self._is_alike(group, offset) for group in innermost.around())

    def _is_alike(self, group: Group, offset: int) -> bool:
        until = [directive for directive in group.directives if directive.start <= offset]
        names = (self._tokens.texts[i] for d in until for i in range(d.first, d.last) if self._is_name(i))
        return (len(until) == 1 and self._is_guard(group)) or all(map(self._is_shared, names))

    def _is_name(self, index: int) -> bool:
        return self._tokens.kinds[index] == IDENTIFIER and self._tokens.texts[index] != "defined"

    def _is_shared(self, name: str) -> bool:
        return name in self._alike or not (name in self._defined or name.startswith("__"))  # a compiler's differ

    def _holds(self, group: Group, offset: int) -> bool | None:
        """Whether the branch of a group that an offset is in is the one that is compiled."""
        until = [directive for directive in group.directives if directive.start <= offset]
        if len(until) == 1 and self._is_guard(group):
            return True
        earlier = {self._condition(directive) for directive in until[:-1]}
        own = self._condition(until[-1])
        if own is False or True in earlier:
            return False
        return True if own and None not in earlier else None

    def _condition(self, directive: Directive) -> bool | None:
        return condition_holds(self._tokens, directive, self._lookup)

    def _is_guard(self, group: Group) -> bool:
        """Whether a group keeps a file from being read twice: the first time it is read."""
        tokens, opening = self._tokens, group.directives[0]
        if group.parent is not None or opening.name != "ifndef":
            return False
        after = next((one for one in tokens.directives if one.start > opening.start), opening)
        return after.name == "define" and tokens.texts[after.first] == tokens.texts[opening.first]


def _lookup(defined: Container[str], architecture: int | None) -> Lookup:
    def lookup(name: str) -> Macro:
        if name in defined:
            return UNKNOWN
        if name == DEVICE_ARCHITECTURE and architecture is not None:
            return Macro(True, architecture)
        return UNKNOWN if name.startswith("_") else ABSENT  # the compiler's own begin so

    return lookup
