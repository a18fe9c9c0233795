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
from porter.project.records import FileRecord, from_json, typed_table
from porter.project.shapes import typed
from porter.project.writing import content_of, write_atomically
from porter.settings import Choices
from porter.system.paths import is_inside
from porter.system.reading import parsed_json, read_regular

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
        return SCHEMA.partition("-1")[0].encode() in read_regular(folder / NAME)[:100]
    except OSError:
        return False


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest of an output folder; None when there is none, Unusable when it is damaged."""
    path = folder / NAME
    try:
        text = read_regular(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unusable(f"{path}: {error.strerror}") from None
    try:
        document = parsed_json(text)
        if document["schema"] != SCHEMA:
            raise Unusable(f"{path}: written by another porter ({document['schema']}); port into a new folder")
        files = {record.path: record for record in map(from_json, document["files"])}
        support, rules = typed_table(document["support"]), typed_table(document["rules"])
        for name in (*support, *(record.output for record in files.values() if record.output)):
            if not is_inside(name):
                raise ValueError(f"{name!r} is not in the tree")
        return Manifest(typed(document["run_key"], str), typed(document["complete"], bool), files, support, rules)
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
        **({"comments": True} if engine.comments else {}),
        **({"rewrite": [list(one) for one in engine.rewrites]} if engine.rewrites else {}),
        "names": dict(engine.custom_names),
        "ignore_names": sorted(choices.ignore_names),
        "include_dirs": list(choices.include_dirs),
        "defines": list(choices.defines),
        **({"dialect": [list(one) for one in choices.dialect]} if choices.dialect else {}),
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
