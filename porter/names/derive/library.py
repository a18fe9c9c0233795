"""What is known of one CUDA library before its headers are read."""

from __future__ import annotations

import re
from dataclasses import dataclass

from porter.names.derive.declarations import Declaration
from porter.names.derive.reading import Namespaces, no_namespaces

_HIDDEN = re.compile(r"_|details?$|internal$|impl$|\w*_(?:detail|impl|ns)$|AliasTemporaries$|Int2Type$|core$|launcher$")


@dataclass(frozen=True)
class Library:
    """One table: CUDA headers (globs below an include folder) and name families.

    A family is (CUDA prefix, HIP prefix): names match when the rest is the same but for case and underscores.
    """

    name: str
    title: str
    headers: tuple[str, ...]
    families: tuple[tuple[str, str], ...]
    public: str = r"(?!_)\w+"
    """Names outside of this expression are the headers' own business."""
    namespaces: Namespaces = no_namespaces
    scopes: tuple[str, ...] = ()
    """Namespaces whose members are public; empty: the names outside of any namespace are."""
    macros: str = ""
    """With scopes: macros that are public nevertheless."""
    members: bool = False
    """Whether static functions of classes have rows of their own."""
    inside: str = ""
    """A namespace whose members count as global ones."""
    overloaded: bool = False
    """Functions are sets of overloads in no order: one that matches is enough."""
    header: str = ""
    """The ROCm header that stands for all of the library's headers without a counterpart of their own."""
    header_names: tuple[str, str] | None = None
    """Expression and replacement that turn a CUDA include path into ROCm's."""

    def public_name(self, declaration: Declaration) -> str | None:
        """A declared name as users write it; None for the headers' own business.

        Of a class's members only static functions and enumerators count: the others go where the class goes.
        """
        plain = declaration.name.removeprefix(self.inside)
        if declaration.member and (declaration.kind not in ("function", "enumerator") or not self.members):
            return None
        return plain if self.is_public(plain) else None

    def is_public(self, name: str) -> bool:
        """Whether users may write the name."""
        if not self.scopes:
            return "::" not in name and re.fullmatch(self.public, name) is not None
        if "::" not in name and name not in self.scopes:
            return bool(self.macros) and re.fullmatch(self.macros, name) is not None
        scoped = any(name == scope or name.startswith(scope + "::") for scope in self.scopes)
        return scoped and not any(_HIDDEN.match(part) for part in name.split("::"))
