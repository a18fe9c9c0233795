"""A module and its kernels in the form that the drop-in libraries read (module.c)."""

from __future__ import annotations

import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from porter.validation.devices.core.hostcc import HostBuildFailed, HostCompiler, build
from porter.validation.devices.core.launch import CORE, SiteKind
from porter.validation.devices.gfx942 import device as gfx942
from porter.validation.devices.gfx942.bundle import CodeObject, NoCodeObject, in_bundles
from porter.validation.devices.gfx942.code import Unsupported as GfxUnsupported
from porter.validation.devices.gfx942.objects import read_object
from porter.validation.devices.gfx942.text import Program as GfxProgram
from porter.validation.devices.gfx942.text import Unreadable as GfxUnreadable
from porter.validation.devices.gfx942.translate import Translator as GfxTranslator
from porter.validation.devices.ptx import device as ptx
from porter.validation.devices.ptx.emitter import WORKSPACE
from porter.validation.devices.ptx.model import Program, Unreadable, Unsupported, layout
from porter.validation.devices.ptx.read import read
from porter.validation.devices.ptx.translate import Translator
from porter.validation.programs.fatbin import BadFatBinary, ptx_texts
from porter.validation.programs.sides import Side
from porter.validation.programs.store import WRAPPED, name_hash
from porter.validation.toolchain.entry import demangle

from porter.system.cache import publish
from porter.system.reading import read_regular

_LARGE = 100_000
"""Bytes of C above which optimising takes longer than most launches: some 0.7 s at the first level, 0.15 without."""


class Refused(Exception):
    """A module or kernel that cannot be run, and why."""


@dataclass(frozen=True)
class Code:
    """A translated kernel before it is compiled."""

    source: str
    sites: tuple[SiteKind, ...]
    segments: int
    rows: tuple[str, ...]
    """Lines of its file that depend on the device."""
    symbols: tuple[str, ...]
    flags: tuple[str, ...] = ()


@dataclass
class Loaded(ABC):
    """One module; writes into its folder of the cache."""

    side: Side
    folder: Path
    compiler: HostCompiler
    _codes: dict[tuple[str, bool], Code] = field(default_factory=dict)

    @property
    @abstractmethod
    def kernels(self) -> tuple[str, ...]:
        """Names of the kernels, mangled."""

    @abstractmethod
    def _lines(self, data: bytearray) -> Iterator[str]:
        """Lines of the file `module`; contents go to `data`."""

    @abstractmethod
    def _translate(self, name: str, poison: bool) -> Code:
        """C for one kernel."""

    def write(self) -> None:
        """The files `module` and `data`."""
        data = bytearray()
        lines = [*self._lines(data), *(f"kernel\t{name}" for name in self.kernels)]
        publish(self.folder / "data", bytes(data))
        publish(self.folder / "module", sealed([f"data\t{digest(data)}", *lines]))

    def write_kernel(self, name: str, poison: bool, level: int) -> None:
        """The file of one kernel, and its library; `level`: how the compiler optimises it, at least."""
        target = self.folder / (name_hash(name) + (".poison" if poison else ""))
        if _has_level(target, level):
            return
        if (name, poison) not in self._codes:
            if name not in self.kernels:
                raise Refused(f"no kernel {name} in the module")
            self._codes[name, poison] = self._translate(name, poison)
        code = self._codes[name, poison]
        if len(code.source) < _LARGE or poison:  # what follows unwritten values is not built again
            level = max(level, 1)
        flags = (f"-O{level}", f"-DLANES={self.side.lanes}", *code.flags)
        built = build(self.compiler, code.source, flags, (CORE, self.side.folder))
        if isinstance(built, HostBuildFailed):
            raise Refused(f"the host compiler rejected the translation: {built.output}")
        head = (
            "porter-kernel",
            f"library\t{built}\t{digest(read_regular(built))}",
            f"level\t{level}",
            f"lanes\t{self.side.lanes}",
        )
        rows = (*head, f"name\t{name}", f"shown\t{demangle(name)}", f"segments\t{code.segments}", *code.rows)
        symbols = (f"symbol\t{symbol}" for symbol in code.symbols)
        publish(target, sealed([*rows, *symbols, *_sites(code.sites)]))


