"""What all files of a run share, built once per process; importing this is cheap, building it is not."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from porter.engine.own_code import knowledge_digest
from porter.settings import Choices

if TYPE_CHECKING:
    from pathlib import Path

    from porter.cpp.lex import Tokens
    from porter.cpp.prescan import Standing, Wanted
    from porter.engine.file import Context
    from porter.engine.semantics import Semantics
    from porter.engine.support import SupportTable
    from porter.names.table import NameTable
    from porter.source import SourceFile


def build_context(choices: Choices, paths: Iterable[str], renamed: Mapping[str, str]) -> Context:
    """Rules, tables and parser for one project; `paths` are those of its C++ files."""
    from porter.buildfiles.backends import homes
    from porter.cpp.patterns import pattern
    from porter.engine.file import Context
    from porter.engine.registry import all_rules
    from porter.engine.support import load_support
    from porter.engine.trace import Trace

    engine = choices.engine
    ignored = dict.fromkeys(choices.ignore_names)
    names = _names(choices)
    rules = tuple(rule for rule in all_rules() if not engine.disabled & {rule.code, rule.name})
    own = homes()
    support = _without(load_support(engine.rocm), ignored)
    return Context(
        settings=engine,
        names=names,
        support=support,
        rules=rules,
        trace=Trace(rules, names, support, [pattern(one.find).head for one in engine.rewrites]),
        headers=frozenset(path for path in paths if path.endswith(own) or _shadows_cuda(path, names)),
        renamed=renamed,
    )


def _names(choices: Choices) -> NameTable:
    from porter.names.table import load_names

    own = {name: name for name in choices.ignore_names}
    return load_names(choices.engine.rocm, {**own, **dict(choices.engine.custom_names)})


def _without(table: SupportTable, ignored: Mapping[str, None]) -> SupportTable:
    names = {name: row for name, row in table.names.items() if name not in ignored}
    return replace(table, names=names) if ignored else table


def parser_for(
    root: Path, include_dirs: Iterable[str], defines: Iterable[str]
) -> Callable[[SourceFile, Tokens, bool], Semantics | None]:
    """Clang's view of the files of a project, looking for headers in folders relative to its root."""
    from porter.cpp.clang.view import Parsed, ParseRequest, parse

    folders = tuple(str(root / folder) for folder in include_dirs)
    macros = tuple(defines)

    def semantics(source: SourceFile, tokens: Tokens, bodies: bool) -> Semantics | None:
        if not _is_utf8(source.path):
            return None
        request = ParseRequest(str(root / source.path), source.data, folders, macros, str(root), bodies)
        parsed = parse(request, tokens)
        return parsed if isinstance(parsed, Parsed) else None

    return semantics


def _is_utf8(path: str) -> bool:
    """Whether libclang can be told the name."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _shadows_cuda(path: str, names: NameTable) -> bool:
    """Whether some `#include` of a CUDA header could mean this file of the project."""
    return any(names.header(tail) is not None or names.header_folder(tail) is not None for tail in _tails(path))


def _tails(path: str) -> Iterator[str]:
    """`a/b/c.h`, `b/c.h`, `c.h`."""
    while path:
        yield path
        path = path.partition("/")[2]


def shadowing(choices: Choices, paths: Iterable[str]) -> frozenset[str]:
    """Those of some files that an `#include` of a CUDA header could mean."""
    names = _names(choices)
    return frozenset(path for path in paths if _shadows_cuda(path, names))


def interesting_names(context: Context) -> Callable[[str], bool]:
    """Whether it matters that the project declares a name: CUDA has it too, or it looks as if."""
    from porter.engine.renames import looks_like_cuda

    names, support = context.names, context.support
    custom = frozenset(old for old, _ in context.settings.custom_names)
    triggers = frozenset().union(*(rule.triggers for rule in context.rules))

    @functools.lru_cache(maxsize=1 << 16)
    def interesting(name: str) -> bool:
        if name in custom:
            return False
        return name in names or support.get(name) is not None or name in triggers or looks_like_cuda(name)

    return interesting


def standing_of(context: Context) -> Callable[[str], Standing]:
    """Tells whether a name becomes one of HIP's, has none, or is in no table."""
    names, support = context.names, context.support

    def standing(name: str) -> Standing:
        row = names.get(name)
        if row is None:
            return "unknown" if support.get(name) is None else "replaced"
        return "replaced" if row.hip is not None or support.get(name) is not None else "missing"

    return standing


_KEYWORDS = frozenset({"asm", "__asm", "__asm__", "operator", "register", "template", "volatile"})
"""Triggers that no file declares."""


def wanted_words(context: Context) -> Wanted:
    """Which words can be names of which `interesting_names` says yes."""
    from porter.cpp.prescan import Wanted
    from porter.engine.renames import BEGINS, any_looks_like_cuda
    from porter.names.table import identifiers

    triggers = frozenset().union(*(rule.triggers for rule in context.rules)) - _KEYWORDS
    others = identifiers((*context.support.names, *triggers))
    known = context.names.words

    def any_of(words: frozenset[bytes]) -> bool:
        is_known = not (words.isdisjoint(others) and words.isdisjoint(known))
        return is_known or any_looks_like_cuda(b"\n".join(words).decode("latin-1"))

    return Wanted(any_of, known | others | identifiers(_KEYWORDS), tuple(begin.encode() for begin in BEGINS))


def run_key(
    settings: Mapping[str, object],
    paths: Iterable[str],
    renamed: Mapping[str, str],
    flags: Mapping[str, tuple[object, ...]] | None = None,
) -> str:
    """Digest of everything that the port of every file depends on."""
    what = json.dumps([settings, sorted(paths), sorted(renamed.items()), sorted((flags or {}).items())])
    return hashlib.sha256(f"{knowledge_digest()}\0{what}".encode()).hexdigest()
