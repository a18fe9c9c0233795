"""The folder of `porter all`: where each step leaves what it made, and what of an earlier run still holds."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from porter import __version__
from porter.errors import Unusable
from porter.project.writing import content_at, content_of, write_atomically
from porter.system.paths import make_folders_to
from porter.system.reading import read_json

MARK = "porter-all.json"
"""Says that the folder is one of `porter all`, and of which source."""


@dataclass(frozen=True)
class Folder:
    """Paths below the output."""

    root: Path

    @property
    def port(self) -> Path:
        """The ported tree."""
        return self.root / "port"

    @property
    def cases(self) -> Path:
        """Drafted case files, as the sources lie."""
        return self.root / "cases"

    def document(self, step: str) -> Path:
        """The JSON of a step."""
        return self.root / f"{step}.json"

    def write(self, name: str, text: str) -> Path:
        """A file of the folder, whole or not at all."""
        path = make_folders_to(self.root, name)
        write_atomically(path, content_of(text.encode("utf-8", "backslashreplace")), 0o644)
        return path

    def write_json(self, name: str, document: Mapping[str, Any]) -> Path:
        """The same as JSON."""
        return self.write(name, json.dumps(document, indent=1) + "\n")

    def read_json(self, name: str) -> dict[str, Any] | None:
        """What an earlier run left; None where there is nothing that can be read."""
        try:
            document = read_json(self.root / name)
        except (OSError, ValueError):
            return None
        return document if isinstance(document, dict) else None


def sealed(document: Mapping[str, Any]) -> dict[str, Any]:
    """A document with its digest, so that damage is noticed where the next run reads it."""
    return {**document, "sha256": _digest_of(document)}


def unsealed(document: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The document as it was sealed; None when there is none, or not that."""
    content = {key: value for key, value in (document or {}).items() if key != "sha256"}
    return content if document is not None and document.get("sha256") == _digest_of(content) else None


def _digest_of(document: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def opened(source: Path, output: Path) -> Folder:
    """The folder, made or gone on with; Unusable where it holds something else."""
    folder = Folder(output)
    if source.resolve() == output.resolve() or source.resolve().is_relative_to(output.resolve()):
        raise Unusable(f"{output}: the output cannot be the source or around it")
    known = folder.read_json(MARK)
    if output.is_dir() and any(output.iterdir()) and known is None:
        raise Unusable(f"{output}: holds something else; give an empty folder, or one of `porter all`")
    if known is not None and not _is_of(known, source, output):
        raise Unusable(f"{output}: is that of {known.get('source')}; give another folder")
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unusable(f"{output}: {error.strerror}") from None
    folder.write_json(MARK, {"porter": __version__, "source": os.path.relpath(source.resolve(), output.resolve())})
    return folder


def _is_of(known: Mapping[str, Any], source: Path, output: Path) -> bool:
    """Whether an earlier run had the same source, as seen from the output: both may have moved together."""
    named = known.get("source")
    return isinstance(named, str) and Path(os.path.normpath(output.resolve() / named)) == source.resolve()


def digest(root: Path, paths: Iterable[Path], *words: object) -> str:
    """Of the content of files, by their places as seen from a folder, and of what else a step depends on."""
    found = hashlib.sha256(repr((__version__, *words)).encode())
    for path in sorted(paths):
        found.update(os.fsencode(os.path.relpath(path, root)) + b"\0")
        found.update(content_at(path).sha256.encode() if path.is_file() else b"-")
    return found.hexdigest()[:32]
