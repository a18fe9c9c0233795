"""Which files are translation units of the port, and with which options each is compiled."""

from __future__ import annotations

import functools
import os
import posixpath
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from porter.validation.build.includes import Headers, included

from porter.errors import Unusable
from porter.project.manifest import NAME as MANIFEST
from porter.project.manifest import Manifest, read_manifest
from porter.project.records import FileRecord, Status
from porter.system.reading import read_json, read_regular

GPU = (".hip", ".cu")
_SHIMS = "porter/hip"
"""The headers that only AMD builds of a tree for both vendors see."""
_NAMES = f"{_SHIMS}/cuda_to_hip.h"
CXX = (".cpp", ".cc", ".cxx", ".c++", ".C")
_GPU_CODE = re.compile(rb"\b__global__\b|<<<|\bhip/hip_runtime|\bhipLaunchKernel")
_DESCRIPTIONS = ("compile_commands.json", "build/compile_commands.json", "out/compile_commands.json")
_SKIPPED = frozenset({".git", "node_modules", "__pycache__", ".venv"})
_PAIRS = ("-I", "-isystem", "-iquote", "-D", "-U", "-include")
_SINGLE = re.compile(
    r"-(?:std=.*|std|O[0-3sz]|Ofast|ffast-math|fno-.*|f(?:gpu|cuda|hip|exceptions|openmp|strict|signed|unsigned|PIC|pic).*"
    r"|m(?:unsafe-fp-atomics|no-unsafe-fp-atomics|wavefrontsize64)|fgpu-rdc|DNDEBUG)$"
)


class NothingToBuild(Unusable):
    """A tree without a translation unit for the GPU."""


@dataclass(frozen=True)
class Unit:
    """One translation unit: its path below the root, and the options that the project gives it."""

    path: str
    options: tuple[str, ...]


@dataclass(frozen=True)
class Tree:
    """A ported tree, or a folder that nobody ported."""

    root: Path
    manifest: Manifest | None
    units: tuple[Unit, ...]
    code: tuple[str, ...]
    """All C++ and HIP files, headers included."""
    description: str
    notes: tuple[str, ...] = ()


def find_tree(path: Path, description: Path | None = None) -> Tree:
    """The units of a folder, or of the folder around one file; Unusable when there is nothing to compile."""
    path = path.absolute()
    if not path.exists():
        raise Unusable(f"{path}: no such file or folder")
    path = path.resolve() if ".." in path.parts else path  # what compilers say of a file is looked up below the root
    root = _root_of(path)
    manifest = read_manifest(root)
    code = tuple(_code(root)) if path.is_dir() or manifest else _beside(root, path)
    headers = Headers(root, code)
    chosen = _chosen(root, path, manifest, code)
    commands, origin = _description(root, description)
    if commands is not None:
        known = _from_commands(root, commands, manifest)
        units = tuple(Unit(one, known[one]) for one in chosen if one in known)
        units = units or tuple(_implied(root, one, manifest, headers) for one in chosen)
        left_out = [one for one in chosen if one not in known]
        notes = (f"not in {origin}, so not built: {', '.join(left_out[:10])}",) if units and left_out and known else ()
        if known:
            return _tree(root, manifest, units, code, origin, notes)
    units = tuple(_implied(root, one, manifest, headers) for one in chosen)
    return _tree(root, manifest, units, code, "include paths implied by the tree")


def _tree(
    root: Path,
    manifest: Manifest | None,
    units: tuple[Unit, ...],
    code: tuple[str, ...],
    description: str,
    notes: tuple[str, ...] = (),
) -> Tree:
    if not units:
        raise NothingToBuild(f"{root}: no translation unit to build (.hip files, or C++ files with HIP code)")
    return Tree(root, manifest, units, code, description, notes)


def _root_of(path: Path) -> Path:
    """The ported tree that a file or folder is in, else the folder itself."""
    own = path if path.is_dir() else path.parent
    return next((folder for folder in (own, *own.parents) if (folder / MANIFEST).is_file()), own)


def _beside(root: Path, path: Path) -> tuple[str, ...]:
    """A single file without a manifest: what lies in its own folder counts, nothing else."""
    beside = (other.name for other in sorted(root.iterdir()) if other.is_file() and _is_code(other.name))
    support = (f"porter/{other.name}" for other in sorted((root / "porter").glob("*.hpp")))
    return tuple(dict.fromkeys([path.name, *beside, *support]))


def _is_code(name: str) -> bool:
    return name.endswith((*GPU, *CXX, ".cuh", ".h", ".hh", ".hpp", ".hxx", ".inl", ".inc", ".ipp", ".tcc", ".tpp"))


def _code(root: Path) -> Iterator[str]:
    for folder, names, files in os.walk(root):
        names[:] = sorted(name for name in names if name not in _SKIPPED)
        below = Path(folder).relative_to(root)
        yield from (str(PurePosixPath(below / name)) for name in sorted(files) if _is_code(name))


