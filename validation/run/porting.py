"""The port of the folder that a case belongs to: made on the fly and kept by content, or a tree made before."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from porter.validation.cases.case import Case
from porter.validation.toolchain.headers import for_headers

from porter.errors import Unusable
from porter.model import Effort
from porter.project.discovery import Kind, discover
from porter.project.manifest import NAME as MANIFEST
from porter.project.manifest import Manifest, read_manifest, settings_json
from porter.project.records import Status
from porter.project.writing import content_at
from porter.settings import Choices, load_choices
from porter.system.cache import cache_folder, is_ours, mark_used
from porter.system.reading import read_regular

WIDENED = "W120"
"""The rule that widens kernels."""


class NotPorted(Exception):
    """There is no port to check, and why."""


@dataclass(frozen=True)
class Port:
    """A ported tree."""

    source: Path
    tree: Path
    manifest: Manifest

    def file(self, case: Case) -> Path:
        """The port of the case's source; raises NotPorted."""
        return self.tree / self.manifest.files[self._path(case)].output

    def around(self, case: Case) -> Port:
        """The same tree as the port of the folder around that of the case, where that is what was ported."""
        source, own = case.source.resolve(), self.source.resolve()
        above = (own, *own.parents) if source.is_relative_to(own) else ()
        ported = (root for root in above if source.relative_to(root).as_posix() in self.manifest.files)
        return replace(self, source=next(ported, self.source))

    def folder(self, original: Path) -> Path:
        """An include folder of the original, in the port."""
        try:
            return self.tree / original.resolve().relative_to(self.source.resolve())
        except ValueError:
            return original

    @functools.cached_property
    def left(self) -> tuple[tuple[str, str], ...]:
        """The manual work that porter left: ported file, and `source, line, code: message`."""
        found: list[tuple[str, str]] = []
        for path, record in self.manifest.files.items():
            for entry in record.entries:
                if entry.effort == Effort.MANUAL.value and entry.suppressed is None:
                    sentence = f"{path}, line {entry.line}, {entry.code}: {entry.message}"
                    found.append((str(self.tree / record.output), sentence))
        return tuple(found)

    def is_same(self, other: Port) -> bool:
        """Whether both trees hold the same files."""
        mine, theirs = ({r.output: r.output_sha256 for r in p.manifest.files.values()} for p in (self, other))
        return mine == theirs and self.manifest.support == other.manifest.support

    def lanes(self, case: Case) -> int:
        """Lanes of a warp in the ported kernel: 64 when native mode widened it."""
        name = re.split(r"[<(]", case.kernel)[0].rpartition("::")[2].strip()
        for entry in self.manifest.files[self._path(case)].entries:
            if entry.code == WIDENED and entry.fixed and entry.message.startswith(f"{name} is widened"):
                return 64
        return 32

    def _path(self, case: Case) -> str:
        try:
            path = case.source.resolve().relative_to(self.source.resolve()).as_posix()
        except ValueError:
            raise NotPorted(f"{case.source} is not below {self.source}: set root in {case.path}") from None
        record = self.manifest.files.get(path)
        if record is None or record.status is Status.FAILED:
            raise NotPorted(f"{path} is not in the ported tree {self.tree}")
        return path


_home = [""]


def stand_for(prefix: str) -> None:
    """From now on, paths below this prefix stand for those of another machine: ports have the names they have there."""
    _home[0] = prefix


def _at_home(root: Path) -> str:
    return str(root.absolute()).removeprefix(_home[0])


def in_hip(kernel: str) -> str:
    """A kernel as its port is named: types of CUDA among its template arguments or parameters have other names."""
    name = re.split(r"[<(]", kernel, maxsplit=1)[0]
    arguments = kernel[len(name) :]
    return name + re.sub(r"[A-Za-z_]\w*", lambda match: _hip_type(match[0]), arguments)


@functools.cache
def _hip_type(name: str) -> str:
    from porter.names.table import load_names

    row = load_names(None, {}).get(name) if name.startswith(("__nv_", "nv_", "cuda")) else None
    return row.hip if row is not None and row.hip is not None else name


