"""What the user chose: `porter.toml` or `[tool.porter]` in pyproject.toml, and the command line on top."""

from __future__ import annotations

import difflib
import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from porter.errors import Unusable
from porter.model import Settings
from porter.system.reading import LARGEST_DOCUMENT, read_regular, read_toml

FILE_NAME = "porter.toml"
VENDORED = (
    "3rdparty",
    "deps",
    "extern",
    "external",
    "externals",
    "submodules",
    "third-party",
    "third_party",
    "thirdparty",
    "vendor",
    "vendored",
    "vendors",
)
"""Folder names that usually hold other people's code."""

WARP_MODES = ("preserve", "native")
STYLES = ("renamed", "dual")
TORCH_MODES = ("leave", "standalone")
DIALECTS = ("cuda", "hip")
FAIL_LEVELS = ("manual", "review", "hazard")


class Handling(str, enum.Enum):
    """What happens to a folder or file that is not the project's own work."""

    PORT = "port"
    COPY = "copy"
    SKIP = "skip"


@dataclass(frozen=True, slots=True)
class Choices:
    """Settings of one run: what the rules need, and which files take part."""

    engine: Settings = field(default_factory=Settings)
    include: tuple[str, ...] = ()
    """Only these files are ported; the others are copied. Empty: all."""
    exclude: tuple[str, ...] = ()
    """Copied as they are."""
    omit: tuple[str, ...] = ()
    """Not in the ported tree at all."""
    gitignored: Handling = Handling.SKIP
    vendored: Handling = Handling.PORT
    vendored_folders: tuple[str, ...] = VENDORED
    ignore_names: tuple[str, ...] = ()
    """Names that look like CUDA's and are the project's own."""
    include_dirs: tuple[str, ...] = ()
    """Where clang looks for headers, relative to the root; folders that the project's includes show are added."""
    defines: tuple[str, ...] = ()
    """Macros (`NAME` or `NAME=value`) that clang parses the project with."""
    dialect: tuple[tuple[str, str], ...] = ()
    """Globs of files and whose code they are, `hip` or `cuda`; the last one that fits decides."""
    fail_on: str = "manual"
    """What a new finding has to be for `porter check` to fail."""
    baseline: str | None = None
    """File of accepted gaps, relative to the settings file."""
    timeout: float | None = None
    """Seconds that `porter check` may take."""
    program: tuple[tuple[tuple[str, Any], ...], ...] = ()
    """The tables `[[program]]`, for `porter run --compare`, which reads them."""
    origin: str | None = None
    """The settings file."""


def load_choices(source: Path, config: Path | None = None) -> Choices:
    """Reads the settings file given, or the one beside the source or in the nearest folder above it."""
    if config is not None:
        return _from_file(config)
    found = _nearest(source if source.is_dir() else source.parent)
    return _from_file(found) if found is not None else Choices()


def with_overrides(choices: Choices, **given: Any) -> Choices:
    """The choices with every option that was given on the command line (`None`: not given)."""
    changed = {name: value for name, value in given.items() if value not in (None, ())}
    engine = {name: changed.pop(name) for name in ("rocm", "warp", "style", "torch") if name in changed}
    return replace(choices, engine=replace(choices.engine, **engine), **changed)


def _nearest(folder: Path) -> Path | None:
    """The closest settings file at or above a folder, no higher than its git repository."""
    folder = folder.absolute()
    for place in (folder, *folder.parents):
        own = place / FILE_NAME
        shared = place / "pyproject.toml"
        in_shared = shared.is_file() and b"[tool.porter" in _content(shared)
        if own.is_file() and in_shared:
            raise Unusable(f"settings stand in two files: {own} and [tool.porter] in {shared}; keep one")
        if own.is_file():
            return own
        if in_shared:
            return shared
        if (place / ".git").exists():
            break
    return None


def _from_file(path: Path) -> Choices:
    document = read_toml(path)
    if path.name == "pyproject.toml":
        document = _table(path, _table(path, document, "tool"), "porter")
    try:
        return _choices(document, str(path))
    except (TypeError, ValueError) as error:
        raise Unusable(f"{path}: {error}") from None


def _content(path: Path) -> bytes:
    try:
        return read_regular(path, LARGEST_DOCUMENT)
    except OSError as error:
        raise Unusable(f"{path}: {error.strerror}") from None


def _table(path: Path, document: Mapping[str, Any], key: str) -> dict[str, Any]:
    table = document.get(key, {})
    if not isinstance(table, dict):
        raise Unusable(f"{path}: {key} must be a table")
    return table


