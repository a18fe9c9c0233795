"""The text that a draft is made from: a source, its own headers in place, and the files beside it that launch it."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from porter.validation.draft.arrays import Arrays
from porter.validation.draft.branches import without_dead
from porter.validation.draft.build import Build, build_of
from porter.validation.draft.build_values import value_in_builds
from porter.validation.draft.declarations import without_comments
from porter.validation.draft.definers import definers
from porter.validation.draft.host import Host
from porter.validation.draft.includers import folder_in_project, included_first, launching, translation_unit
from porter.validation.draft.linked import linked_sources
from porter.validation.draft.types import bare, elements_of

from porter.cpp.clang.layouts import ClassLayout, layouts_of
from porter.cpp.clang.view import ParseRequest
from porter.cpp.kernels import find_kernels
from porter.cpp.lex import lex
from porter.errors import Unusable
from porter.model import Kernel
from porter.source import SourceFile
from porter.system.reading import is_regular, read_regular, regular_file

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">][^\n]*$', re.MULTILINE)
_SOURCES = frozenset({".cu", ".cpp", ".cc", ".cxx", ".c", ".h", ".hpp", ".cuh"})
_CALLED = re.compile(r"\b([A-Za-z_]\w*)\s*(?:<[^<>;]*>\s*)?\(")
_WORD = re.compile(r"[A-Za-z_]\w*")
_CONDITION = re.compile(r"^[ \t]*#[ \t]*(?:if|elif|ifdef)\b([^\n]*)", re.MULTILINE)
_SWITCH = re.compile(r"(?<!\w)(?:(?:\w+_)?(?:HAVE|USE|WITH|ENABLE|HAS)_CUDA|\w*_CUDA_ENABLED?)(?!\w)")
_MADE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
_ANONYMOUS = re.compile(r"\(anonymous namespace\)::")
_A_TYPE = re.compile(r"(?:::)?[A-Za-z_]\w*(?:::\w+|<[^;{}()]*>|\s+\w+)*")
_MOST_SCOPES, _MOST_UNKNOWN = 8, 8
_MAIN = re.compile(r"\bmain\s*\(")
_MOST_FILES, _HIGHEST = 400, 6
_MOST = 4 << 20
"""Characters: beyond that, files beside the source are left out."""
_LARGEST = 1 << 20
"""Of a header: larger ones are libraries in one file, which no kernel of the project is read from."""


@dataclass(frozen=True)
class SourceText:
    """What is known of a source: kernels with their launches, and the host code around."""

    path: Path
    host: Host
    kernels: tuple[Kernel, ...]
    build: Build = field(default_factory=Build)
    first: tuple[str, ...] = ()
    """Of a header: what its includer includes before it."""
    launched_in: tuple[str, ...] = ()
    """Files elsewhere in the project that have its launches."""
    main: Path | None = None
    """The source that is compiled, where that is another one that includes it."""
    linked: Mapping[str, Path] = field(default_factory=dict)
    """Functions that the source calls and others of its project define."""

    def body(self, kernel: Kernel) -> str:
        """The text of a kernel."""
        return self.host.text[kernel.span.start : kernel.span.end]

    def defines(self, kernel: Kernel) -> bool:
        """Whether its body is here: macros that make kernels count."""
        body = self.body(kernel)
        return "{" in body or not body.rstrip().endswith((")", ";"))

    @cached_property
    def arrays(self) -> Arrays:
        """What the host allocates."""
        return Arrays(self.host)

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """The headers that it or one of the project's includes, and that neither the source nor its project has."""
        folders = self.build.include_dirs
        found: dict[str, None] = {}
        before = [Path(name) for name in self.first if is_regular(Path(name)) and Path(name).is_absolute()]
        waiting, seen = [*before, self.path], {*before, self.path}
        while waiting and len(seen) < _MOST_FILES:
            file = waiting.pop()
            for match in _INCLUDE.finditer(read_regular(file).decode("latin-1")):
                places = (regular_file(folder, match[1]) for folder in (file.parent, *folders))
                other = next(filter(None, places), None)
                if other is None:
                    found[match[1]] = None
                elif other not in seen:
                    seen.add(other)
                    waiting.append(other)
        return tuple(found)

    def told(self, macro: str) -> str | None:
        """What the project's build files and scripts give a macro."""
        found = value_in_builds(self.path, macro)
        return found.value if found else None

    def reached(self, kernel: Kernel) -> str:
        """The text of a kernel and of the functions that it calls, directly or not."""
        bodies = {function.name: self.host.text[function.start : function.end] for function in self.host.functions}
        found = {kernel.name: self.body(kernel)}
        waiting = [found[kernel.name]]
        while waiting:
            for name in _CALLED.findall(waiting.pop()):
                if name in bodies and name not in found:
                    found[name] = bodies[name]
                    waiting.append(bodies[name])
        return "\n".join(found.values())


