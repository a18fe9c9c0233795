"""A thin typed layer over libclang: translation units, cursors at byte offsets, declarations, diagnostics."""

from __future__ import annotations

import atexit
import ctypes
import enum
import functools
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from clang import cindex

from porter.model import Span

_KEEP_GOING, _INCOMPLETE, _DETAILED, _FOR_SERIALIZATION = 0x200, 0x02, 0x01, 0x10
_ERROR = 3
_CONTINUE, _RECURSE = 1, 2


class Depth(enum.Enum):
    """Which function bodies are parsed."""

    DECLARATIONS = 0x40
    """None: a third of the time."""
    OWN_BODIES = 0x40 | 0x800 | 0x100 | 0x04
    """Those of the main file; its headers become a preamble, which pays off when they are large."""
    ALL = 0


Cursor = Any
"""A `clang.cindex.Cursor`."""


class Diagnostic(NamedTuple):
    """One error of clang; `offset` is None when it is in another file."""

    path: str
    line: int
    column: int
    offset: int
    message: str


@functools.cache
def _library() -> Any:
    """libclang with the functions that cindex does not declare."""
    library = cindex.conf.lib
    library.clang_getSkippedRanges.argtypes = [cindex.TranslationUnit, ctypes.c_void_p]
    library.clang_getSkippedRanges.restype = ctypes.POINTER(_RangeList)
    library.clang_disposeSourceRangeList.argtypes = [ctypes.POINTER(_RangeList)]
    library.clang_getFileLocation.argtypes = [cindex.SourceLocation, *[ctypes.c_void_p] * 4]
    library.clang_getFileLocation.restype = None
    library.clang_File_isEqual.argtypes = [cindex.c_object_p, cindex.c_object_p]
    library.clang_File_isEqual.restype = ctypes.c_int
    library.clang_getClangVersion.argtypes = []
    library.clang_getClangVersion.restype = cindex._CXString
    library.clang_getClangVersion.errcheck = cindex._CXString.from_result
    library.clang_getUnqualifiedType.argtypes = [cindex.Type]
    library.clang_getUnqualifiedType.restype = cindex.Type
    library.clang_getUnqualifiedType.errcheck = cindex.Type.from_result
    library.clang_isInvalidDeclaration.argtypes = [cindex.Cursor]
    library.clang_isInvalidDeclaration.restype = ctypes.c_uint
    return library


class _RangeList(ctypes.Structure):
    _fields_ = (("count", ctypes.c_uint), ("ranges", ctypes.POINTER(cindex.SourceRange)))


@functools.cache
def _index(process: int) -> Any:
    """One index per process; declarations of precompiled headers are left out of what it visits."""
    del process
    atexit.register(_index.cache_clear)  # cindex's own end of it fails where its module ended before
    return cindex.Index.create(excludeDecls=True)


def clang_version() -> str:
    """What libclang says of itself."""
    version: str = _library().clang_getClangVersion()
    return version


def build_pch(header: str, flags: Sequence[str], target: str) -> bool:
    """Compiles a header into a precompiled one; whether that worked."""
    options = _INCOMPLETE | _FOR_SERIALIZATION | _DETAILED
    try:
        unit = _index(os.getpid()).parse(header, list(flags), options=options)
        unit.save(target)
    except (cindex.TranslationUnitLoadError, cindex.TranslationUnitSaveError):
        return False
    return True


def build_beginning(header: str, text: bytes, flags: Sequence[str], target: str) -> bool:
    """Compiles a text that includes headers without the bodies of their functions, whatever errors they have.

    Whether that worked, and none of the errors is in the text itself: then a header's end is not its own.
    """
    options = _KEEP_GOING | _INCOMPLETE | _FOR_SERIALIZATION | _DETAILED | Depth.DECLARATIONS.value
    try:
        unit = TranslationUnit(header, _index(os.getpid()).parse(header, list(flags), [(header, text)], options))
        if unit.errors_here:
            return False
        unit.handle.save(target)
    except (cindex.TranslationUnitLoadError, cindex.TranslationUnitSaveError):
        return False
    return True


def accepts_pch(flags: Sequence[str], pch: str) -> bool:
    """Whether clang loads a precompiled header: same libclang, same flags, sources unchanged."""
    unit = parse("accepts-pch.cu", (*flags, "-include-pch", pch), {"accepts-pch.cu": b"dim3 d;\n"}, Depth.ALL)
    return unit is not None and not any(unit.diagnostics())


class Place(NamedTuple):
    """Where a cursor stands: the file as clang names it, and the byte offset in it."""

    path: str
    offset: int