def existing_port(tree: Path, root: Path) -> Port:
    """A tree that `porter port` wrote; raises NotPorted."""
    try:
        manifest = read_manifest(tree)
    except Unusable as error:
        raise NotPorted(str(error)) from None
    if manifest is None:
        raise NotPorted(f"{tree}: no port (there is no porter-manifest.json)")
    return Port(root, tree, manifest)


def port_of(root: Path, warp: str) -> Port:
    """The port of a folder in one warp mode, made now unless it was made before; raises NotPorted."""
    try:
        choices = for_headers(load_choices(root))
        choices = replace(choices, engine=replace(choices.engine, warp=warp))
        pointer = cache_folder() / "ports" / f"{_key(root, choices)}.txt"
        tree = _kept(pointer)
        if tree is None:
            tree = _make(root, choices, pointer)
        manifest = read_manifest(tree)
        if manifest is None:
            raise NotPorted(f"{tree}: no manifest")
    except Unusable as error:
        raise NotPorted(str(error)) from None
    except OSError as error:
        raise NotPorted(f"{error.filename or cache_folder()}: {error.strerror}") from None
    return Port(root, tree, manifest)


def _kept(pointer: Path) -> Path | None:
    """The tree of an earlier run."""
    try:
        tree = pointer.parent / pointer.read_text("utf-8")
    except OSError:
        return None
    if not _is_as_ported(tree):
        return None
    for path in (pointer, tree):
        mark_used(path)
    return tree


def _is_as_ported(tree: Path) -> bool:
    """Whether every file of a kept tree is there and holds what the port wrote."""
    try:
        manifest = read_manifest(tree) if is_ours(tree) else None
        if manifest is None:
            return False
        written = {record.output: record.output_sha256 for record in manifest.files.values() if record.output_sha256}
        digests = {**written, **manifest.support}
        return all(content_at(tree / name).sha256 == digest for name, digest in digests.items())
    except (OSError, Unusable):
        return False


def _make(root: Path, choices: Choices, pointer: Path) -> Path:
    """The tree, in a folder named by its content: a porter that ports alike leads to the same files to compile."""
    from porter.project.port import Request, port_to

    pointer.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix="making-", dir=pointer.parent))
    try:
        answer = port_to(Request(root, choices, 1), made / "tree")
        if answer.run.crashes:
            raise NotPorted(f"bug in porter: {answer.run.crashes[0].strip().splitlines()[-1]}")
        tree = pointer.parent / _content(root, made / "tree")
        try:
            (made / "tree").rename(tree)
        except OSError:  # there already, or another process was first
            if not _is_as_ported(tree):
                tree.rename(made / "damaged")
                (made / "tree").rename(tree)
            else:
                (made / "tree" / MANIFEST).replace(tree / MANIFEST)
        (made / "pointer").write_text(tree.name, "utf-8")
        (made / "pointer").replace(pointer)
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return tree


def _content(root: Path, tree: Path) -> str:
    manifest = read_manifest(tree) or Manifest()
    files = sorted((record.output, record.output_sha256, record.target or "") for record in manifest.files.values())
    what = json.dumps([_at_home(root), files, sorted(manifest.support.items())])
    return hashlib.sha256(what.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _key(root: Path, choices: Choices) -> str:
    from porter.engine.own_code import knowledge_digest

    digest = hashlib.sha256(knowledge_digest().encode())
    digest.update(json.dumps(settings_json(choices), sort_keys=True).encode())
    digest.update(os.fsencode(_at_home(root)))
    for path, content in _files(root, choices):
        digest.update(path.encode("utf-8", "surrogateescape") + b"\0" + hashlib.sha256(content).digest())
    return digest.hexdigest()[:32]


def _files(root: Path, choices: Choices) -> Iterator[tuple[str, bytes]]:
    for entry in discover(root, choices).entries:
        if entry.kind is Kind.CODE:
            yield entry.path, read_regular(root / entry.path)
        else:
            yield entry.path, b""