def read_unit(path: Path, *, everywhere: bool = False) -> SourceText:
    """The kernels of a file and of its own headers that it launches; `everywhere`: or that its project does."""
    try:
        content = read_regular(path).decode("latin-1")
    except OSError as error:
        raise Unusable(f"{path}: {error.strerror}") from None
    seen, elsewhere = {path.resolve()}, tuple[Path, ...]()
    build = _with_folders_above(path, build_of(path.parent))
    main = translation_unit(path) if everywhere else None
    first = included_first(path)
    own = (*(Path(name) for name in first if Path(name).is_absolute()), *filter(None, (main,)))
    build = _reaching(path, build, own)
    text = _flat(path, content, seen, build.include_dirs)
    named = {kernel.name for kernel in kernels_of(path, without_comments(content))}
    linked = linked_sources(path, text) if everywhere else {}
    build = _reaching(path, build, tuple(linked.values()))
    text, length = _without_strings(text), len(text)
    found = kernels_of(path, text)
    if not _MAIN.search(text) or any(not kernel.launches for kernel in found if kernel.name in named):
        text += _without_strings(_after(first, seen, build.include_dirs))
        text += _without_strings(_beside(path, seen, length, build.include_dirs))
        found = tuple(kernel for kernel in kernels_of(path, text) if kernel.span.start < length)
        bare_ones = [kernel.name for kernel in found if kernel.name in named and not kernel.launches]
        wanted = everywhere and bare_ones and not any(kernel.launches for kernel in found)
        elsewhere = launching(path, bare_ones) if wanted else ()
        if elsewhere:
            text += _without_strings(_after(tuple(map(str, elsewhere)), seen, build.include_dirs))
            found = tuple(kernel for kernel in kernels_of(path, text) if kernel.span.start < length)
    launched = tuple(other.name for other in elsewhere)
    kernels = tuple(kernel for kernel in found if kernel.name in named or kernel.launches)
    switches = _switches(text, build.defines)
    build = replace(build, defines=(*build.defines, *switches))
    defining = tuple(one for one in _definers(path, kernels, text) if one.resolve() not in seen)
    if defining:
        build, first = _reaching(path, build, defining), (*first, *map(str, defining))
        text += _without_strings(_after(tuple(map(str, defining)), seen, build.include_dirs))
    nearest = tuple(sorted(kernels, key=lambda kernel: kernel.name not in named))
    text = without_dead(text, build.defines)
    host = Host(text + _defined(build.defines), build.arguments, ask=_asker(path, build, first, nearest, seen))
    return SourceText(path, host, kernels, build, () if main else first, launched, main, linked)


def _switches(text: str, defined: tuple[str, ...]) -> tuple[str, ...]:
    """What a build for CUDA switches on, and nothing in sight defines: `HAVE_CUDA`."""
    asked = {name for line in _CONDITION.findall(text) for name in _SWITCH.findall(line)}
    known = {*_MADE.findall(text), *(one.partition("=")[0] for one in defined)}
    return tuple(f"{name}=1" for name in sorted(asked - known))


def _definers(path: Path, kernels: tuple[Kernel, ...], text: str) -> tuple[Path, ...]:
    """The project's headers that define types of parameters which nothing that the file includes does."""
    known = Host(text)
    found: dict[str, None] = {}
    for kernel in kernels:
        given = {word for parameter in kernel.template_parameters for word in re.findall(r"\w+", parameter)}
        for parameter in kernel.parameters:
            word = bare(re.sub(r"<.*>", "", parameter.type)).rpartition("::")[2]
            if word not in given and _WORD.fullmatch(word) and elements_of(known, word) is None:
                found[word] = None
    return definers(path, [word for word in found if not known.has_class(word) and word not in known.macros])


def _asker(
    path: Path, build: Build, first: tuple[str, ...], kernels: tuple[Kernel, ...], seen: set[Path]
) -> Callable[[str], ClassLayout | None]:
    """What clang makes of types where the kernels stand."""
    scopes = tuple(dict.fromkeys(filter(None, (_ANONYMOUS.sub("", k.qualified).rpartition("::")[0] for k in kernels))))
    own = build.root or path.absolute().parent
    folders, root = (
        tuple(map(str, build.include_dirs)),
        os.path.commonpath([own.resolve(), *(one.parent for one in seen)]),
    )
    before = tuple(name for name in first if Path(name).is_absolute())

    known: dict[str, ClassLayout | None] = {}

    def ask(kind: str) -> ClassLayout | None:
        if kind not in known and _A_TYPE.fullmatch(kind) and list(known.values()).count(None) < _MOST_UNKNOWN:
            request = ParseRequest(str(path), read_regular(path), folders, build.defines, root)
            known[kind] = None
            for ahead in dict.fromkeys((before, ())):
                if found := layouts_of(request, kind, scopes[:_MOST_SCOPES], ahead):
                    known.update(found)
                    break
        return known.get(kind)

    return ask


