"""`porter-manifest.json`: what a run did to each file, and enough to do only what changed the next time."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from porter import __version__
from porter.errors import Unusable
from porter.records import FileRecord, from_json
from porter.settings import Choices
from porter.writing import content_of, write_atomically

NAME = "porter-manifest.json"
SCHEMA = "porter-manifest-1"


@dataclass(frozen=True, slots=True)
class Manifest:
    """The record of the last run into an output folder."""

    run_key: str = ""
    complete: bool = True
    files: Mapping[str, FileRecord] = field(default_factory=dict)
    support: Mapping[str, str] = field(default_factory=dict)
    """Support headers written, with their digests."""
    rules: Mapping[str, str] = field(default_factory=dict)
    """Code -> name of every rule, so that a run that finds nothing to do need not load them."""


def is_ours(folder: Path) -> bool:
    """Whether a folder holds the output of an earlier run."""
    try:
        with (folder / NAME).open("rb") as file:
            return SCHEMA.partition("-1")[0].encode() in file.read(100)
    except OSError:
        return False


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest of an output folder; None when there is none, Unusable when it is damaged."""
    path = folder / NAME
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unusable(f"{path}: {error.strerror}") from None
    try:
        document = json.loads(text)
        if document["schema"] != SCHEMA:
            raise Unusable(f"{path}: written by another porter ({document['schema']}); port into a new folder")
        files = {record.path: record for record in map(from_json, document["files"])}
        rules = document["rules"]
        return Manifest(document["run_key"], document["complete"], files, document["support"], rules)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Unusable(f"{path}: damaged ({error}); remove it and use --force to port again") from None


def settings_json(choices: Choices) -> dict[str, Any]:
    """The settings that decide what the port looks like."""
    engine = choices.engine
    return {
        "rocm": engine.rocm,
        "warp": engine.warp,
        "style": engine.style,
        "torch": engine.torch,
        "names": dict(engine.custom_names),
        "ignore_names": sorted(choices.ignore_names),
        "include_dirs": list(choices.include_dirs),
        "defines": list(choices.defines),
        "native_kernels": sorted(engine.native_kernels),
        "preserve_kernels": sorted(engine.preserve_kernels),
        "disable": sorted(engine.disabled),
        "include": list(choices.include),
        "exclude": list(choices.exclude),
        "omit": list(choices.omit),
        "gitignored": choices.gitignored.value,
        "vendored": choices.vendored.value,
        "vendored_folders": list(choices.vendored_folders),
    }


def write_manifest(
    folder: Path,
    run_key: str,
    choices: Choices,
    lines: Iterable[str],
    support: Mapping[str, str],
    rules: Mapping[str, str],
    *,
    complete: bool,
) -> None:
    """Writes the manifest, one file per line; nothing in it depends on the time or the machine."""
    head = {
        "schema": SCHEMA,
        "porter": __version__,
        "run_key": run_key,
        "complete": complete,
        "settings": settings_json(choices),
        "support": dict(sorted(support.items())),
        "rules": dict(rules),
    }
    text = json.dumps(head, indent=1)[:-2] + ',\n "files": [\n' + ",\n".join(lines) + "\n]}\n"
    path = folder / NAME
    content = content_of(text.encode())
    write_atomically(path, content, 0o644 & ~_umask(), sync=True)


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