def _sites(sites: Sequence[SiteKind]) -> Iterator[str]:
    """Files, then a line per instruction: segment, weight, a number per source line, file, line, memory, text."""
    files: dict[str, int] = {}
    places: dict[str, int] = {}
    lines: list[str] = []
    for kind in sites:
        site = kind.site
        number = -1 if site.file is None else files.setdefault(site.file, len(files))
        where = places.setdefault(site.where, len(places))
        line = site.assembly_line if site.file is None else site.line
        text = " ".join(site.text.split())
        lines.append(
            f"s\t{kind.segment}\t{int(kind.kind != 'scalar')}\t{where}\t{number}\t{line}\t{kind.space or '-'}\t{text}"
        )
    yield from (f"file\t{name}" for name in files)
    yield from lines


def digest(content: bytes | bytearray) -> str:
    """What a file is known by."""
    return hashlib.sha256(content).hexdigest()


def sealed(lines: Sequence[str]) -> bytes:
    """Lines, and one with their digest, without which module.c takes none of them."""
    text = "\n".join([*lines, ""]).encode("utf-8", "replace")
    return text + f"sha256\t{digest(text)}\n".encode()


def _has_level(path: Path, level: int) -> bool:
    """Whether the file of a kernel is as it was written, with code so good, and so is the library that it names."""
    try:
        text, mark, written = read_regular(path).rpartition(b"sha256\t")
        if not mark or written.strip().decode("ascii", "replace") != digest(text):
            return False
        lines = [line.split("\t") for line in text.decode("utf-8", "replace").split("\n")]
        _, library, wanted = next(line for line in lines if line[0] == "library")
        has = next(int(line[1]) for line in lines if line[0] == "level")
        return has >= level and digest(read_regular(Path(library))) == wanted
    except (OSError, ValueError, StopIteration, IndexError):
        return False


# ---- CUDA ------------------------------------------------------------------------------------------------------


@dataclass
class PtxModule(Loaded):
    """PTX, of one translation unit or of several that were linked."""

    program: Program = field(default_factory=Program)

    @property
    def kernels(self) -> tuple[str, ...]:
        """Names of the kernels, mangled."""
        return tuple(self.program.kernels)

    def _lines(self, data: bytearray) -> Iterator[str]:
        placed = [v for v in self.program.variables.values() if v.space in ("global", "const")]
        for variable in placed:
            offset = "-"
            if any(variable.content):
                offset = str(len(data))
                data += variable.content.ljust(variable.size, b"\0")
            yield f"variable\t{variable.name}\t{variable.size}\t{int(variable.space == 'const')}\t{offset}"
        order = list(self.program.functions)
        for variable in placed:
            for relocation in variable.relocations:
                target, addend = self.program.aliases.get(relocation.symbol, relocation.symbol), relocation.addend
                if target in self.program.functions:
                    addend += ptx.CODE_BASE + 16 * order.index(target)
                yield f"address\t{variable.name}\t{relocation.offset}\t{target}\t{addend & (1 << 64) - 1}"

    def _translate(self, name: str, poison: bool) -> Code:
        function = self.program.kernels[name]
        try:
            made = Translator(self.program, function, poison, followed=poison).translate()
        except Unsupported as error:
            raise Refused(str(error)) from None
        except Unreadable as error:
            raise Refused(f"PTX, {error}") from None
        known = {v.name for v in self.program.variables.values() if v.space in ("global", "const")}
        missing = [symbol for symbol in made.symbols if symbol not in known and symbol != WORKSPACE]
        if missing:
            raise Refused(f"undefined symbol {missing[0]}")
        limits = function.directives.get("maxntid") or function.directives.get("reqntid") or (ptx.MAX_THREADS,)
        threads = 1
        for size in limits:
            threads *= size
        rows = (
            f"shared\t{made.shared_bytes}",
            f"private\t{(made.private_bytes + 3) // 4 * 4}",
            f"threads\t{min(threads, ptx.MAX_THREADS)}",
            f"heap\t{int(made.uses_heap)}",
            f"arguments\t{layout(function.parameters)}",
            *(f"parameter\t{p.offset}\t{p.size}\t-" for p in function.parameters),
        )
        symbols = tuple("grid workspace" if symbol == WORKSPACE else symbol for symbol in made.symbols)
        flags = ("-DSHIFTS_WRAP",) if os.environ.get(WRAPPED) == "1" else ()
        return Code(made.source, made.sites, made.segments, rows, symbols, flags)


def _load_ptx(side: Side, folder: Path, compiler: HostCompiler) -> PtxModule:
    try:
        texts = ptx_texts((folder / "blob").read_bytes())
        programs = [read(text, bodies_later=True) for text in texts]
    except BadFatBinary as error:
        raise Refused(str(error)) from None
    except Unreadable as error:
        raise Refused(f"PTX, {error}") from None
    program = programs[0] if len(programs) == 1 else _merged(programs)
    if program.address_size != 64:
        raise Refused(f"PTX with addresses of {program.address_size} bits")
    for function in program.functions.values():
        layout(function.parameters)
    return PtxModule(side, folder, compiler, program=program)