@dataclass(frozen=True)
class TranslationUnit:
    """One file parsed by clang."""

    path: str
    handle: Any

    @property
    def has_file(self) -> bool:
        """Whether clang read the file that the questions are about."""
        return bool(cindex.conf.lib.clang_getFile(self.handle, cindex.b(self.path)))

    @functools.cached_property
    def _file(self) -> Any:
        return self.handle.get_file(self.path)

    def cursor_at(self, offset: int) -> Cursor | None:
        """The innermost cursor that covers an offset of the main file."""
        location = cindex.SourceLocation.from_offset(self.handle, self._file, offset)
        return cindex.Cursor.from_location(self.handle, location)

    def diagnostics(self) -> Iterator[Diagnostic]:
        """Errors in any file, in clang's order."""
        for diagnostic in self._diagnostics():
            if diagnostic.severity >= _ERROR:
                location = diagnostic.location
                path = location.file.name if location.file else ""
                yield Diagnostic(path, location.line, location.column, location.offset, diagnostic.spelling)

    @functools.cached_property
    def errors_here(self) -> tuple[Diagnostic, ...]:
        """Errors in the file that the questions are about: of the others not even the line is looked up."""
        return tuple(self._errors_here())

    def _errors_here(self) -> Iterator[Diagnostic]:
        library, here, path = _library(), self._file.obj, self.path
        file = cindex.c_object_p()
        for diagnostic in self._diagnostics():
            if diagnostic.severity < _ERROR:
                continue
            location = diagnostic.location
            library.clang_getInstantiationLocation(location, ctypes.byref(file), None, None, None)
            if file and library.clang_File_isEqual(file, here):
                yield Diagnostic(path, location.line, location.column, location.offset, diagnostic.spelling)

    def _diagnostics(self) -> Iterator[Any]:
        """As `handle.diagnostics`, which makes a class each time."""
        library = _library()
        for number in range(library.clang_getNumDiagnostics(self.handle)):
            yield cindex.Diagnostic(library.clang_getDiagnostic(self.handle, number))

    def skipped(self) -> tuple[Span, ...]:
        """Byte ranges of the main file that the preprocessor skipped: from the `#if` to the `#endif`."""
        library = _library()
        ranges = library.clang_getSkippedRanges(self.handle, self._file.from_param())
        try:
            found = ranges.contents
            spans = [Span(found.ranges[i].start.offset, found.ranges[i].end.offset) for i in range(found.count)]
        finally:
            library.clang_disposeSourceRangeList(ranges)
        return tuple(sorted(spans))

    def visit(self, visitor: Callable[[Cursor], bool]) -> None:
        """Calls `visitor` with every declaration outside of the stubs; it answers whether to look inside."""

        def callback(cursor: Cursor, parent: Cursor, data: Any) -> int:
            del parent, data
            cursor._tu = self.handle
            return _RECURSE if visitor(cursor) else _CONTINUE

        _visit(self.handle.cursor, callback)


def children(cursor: Cursor) -> list[Cursor]:
    """The direct children of a cursor."""
    found: list[Cursor] = []

    def callback(child: Cursor, parent: Cursor, data: Any) -> int:
        del parent, data
        child._tu = cursor._tu
        found.append(child)
        return _CONTINUE

    _visit(cursor, callback)
    return found


def arguments(call: Cursor) -> list[Cursor]:
    """Arguments of a call, default ones included; empty for anything else."""
    count = _library().clang_Cursor_getNumArguments(call)
    return [_library().clang_Cursor_getArgument(call, place) for place in range(max(count, 0))]


def candidates(overloads: Cursor) -> list[Cursor]:
    """The declarations of an overload set."""
    count = _library().clang_getNumOverloadedDecls(overloads)
    return [_library().clang_getOverloadedDecl(overloads, place) for place in range(count)]


def is_invalid(declaration: Cursor) -> bool:
    """Whether clang met an error in a declaration and may have made up its type."""
    return bool(_library().clang_isInvalidDeclaration(declaration))


def type_text(kind: Any) -> str | None:
    """A type without typedefs and outer const; as written when it depends on a template; None for no type."""
    if kind.kind == cindex.TypeKind.INVALID:
        return None
    text: str = _library().clang_getUnqualifiedType(kind.get_canonical()).spelling
    if "type-parameter-" in text:
        text = kind.spelling
    return None if not text or "<dependent type>" in text or "<overloaded" in text else text


def _visit(cursor: Cursor, callback: Callable[[Cursor, Cursor, Any], int]) -> None:
    """`clang_visitChildren`, with an exception of the callback raised here rather than printed."""
    failure: list[BaseException] = []

    def guarded(child: Cursor, parent: Cursor, data: Any) -> int:
        try:
            return callback(child, parent, data)
        except BaseException as error:
            failure.append(error)
            return 0

    library = _library()
    library.clang_visitChildren(cursor, cindex.callbacks["cursor_visit"](guarded), None)
    if failure:
        raise failure[0]


def place_of(cursor: Cursor) -> Place | None:
    """File and offset of a cursor's name; for what a macro made, where the macro is used."""
    return _place(_library().clang_getCursorLocation(cursor))


def extent_of(cursor: Cursor) -> tuple[int, int]:
    """Offsets of a cursor's first character and after its last one, in the file it was written in."""
    extent = cursor.extent
    start, end = _place(extent.start), _place(extent.end)
    return (start.offset, end.offset) if start and end else (0, 0)


def _place(location: Any) -> Place | None:
    file, offset = cindex.c_object_p(), ctypes.c_uint()
    _library().clang_getFileLocation(location, ctypes.byref(file), None, None, ctypes.byref(offset))
    if not file:
        return None
    return Place(cindex.File(file).name, offset.value)


def parse(
    main: str, flags: Sequence[str], files: dict[str, bytes], depth: Depth, path: str = ""
) -> TranslationUnit | None:
    """Parses a file; None when libclang gives nothing back (its own crash included).

    Questions are about `path`, which is the file itself or one that it includes.
    """
    options = _KEEP_GOING | _INCOMPLETE | _DETAILED | depth.value
    try:
        handle = _index(os.getpid()).parse(main, list(flags), list(files.items()), options)
    except cindex.TranslationUnitLoadError:
        return None
    unit = TranslationUnit(path or main, handle)
    return unit if unit.has_file else None