def _chosen(root: Path, path: Path, manifest: Manifest | None, code: tuple[str, ...]) -> list[str]:
    if path.is_file():
        return [str(PurePosixPath(path.relative_to(root)))]
    if path != root:
        code = tuple(one for one in code if (root / one).is_relative_to(path))
    if manifest is not None:
        outputs = {record.output: record for record in manifest.files.values() if record.output}
        ported = (one for one in code if one in outputs and _is_of_the_port(outputs[one]))
        return _without_included(root, [one for one in ported if one.endswith((*GPU, *CXX))])
    found = [one for one in code if one.endswith(GPU) or (one.endswith(CXX) and _has_gpu_code(root / one))]
    return _without_included(root, found)


def _is_of_the_port(record: FileRecord) -> bool:
    """Whether a file was changed, or is one for both vendors: headers supply its names."""
    if record.status is Status.UNCHANGED:
        return bool(record.dual) or str(record.output).endswith(GPU)
    return record.status is Status.PORTED


def _without_included(root: Path, sources: list[str]) -> list[str]:
    """Sources but those that another one includes: they are parts of that one."""
    known = frozenset(sources)
    parts = {
        path
        for source in sources
        for _, name in included(root / source)
        if (path := posixpath.normpath(posixpath.join(posixpath.dirname(source), name))) in known and path != source
    }
    return [one for one in sources if one not in parts] or sources


def _has_gpu_code(path: Path) -> bool:
    try:
        return _GPU_CODE.search(read_regular(path)) is not None
    except OSError:
        return False


def _implied(root: Path, path: str, manifest: Manifest | None, headers: Headers) -> Unit:
    """Include folders that make the unit's own includes resolve, and the settings of the port."""
    settings = _settings(root) if manifest else {}
    dual = manifest is not None and (root / _NAMES).is_file()
    given = [f"-I{root / _SHIMS}", "-include", "cuda_runtime.h"] if dual else []
    given += [*(f"-I{root / folder}" for folder in settings.get("include_dirs", ()))]
    given += [f"-D{name}" for name in settings.get("defines", ())]
    found = [f"-I{folder}" for folder in headers.folders_for(path)]
    return Unit(path, (*given, *(one for one in dict.fromkeys(found) if one not in given)))


@functools.lru_cache(maxsize=8)
def _settings(root: Path) -> dict[str, Any]:
    """The settings that the port was made with."""
    try:
        document = read_json(root / MANIFEST)
    except (OSError, ValueError) as error:
        raise Unusable(f"{root / MANIFEST}: damaged ({error})") from None
    found = document.get("settings", {}) if isinstance(document, dict) else {}
    return {name: words for name, words in found.items() if is_words(words)} if isinstance(found, dict) else {}


def is_words(value: object) -> bool:
    """Whether a value of a JSON document is a list of texts."""
    return isinstance(value, list) and all(isinstance(word, str) for word in value)


def _description(root: Path, given: Path | None) -> tuple[list[Any] | None, str]:
    for path in [given] if given else [root / name for name in _DESCRIPTIONS]:
        if not given and not path.is_file():
            continue
        try:
            entries = read_json(path)
        except OSError as error:
            raise Unusable(f"{path}: {error.strerror}") from None
        except ValueError as error:
            raise Unusable(f"{path}: {error}") from None
        if not isinstance(entries, list):
            raise Unusable(f"{path}: a compilation database is a list of commands")
        name = str(path.relative_to(root)) if path.is_relative_to(root) else str(path)
        return entries, name
    return None, ""


def _from_commands(root: Path, entries: list[Any], manifest: Manifest | None) -> dict[str, tuple[str, ...]]:
    """Options per unit; paths of the source tree are those of the port."""
    outputs = {record.path: record.output for record in manifest.files.values()} if manifest else {}
    found: dict[str, tuple[str, ...]] = {}
    for entry in entries:
        if not isinstance(entry, dict) or "file" not in entry:
            continue
        folder = Path(str(entry.get("directory", root)))
        folder = folder if folder.is_absolute() else root / folder
        file = Path(os.path.normpath(folder / str(entry["file"])))
        words = entry.get("arguments")
        words = list(map(str, words)) if isinstance(words, list) else _words(str(entry.get("command", "")))
        for base, path in _in_tree(root, file, outputs):
            found.setdefault(path, tuple(_kept(words[1:], folder, base, root)))
            break
    return found


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return []


def _in_tree(root: Path, file: Path, outputs: dict[str, str]) -> Iterator[tuple[Path, str]]:
    """The root that the command meant, and the unit of the port."""
    if file.is_relative_to(root):
        inside = str(PurePosixPath(file.relative_to(root)))
        yield root, outputs.get(inside, inside) or inside
        return
    for count in range(len(file.parts) - 1, 0, -1):
        inside = "/".join(file.parts[-count:])
        if inside in outputs:
            yield Path(*file.parts[:-count]), outputs[inside]


def _kept(words: list[str], folder: Path, base: Path, root: Path) -> Iterator[str]:
    """Options that a HIP compiler understands, whatever compiler the command was for."""
    waiting = iter(words)
    for word in waiting:
        option = next((pair for pair in _PAIRS if word.startswith(pair)), None)
        if word == "-include-pch" or option is None:
            if _SINGLE.match(word):
                yield word
            continue
        value = word[len(option) :] or next(waiting, "")
        if option in ("-D", "-U"):
            yield f"{option}{value}"
        else:
            path = Path(os.path.normpath(folder / value))
            if path.is_relative_to(base):
                path = root / path.relative_to(base)
            yield from (option, str(path) if option != "-include" or path.exists() else value)
