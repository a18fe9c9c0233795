"""Builds the drop-in libraries: the host side in C, the device's runtime, and an entry for every other name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from porter.validation.devices.core.hostcc import HostCompiler
from porter.validation.programs.sides import CORE, NAMES, RUNTIME, Side
from porter.validation.programs.store import libraries
from porter.validation.toolchain.invoke import invoke
from porter.validation.toolchain.result import Missing

from porter.system.folders import is_whole, whole

_NAME = re.compile(r"^(?:    NAME|CALL)\((\w+)", re.MULTILINE)
_PER_THREAD = re.compile(r"_pt(?:ds|sz)$|_spt$")
_SECONDS = 300.0


class BuildFailed(Exception):
    """The host compiler said no."""


def build(side: Side, compiler: HostCompiler, version: str) -> Path | Missing:
    """The folder with the library of one side and version, built when it is not there."""
    folder = libraries(side, compiler) / version
    if is_whole(folder, every_byte=True):
        return folder
    try:
        with whole(folder) as made:
            _build(side, compiler, made, version, dict(side.versions)[version])
    except BuildFailed as error:
        return Missing(f"the host compiler failed on {side.library}: {error}")
    return folder


def _build(side: Side, compiler: HostCompiler, folder: Path, version: str, names: str) -> None:
    from concurrent.futures import ThreadPoolExecutor  # longer to import than all else, and libraries are built once

    objects = folder / "objects"
    objects.mkdir()
    common = [flag for flag in compiler.flags if flag != "-shared"]
    common += ["-c", f"-DLANES={side.lanes}", f"-D{side.define}", f"-I{CORE}", f"-I{side.folder}", f"-I{RUNTIME}"]
    device = objects / "device.c"
    device.write_bytes(b"\n".join(path.read_bytes() for path in side.device_sources))
    ours = [*common, "-O1", f'-DNAMES_FILE="{NAMES / names}.h"', f"-DVERSION={names.rpartition('-')[2]}"]
    jobs = [([*common, "-O3", str(device)], objects / "device.o")]
    jobs += [([*ours, str(path)], objects / f"{path.stem}.o") for path in side.sources]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda job: compile_and_link([compiler.path, *job[0], "-o", str(job[1])]), jobs))
    _link(side, compiler, objects, folder, version, names)
    own, *others = side.files(version)
    for name, _ in ((side.library, ""), *side.also):
        (folder / name).symlink_to(own)
    for name in others:  # the dynamic linker takes one file for one library, whatever names it has
        (folder / name).symlink_to(own)
    for path in objects.iterdir():
        path.unlink()
    objects.rmdir()


def compile_and_link(command: Sequence[str]) -> None:
    """Run the host compiler; BuildFailed with what it said."""
    done = invoke(command, _SECONDS)
    if not done.ok:
        raise BuildFailed(done.said[-3000:])


def defined(objects: Iterable[Path]) -> set[str]:
    """Global names that object files define."""
    from elftools.elf.elffile import ELFFile
    from elftools.elf.sections import SymbolTableSection

    found: set[str] = set()
    for path in objects:
        with path.open("rb") as file:
            for section in ELFFile(file).iter_sections():
                if not isinstance(section, SymbolTableSection):
                    continue
                found |= {
                    symbol.name
                    for symbol in section.iter_symbols()
                    if symbol["st_info"]["bind"] == "STB_GLOBAL" and symbol["st_shndx"] != "SHN_UNDEF"
                }
    return found


def names_of(names: str) -> list[str]:
    """Every function that the vendor's library of that version has."""
    return _NAME.findall((NAMES / f"{names}.h").read_text())


def _link(side: Side, compiler: HostCompiler, objects: Path, folder: Path, version: str, names: str) -> None:
    """With an entry for what is not implemented; variants for per-thread streams are the functions themselves."""
    soname = f"{side.library}.{version}"
    files = [objects / f"{path.stem}.o" for path in side.sources]
    ours = defined(files)
    all_names = [name for row in (names, *side.also_names) for name in names_of(row)]
    same = {name: _PER_THREAD.sub("", name) for name in all_names if name not in ours}
    absent = [name for name, plain in same.items() if plain not in ours]
    lines = [f'EXPORT int {name}(void) {{ return missing_call("{name}"); }}' for name in absent]
    head = '#define EXPORT __attribute__((visibility("default")))\nint missing_call(const char *);'
    (objects / "absent.c").write_text("\n".join([head, *lines, ""]))
    script = objects / "versions.map"
    script.write_text(_script(side, soname, ours | set(all_names)))
    command = [compiler.path, "-shared", "-fPIC", "-w", f"-Wl,-soname,{soname}", f"-Wl,--version-script={script}"]
    command += [f"-Wl,--defsym={name}={plain}" for name, plain in same.items() if plain in ours]
    command += [str(objects / "absent.c"), *map(str, files), str(objects / "device.o")]
    compile_and_link([*command, "-o", str(folder / soname), "-lm", "-lpthread", "-ldl"])


def _script(side: Side, soname: str, names: set[str]) -> str:
    """The linker script that gives names the versions that programs ask for."""
    if side.name == "cuda":
        return f"{soname} {{ global: *; }};\n"
    nodes: dict[str, list[str]] = {}
    for line in (NAMES / "hip-symbols.txt").read_text().splitlines():
        node, name = line.split()
        if name in names:
            nodes.setdefault(node, []).append(name)
    order = sorted(nodes, key=lambda node: [int(part) for part in node.removeprefix("hip_").split(".")])
    text, before = "", ""
    for node in order:
        text += f"{node} {{ global: {' '.join(f'{name};' for name in nodes[node])} }}{before};\n"
        before = f" {node}"
    return text + f"porter {{ global: *; }}{before};\n"
