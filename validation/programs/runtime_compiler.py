"""What NVRTC and hiprtc are asked for (runtime/rtc.c): the installed compiler makes PTX, or a gfx942 code object."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from porter.validation.devices.core.hostcc import HostCompiler
from porter.validation.programs.compilers import folder as compiler_folder
from porter.validation.programs.sides import CUDA, Side
from porter.validation.toolchain.invoke import invoke
from porter.validation.toolchain.result import Missing

_SECONDS = 300.0
_OWN_ONLY = re.compile(
    r"-{1,2}(minimal|no-source-include|no-cache|pch|create-pch|use-pch|pch-dir|pch-messages|builtin-\S+|split-compile"
    r"|relocatable-device-code|rdc|version-ident|brief-diagnostics|time|fdevice-\S+|gpu-architecture|arch|offload-arch"
    r"|amdgpu-target|dopt)(=.*)?"
)
"""What only the library knows, or what is decided here: the target, and that nothing is linked."""
_WITH_VALUE = {"-arch", "--gpu-architecture", "-I", "-D", "-U", "--include-path", "--define-macro", "-include"}
_DEFAULT_DEVICE = {"-default-device", "--device-as-default-execution-space"}
_NAME = "porter_lowered_name_"


class NotCompiled(Exception):
    """What the compiler said."""


@dataclass(frozen=True)
class Asked:
    """One program as it was given to the library."""

    here: str
    name: str
    text: str
    options: tuple[str, ...]
    headers: tuple[tuple[str, str], ...]
    """Names, as they are included, and texts."""
    expressions: tuple[str, ...]


@dataclass(frozen=True)
class Made:
    """What came of it."""

    code: bytes
    log: str
    names: tuple[str, ...]


def asked(request: bytes) -> Asked:
    """A request out of its file: texts with zeros between."""
    texts = iter(request.decode("utf-8", "surrogateescape").split("\0"))
    here, name, text = next(texts), next(texts), next(texts)
    options, names, contents, expressions = (_row(texts) for _ in range(4))
    return Asked(here, name, text, options, tuple(zip(names, contents, strict=True)), expressions)


def _row(texts: Iterator[str]) -> tuple[str, ...]:
    return tuple(next(texts) for _ in range(int(next(texts))))


def compiled(side: Side, compiler: HostCompiler, given: Asked) -> Made:
    """PTX with a zero at its end, or a code object; raises NotCompiled."""
    tools = compiler_folder(side, compiler)
    if isinstance(tools, Missing):
        raise NotCompiled(tools.reason)
    refused = _DEFAULT_DEVICE.intersection(given.options)
    if refused:
        raise NotCompiled(f"{refused.pop()}: not known to the compiler that stands for the library here")
    with tempfile.TemporaryDirectory(prefix="porter-rtc-") as work:
        folder = Path(work)
        for name, text in given.headers:  # HIP's own ones stand for what hiprtc has within: the real ones come first
            _write(folder / ("within" if name.startswith("hip/") else "headers") / _within(name), text)
        source = folder / (PurePosixPath(_within(given.name)).name + (".cu" if side is CUDA else ".hip"))
        _write(source, _whole(side, given))
        options = [*_options(given.options), f"-I{folder / 'headers'}", f"-I{given.here}"]
        if side is not CUDA:
            options += ["-idirafter", str(folder / "within")]
        code, log = _run(side, tools, source, options, folder / "code", given.here)
        names = _lowered(side, tools, source, options, code, given)
    return Made(code.encode() + b"\0" if isinstance(code, str) else code, log, names)


def _whole(side: Side, given: Asked) -> str:
    """The text, and behind it a variable for each name expression: its value is the mangled name."""
    mark = "__attribute__((used)) " if side is not CUDA else ""
    wanted = (
        f"\n__device__ {mark}const void *const {_NAME}{number} = (const void *)({expression});"
        for number, expression in enumerate(given.expressions)
    )
    addresses = ", ".join(f"&{_NAME}{number}" for number in range(len(given.expressions)))
    kept = f"\n__device__ const void *const *const {_NAME}all[] = {{{addresses}}};"  # else they would be left out
    head = "#define __CUDACC_RTC__ 1\n" if side is CUDA and "__CUDACC_RTC__" in given.text else ""
    line = f'#line 1 "{given.name}"\n' if head else ""
    return head + line + given.text + "".join(wanted) + (kept if given.expressions and side is CUDA else "") + "\n"


def _options(given: tuple[str, ...]) -> Iterator[str]:
    takes: str | None = None
    for option in given:
        if takes is not None:
            if takes not in ("-arch", "--gpu-architecture"):
                yield from (takes, option)
            takes = None
        elif option in _WITH_VALUE:
            takes = option
        elif not _OWN_ONLY.fullmatch(option):
            yield option


def _run(side: Side, tools: Path, source: Path, options: list[str], target: Path, here: str) -> tuple[str | bytes, str]:
    name = "nvcc" if side is CUDA else "hipcc"
    how = ["-ptx"] if side is CUDA else ["--cuda-device-only", "-O3", "-include", "hip/hip_runtime.h"]
    done = invoke((str(tools / name), *how, *options, str(source), "-o", str(target)), _SECONDS, Path(here))
    said = done.said.replace(f"{source.parent}/", "")
    if not done.ok:
        raise NotCompiled(said or "the compiler said nothing")
    return (target.read_text("utf-8", "replace") if side is CUDA else target.read_bytes()), done.output


def _lowered(
    side: Side, tools: Path, source: Path, options: list[str], code: str | bytes, given: Asked
) -> tuple[str, ...]:
    """The mangled name of each expression: in PTX as it stands, on HIP's side in the compiler's own language."""
    if not given.expressions:
        return ()
    if isinstance(code, str):
        text, value = code, r"= (?:generic\()?(\w+)"
    else:
        listing, _ = _run(side, tools, source, ["-S", "-emit-llvm", *options], source.with_suffix(".ll"), given.here)
        text = listing.decode("utf-8", "replace") if isinstance(listing, bytes) else listing
        value = r"= internal [^\n@]*@(\w+)"
    found: list[str] = []
    for number, expression in enumerate(given.expressions):
        match = re.search(rf"{_NAME}{number} {value}", text)
        if match is None:
            raise NotCompiled(f"no lowered name for {expression}")
        found.append(match[1])
    return tuple(found)


def _within(name: str) -> str:
    """A path that stays in the folder."""
    return "/".join(part for part in PurePosixPath(name).parts if part not in ("/", "..")) or "default_program"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8", "surrogateescape")
