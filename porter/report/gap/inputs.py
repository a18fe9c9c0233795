"""Reads the documents that the report is made of, and tells them apart by their `schema`."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jinja2 import UndefinedError

from porter.errors import Unusable
from porter.system.reading import read_json
from porter.system.results import Store, is_store

Document = Mapping[str, Any]
KINDS = ("report", "build", "validate", "check", "estimate", "run", "programs")
_PREFIX = "porter-"


@dataclass(frozen=True)
class Inputs:
    """Documents by kind; a report holds at most one of `scan` and `port`, and as many others as there are."""

    report: Document
    builds: tuple[Document, ...] = ()
    validations: tuple[Document, ...] = ()
    checks: tuple[Document, ...] = ()
    estimates: tuple[Document, ...] = ()
    runs: tuple[Document, ...] = ()
    programs: tuple[Document, ...] = ()
    unknown: tuple[str, ...] = ()
    """What else a store holds."""
    folder: Path = field(default_factory=Path)
    """What relative paths in the documents start from."""


def read_inputs(paths: Iterable[Path], folder: Path) -> Inputs:
    """Reads files; Unusable where one is no document of porter's, or where the port's own report is missing."""
    found: dict[str, list[Document]] = {kind: [] for kind in KINDS}
    unknown: list[str] = []
    for path, document in _documents(paths):
        kind = kind_of(document)
        if kind is None and not is_store(path):
            raise Unusable(
                f"{path}: no document that a report is made of (schema: {document.get('schema', 'none')!r:.60})"
            )
        if kind is None:
            unknown.append(f"{path}: {document.get('schema')}")
        else:
            found[kind].append(document)
    reports = found["report"]
    if not reports:
        raise Unusable(
            "no report of `porter scan` or `porter port` among the files;"
            " `porter port SRC -o OUT --format json` makes one"
        )
    if len(reports) > 1:
        raise Unusable("more than one report of `porter scan` or `porter port`: give one, and what belongs to it")
    builds, validations, checks, estimates, runs, programs = (tuple(found[kind]) for kind in KINDS[1:])
    return Inputs(reports[0], builds, validations, checks, estimates, runs, programs, tuple(unknown), folder)


@contextlib.contextmanager
def as_written_by_porter(paths: Sequence[Path]) -> Iterator[None]:
    """Unusable where documents turn out to have another shape than their schemas say."""
    try:
        yield
    except (KeyError, TypeError, AttributeError, IndexError, ValueError, UndefinedError) as error:
        named = ", ".join(map(str, paths))
        raise Unusable(f"{named}: not as porter writes it ({type(error).__name__}: {error})") from error
    except OSError as error:
        if error.errno not in _OF_NAMES:
            raise
        named = ", ".join(map(str, paths))
        raise Unusable(f"{named}: not as porter writes it (a name of a file: {error.strerror})") from error


_OF_NAMES = frozenset({errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL})
"""What a name alone can be wrong with."""


def kind_of(document: Document) -> str | None:
    """One of KINDS: the schema's name without its version."""
    schema = document.get("schema")
    if not isinstance(schema, str) or not schema.startswith(_PREFIX):
        return None
    name = schema.removeprefix(_PREFIX).replace("/", "-").rpartition("-")[0]
    return name if name in KINDS else None


def _documents(paths: Iterable[Path]) -> Iterator[tuple[Path, Document]]:
    for path in paths:
        if is_store(path):
            with Store(path, read_only=True) as store:
                for document in store.documents():
                    yield path, document
        else:
            yield path, _read(path)


def _read(path: Path) -> Document:
    try:
        document = read_json(path)
    except OSError as error:
        raise Unusable(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise Unusable(f"{path}: not JSON ({error})") from None
    if not isinstance(document, dict):
        raise Unusable(f"{path}: not a document of porter's")
    return document
