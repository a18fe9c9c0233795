"""What the user chose: `porter.toml` or `[tool.porter]` in pyproject.toml, and the command line on top."""

from __future__ import annotations

import enum
import itertools
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from porter.errors import Unusable
from porter.model import Effort, Rewrite, Settings
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
DIALECTS = ("cuda", "hip", "nvidia")
FAIL_LEVELS = ("manual", "review", "hazard")


_NAME = re.compile(r"(?!\d)\w+(?:::(?!\d)\w+)*", re.ASCII)


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
    try:
        folder = source if source.is_dir() else source.parent
    except OSError as error:  # it lies in a folder that may not be entered
        raise Unusable(f"{source}: {error.strerror}") from None
    found = _nearest(folder)
    return _from_file(found) if found is not None else Choices()


def with_overrides(choices: Choices, **given: Any) -> Choices:
    """The choices with every option that was given on the command line (`None`: not given)."""
    changed = {name: value for name, value in given.items() if value not in (None, ())}
    engine = {name: changed.pop(name) for name in ("rocm", "warp", "style", "torch", "comments") if name in changed}
    return replace(choices, engine=replace(choices.engine, **engine), **changed)


def _nearest(folder: Path) -> Path | None:
    """The closest settings file at or above a folder, no higher than its git repository."""
    folder = folder.absolute()
    for place in (folder, *folder.parents):
        own = place / FILE_NAME
        shared = place / "pyproject.toml"
        in_shared = _is_there(shared) and b"[tool.porter" in _content(shared)
        if _is_there(own) and in_shared:
            raise Unusable(f"settings stand in two files: {own} and [tool.porter] in {shared}; keep one")
        if _is_there(own):
            return own
        if in_shared:
            return shared
        if (place / ".git").exists():
            break
    return None


def _is_there(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError as error:  # of a folder that may not be entered
        raise Unusable(f"{path.parent}: {error.strerror}") from None


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
    _known_keys(document, _KEYS)
    values: dict[str, Any] = {key: _KEYS[key](key, value) for key, value in document.items()}
    engine = Settings(
        rocm=values.pop("rocm", None),
        warp=values.pop("warp", "preserve"),
        style=values.pop("style", "renamed"),
        torch=values.pop("torch", "leave"),
        comments=values.pop("comments", False),
        custom_names=values.pop("names", ()),
        rewrites=values.pop("rewrite", ()),
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
    if not re.fullmatch(r"[0-9]{1,9}(?:\.[0-9]{1,9})*", text):
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


def _flag(key: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{key} must be true or false")
    return value


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
    _are_names(key, itertools.chain.from_iterable(value.items()))
    for old in value:
        _without_return(key, old, value)
    return tuple(sorted(value.items()))


def _name_list(key: str, value: Any) -> tuple[str, ...]:
    names = _texts(key, value)
    _are_names(key, names)
    return names


def _are_names(key: str, texts: Iterable[str]) -> None:
    for text in texts:
        if not _NAME.fullmatch(text):
            raise ValueError(f"{key}: {text!r} is no name of C++ (of ASCII's letters, digits, _ and ::)")


def _without_return(key: str, old: str, names: Mapping[str, str]) -> None:
    """ValueError where a name is what it becomes in the end."""
    seen = {old}
    new = names[old]
    while new in names and new not in seen and names[new] != new:
        seen.add(new)
        new = names[new]
    if new == old != names[old]:
        raise ValueError(f"{key}: {old!r} comes back from what it is replaced by")


def _dialects(key: str, value: Any) -> tuple[tuple[str, str], ...]:
    """`"hip"` for the whole tree, or a table of globs."""
    if isinstance(value, str):
        return (("**", _one_of(key, value, DIALECTS)),)
    if not isinstance(value, dict):
        raise TypeError(f"{key} must be one of {', '.join(DIALECTS)}, or a table of globs: 'src/rocm/**' = 'hip'")
    return tuple((glob, _one_of(f"{key} of {glob!r}", name, DIALECTS)) for glob, name in value.items())


_REWRITE_KEYS = ("find", "replace", "effort", "note", "include")


def _rewrites(key: str, value: Any) -> tuple[Rewrite, ...]:
    """The tables `[[rewrite]]`, each of which must be able to end, and all together."""
    found = tuple(_rewrite(f"{key} {number}", dict(table)) for number, table in enumerate(_tables(key, value), 1))
    _without_circle(key, found)
    return found


def _rewrite(key: str, table: dict[str, Any]) -> Rewrite:
    from porter.cpp.patterns import ends, pattern, replacement

    _known_keys(table, _REWRITE_KEYS, f"{key}: ")
    if "find" not in table:
        raise ValueError(f"{key}: find is missing")
    texts = {name: _text(f"{key}: {name}", text) for name, text in table.items()}
    into = texts.get("replace")
    effort = _one_of(f"{key}: effort", texts.get("effort", "manual" if into is None else "none"), tuple(Effort))
    include = texts.get("include", "")
    if include and not (include.startswith("<") and include.endswith(">")):
        raise ValueError(f"{key}: include must be written as '<name.h>'")
    try:
        find = pattern(texts["find"])
        if into is not None and not ends(find, replacement(into, find.holes)):
            raise ValueError(f"{texts['find']!r} fits its own replacement, and would never end")
    except ValueError as error:
        raise ValueError(f"{key}: {error}") from None
    if into is None and effort == "none":
        raise ValueError(f"{key}: without replace, effort is 'review' or 'manual'")
    return Rewrite(texts["find"], into, Effort(effort), texts.get("note", ""), include)


def _without_circle(key: str, rewrites: tuple[Rewrite, ...]) -> None:
    """ValueError where what one makes is what another finds, and so on in a circle."""
    from porter.cpp.lex import lex
    from porter.cpp.patterns import pattern

    heads = [pattern(one.find).head for one in rewrites]
    made = [frozenset(lex(one.replace or "").texts) - {""} for one in rewrites]
    follows = [{b for b in range(len(heads)) if heads[b] in made[a] and b != a} for a in range(len(heads))]
    for start in range(len(heads)):
        seen: set[int] = set()
        waiting = list(follows[start])
        while waiting:
            place = waiting.pop()
            if place == start:
                raise ValueError(f"{key}: {rewrites[start].find!r} comes back from what it is replaced by")
            if place not in seen:
                seen.add(place)
                waiting += follows[place]


def _known_keys(given: Iterable[str], known: Iterable[str], what: str = "") -> None:
    """ValueError with the nearest key for the first one that there is not."""
    known = sorted(known)
    unknown = sorted(set(given).difference(known))
    if unknown:
        import difflib  # few settings are misspelt

        close = difflib.get_close_matches(unknown[0], known, 1)
        meant = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(known)}"
        raise ValueError(f"{what}unknown setting {unknown[0]!r}; {meant}")


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
    "comments": _flag,
    "names": _names,
    "rewrite": _rewrites,
    "ignore_names": _name_list,
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