_FILES = 1 << 20
"""Numbers of files for each unit: each counts its own from 1."""


def _merged(programs: Iterable[Program]) -> Program:
    """Units that a linker would put together: definitions win over declarations."""
    whole = Program()
    files: dict[int, str] = {}
    for unit, program in enumerate(programs):
        whole.version, whole.target = max(whole.version, program.version), max(whole.target, program.target)
        for name, function in program.functions.items():
            if name not in whole.functions or (function.has_body and not whole.functions[name].has_body):
                whole.functions[name] = function
        for name, variable in program.variables.items():
            if name not in whole.variables or (whole.variables[name].external and not variable.external):
                whole.variables[name] = variable
        whole.aliases.update(program.aliases)
        program.file_base = unit * _FILES
        files |= {program.file_base + number: name for number, name in program.files.items()}
        program.files = files  # bodies that are read later name files, too
    return replace(whole, files=files)


# ---- HIP -------------------------------------------------------------------------------------------------------


@dataclass
class GfxModule(Loaded):
    """One code object."""

    program: GfxProgram = field(default_factory=GfxProgram)

    @property
    def kernels(self) -> tuple[str, ...]:
        """Names of the kernels, mangled."""
        return tuple(name for name in self.program.kernels if name in self.program.functions)

    def _lines(self, data: bytearray) -> Iterator[str]:
        image = self.program.image
        assert image is not None
        yield f"image\t{max((at + len(content) for at, content, _, _ in image.sections), default=0)}"
        for address, content, name, writable in image.sections:
            yield f"section\t{address}\t{len(content)}\t{int(not writable)}\t{len(data)}\tsection {name}"
            data += content
        for place, target in image.pointers.items():
            yield f"pointer\t{place}\t{target}"
        for name, (address, size) in image.symbols.items():
            yield f"object\t{name}\t{address}\t{size}"

    def _translate(self, name: str, poison: bool) -> Code:
        info = self.program.kernels[name]
        try:
            made = GfxTranslator(self.program, info, poison).translate()
        except (GfxUnsupported, GfxUnreadable) as error:
            raise Refused(str(error)) from None
        assert self.program.image is not None
        missing = [
            s
            for s in made.symbols
            if s.startswith(("data ", "got ")) and s.split()[1] not in self.program.image.symbols
        ]
        if missing:
            raise Refused(f"undefined symbol {missing[0].split()[1]}")
        private = info.private_bytes + (gfx942.STACK_BYTES if info.dynamic_stack else 0)
        limit = min(int(str(info.metadata.get(".max_flat_workgroup_size", gfx942.MAX_THREADS))), gfx942.MAX_THREADS)
        rows = (
            f"shared\t{info.shared_bytes}",
            f"private\t{(private + 3) // 4 * 4}",
            f"group\t{info.private_bytes}",
            f"threads\t{limit}",
            f"heap\t{int(made.uses_heap)}",
            f"arguments\t{info.argument_bytes}",
            *(f"resource\t{name}\t{value}" for name, value in gfx942.resources(info)),
            *(f"parameter\t{p.offset}\t{p.size}\t{p.kind if p.hidden else '-'}" for p in info.parameters),
        )
        return Code(made.source, made.sites, made.segments, rows, made.symbols, gfx942.haste(self.compiler, made))


def _load_gfx(side: Side, folder: Path, compiler: HostCompiler) -> GfxModule:
    data = (folder / "blob").read_bytes()
    try:
        found = [CodeObject("", data)] if data.startswith(b"\x7fELF") else in_bundles(data)
        for target in gfx942.TARGETS:
            for item in found:
                if target in item.target or not item.target:
                    return GfxModule(side, folder, compiler, program=read_object(item.content))
    except NoCodeObject as error:
        raise Refused(str(error)) from None
    except GfxUnreadable as error:
        raise Refused(str(error)) from None
    targets = ", ".join(item.target for item in found) or "nothing"
    raise Refused(f"code for {targets}, not for {' or '.join(gfx942.TARGETS)}: compile with --offload-arch=gfx942")


def load(side: Side, folder: Path, compiler: HostCompiler) -> Loaded:
    """The module in a folder's file `blob`; raises Refused."""
    if side.name == "cuda":
        return _load_ptx(side, folder, compiler)
    return _load_gfx(side, folder, compiler)