def _choices(document: Mapping[str, Any], origin: str) -> Choices:
    unknown = sorted(document.keys() - _KEYS.keys())
    if unknown:
        close = difflib.get_close_matches(unknown[0], _KEYS, 1)
        meant = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(sorted(_KEYS))}"
        raise ValueError(f"unknown setting {unknown[0]!r}; {meant}")
    values: dict[str, Any] = {key: _KEYS[key](key, value) for key, value in document.items()}
    engine = Settings(
        rocm=values.pop("rocm", None),
        warp=values.pop("warp", "preserve"),
        style=values.pop("style", "renamed"),
        torch=values.pop("torch", "leave"),
        custom_names=values.pop("names", ()),
        native_kernels=values.pop("native_kernels", ()),
        preserve_kernels=values.pop("preserve_kernels", ()),
        disabled=frozenset(values.pop("disable", ())),
    )
    return Choices(engine=engine, origin=origin, **values)


def _text(key: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{key} must be a string")
    return value


def rocm_version(key: str, value: Any) -> str:
    """A ROCm version such as `6.3` or `7.1.0`."""
    text = _text(key, value)
    if not all(part.isdigit() for part in text.split(".")):
        raise ValueError(f"{key} must be a version such as 6.3, not {text!r}")
    return text


def warp_mode(key: str, value: Any) -> str:
    """`preserve` or `native`."""
    if value not in WARP_MODES:
        raise ValueError(f"{key} must be one of {', '.join(WARP_MODES)}")
    return str(value)


def _fail_level(key: str, value: Any) -> str:
    if value not in FAIL_LEVELS:
        raise ValueError(f"{key} must be one of {', '.join(FAIL_LEVELS)}")
    return str(value)


def _seconds(key: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
        raise TypeError(f"{key} must be a number of seconds")
    return float(value)


def style_name(key: str, value: Any) -> str:
    """`renamed` or `dual`."""
    return _one_of(key, value, STYLES)


def torch_mode(key: str, value: Any) -> str:
    """`leave` or `standalone`."""
    return _one_of(key, value, TORCH_MODES)


def _one_of(key: str, value: Any, known: tuple[str, ...]) -> str:
    if value not in known:
        raise ValueError(f"{key} must be one of {', '.join(known)}")
    return str(value)


def _texts(key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise TypeError(f"{key} must be a list of strings")
    return tuple(value)


def _handling(key: str, value: Any) -> Handling:
    try:
        return Handling(value)
    except ValueError:
        raise ValueError(f"{key} must be one of {', '.join(Handling)}") from None


def _names(key: str, value: Any) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict) or not all(isinstance(new, str) for new in value.values()):
        raise TypeError(f"{key} must be a table of names: OLD = 'NEW'")
    return tuple(sorted(value.items()))


def _dialects(key: str, value: Any) -> tuple[tuple[str, str], ...]:
    """`"hip"` for the whole tree, or a table of globs."""
    if isinstance(value, str):
        return (("**", _one_of(key, value, DIALECTS)),)
    if not isinstance(value, dict):
        raise TypeError(f"{key} must be one of {', '.join(DIALECTS)}, or a table of globs: 'src/rocm/**' = 'hip'")
    return tuple((glob, _one_of(f"{key} of {glob!r}", name, DIALECTS)) for glob, name in value.items())


def _tables(key: str, value: Any) -> tuple[tuple[tuple[str, Any], ...], ...]:
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise TypeError(f"{key} must be a list of tables: [[{key}]]")
    return tuple(tuple((name, _frozen(item)) for name, item in sorted(table.items())) for table in value)


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


_KEYS: dict[str, Callable[[str, Any], Any]] = {
    "rocm": rocm_version,
    "warp": warp_mode,
    "style": style_name,
    "torch": torch_mode,
    "include": _texts,
    "exclude": _texts,
    "omit": _texts,
    "gitignored": _handling,
    "vendored": _handling,
    "vendored_folders": _texts,
    "names": _names,
    "ignore_names": _texts,
    "include_dirs": _texts,
    "defines": _texts,
    "dialect": _dialects,
    "native_kernels": _texts,
    "preserve_kernels": _texts,
    "disable": _texts,
    "fail_on": _fail_level,
    "baseline": _text,
    "timeout": _seconds,
    "program": _tables,
}


def known_settings() -> tuple[str, ...]:
    """The keys that a settings file can have."""
    return tuple(_KEYS)