def _with_folders_above(path: Path, build: Build) -> Build:
    """With the folders above the source that its includes, and those of what they lead to, are found from."""
    folders = list(build.include_dirs)
    above: list[Path] = []
    waiting, seen = [path.absolute()], {path.absolute()}
    while waiting and len(seen) < _MOST_FILES:
        file = waiting.pop()
        text = read_regular(file).decode("latin-1")
        for match in _INCLUDE.finditer(text):
            name = match[1]
            places = (regular_file(folder, name) for folder in (file.parent, *folders))
            other = next(filter(None, places), None)
            if other is not None and "<" in match[0] and _is_beside(other, name, file.parent, folders):
                folders.append(file.parent)
                above.append(file.parent)
            folder = _folder_above(path.absolute(), name) if other is None else None
            folder = folder or (folder_in_project(path.absolute(), name) if other is None else None)
            if folder is not None:
                folders.append(folder)
                above.append(folder)
                other = regular_file(folder, name)
            if other is not None and other not in seen:
                seen.add(other)
                waiting.append(other)
    if not above:
        return build
    root = Path(os.path.commonpath([path.absolute().parent, *above]))
    return replace(build, include_dirs=tuple(folders), root=root)


def _reaching(path: Path, build: Build, files: tuple[Path, ...]) -> Build:
    """With a folder below which these files lie, and the source."""
    if not files:
        return build
    root = Path(os.path.commonpath([build.root or path.absolute().parent.resolve(), *(one.parent for one in files)]))
    return replace(build, include_dirs=tuple(dict.fromkeys((*build.include_dirs, root))), root=root)


def _after(first: tuple[str, ...], seen: set[Path], folders: tuple[Path, ...]) -> str:
    """The text of what an includer includes before a header."""
    made = ""
    for name in first:
        other = Path(name)
        if other.is_absolute() and other not in seen and is_regular(other):
            seen.add(other)
            made += "\n" + _flat(other, read_regular(other).decode("latin-1"), seen, folders)
        if len(made) > _MOST:
            break
    return made


def _is_beside(other: Path, name: str, folder: Path, folders: list[Path]) -> bool:
    """Whether `<name>` is only found in the folder of the file that includes it, where a compiler does not look."""
    found = any(regular_file(one, name) is not None for one in folders)
    return not found and other == regular_file(folder, name) and "." in name


def _folder_above(path: Path, name: str) -> Path | None:
    """The nearest folder above a source, or its `include`, that an include is found from; not beyond the project."""
    for folder in path.parents[:_HIGHEST]:
        for place in (folder, folder / "include"):
            if folder != path.parent and regular_file(place, name) is not None:
                return place
        if (folder / ".git").exists() or folder.parent == folder.parent.parent:
            break
    return None


def _defined(defines: tuple[str, ...]) -> str:
    """What the command line defines, at the end: places in the text stay."""
    pairs = (define.partition("=") for define in defines)
    return "".join(f"\n#define {name} {value or 1}" for name, _, value in pairs) + "\n"


def kernels_of(path: Path, text: str) -> tuple[Kernel, ...]:
    """The kernels of a text that stands for a file."""
    return find_kernels(lex(text), str(path), SourceFile(str(path), text.encode("latin-1")))


def _flat(path: Path, text: str, seen: set[Path], folders: tuple[Path, ...]) -> str:
    """The text with the project's own headers in the place of their `#include`, comments blanked."""

    def inner(match: re.Match[str]) -> str:
        places = (regular_file(folder, match[1]) for folder in (path.parent, *folders))
        other = next(filter(None, places), None)
        if other is None or other in seen or other.stat().st_size > _LARGEST:
            return match[0]
        seen.add(other)
        return _flat(other, read_regular(other).decode("latin-1"), seen, folders)

    return _INCLUDE.sub(inner, without_comments(text))


def _without_strings(text: str) -> str:
    """The same text with the insides of string literals blanked: formats look like assignments."""
    return re.sub(r'(?<!\')"((?:\\.|[^"\\\n])*)"', lambda m: f'"{" " * len(m[1])}"', text)


def _beside(path: Path, seen: set[Path], length: int, folders: tuple[Path, ...]) -> str:
    """The other sources of the folder: they may hold the launches and the callers."""
    made = ""
    for other in sorted(path.parent.iterdir()):
        if other.suffix in _SOURCES and is_regular(other) and other.resolve() not in seen:
            size = other.stat().st_size
            if size > _LARGEST or length + len(made) + size > _MOST:
                continue
            seen.add(other.resolve())
            with contextlib.suppress(OSError):  # not to be read
                made += "\n" + _flat(other, read_regular(other).decode("latin-1"), seen, folders)
    return made
