"""What a compiler asks for before the original of a draft runs: an option, a macro, a header, other types.

Each repair is the case with one thing more, and a note that says so.
"""

from __future__ import annotations

import re
from dataclasses import replace

from porter.validation.draft.blocks import ASSUMED_BLOCK
from porter.validation.draft.init import DraftedCase
from porter.validation.draft.missing import completed, constants_among, switched_on, unknown_names
from porter.validation.toolchain.entry import without_types

from porter.cpp.launches import base_name

_RELAXED = "calling a constexpr __host__ function"
_NEWER = re.compile(
    r'identifier "(?:concept|requires)" is undefined|name followed by "::" must be a class or namespace name'
    r'|namespace "std" has no member "(?:ranges|views|span|bit_cast|numbers|same_as|integral|floating_point|endian)"'
)
_NOT_HERE = re.compile(r"<command-line>: fatal error: ([\w./+-]+): No such file")
_CXX20 = "-std=c++20"
_MACRO = re.compile(r"[A-Z][A-Z0-9_]+")
_ALONE = re.compile(
    r"is undefined|has no storage class|not a template|incomplete type|does not name a type|has no member"
    r"|must be a class or namespace name|was not declared|is not a class or struct name"
)
_INTEGERS = re.compile(
    r"must have integral|__make_(?:un)?signed|invalid operands to binary|not an integral type"
    r"|(?:more than one|no) instance of (?:overloaded function|function template)"
)
"""What a compiler says of `float` where a kernel is for integers."""
_VECTORS = re.compile(r'must have class type but it has type "(?:const )?float"')
"""What it says where members of a vector are asked for."""
_HALVES = re.compile(r'instance of overloaded function "__h[a-z]\w+"|no suitable conversion function from "__half')
"""What it says where they are for numbers of 16 bits."""
_MOST_OPTIONS = 24
_OF_CUDA = re.compile(
    r"(?:cuda\w*|cu(?:Complex|fft|blas|rand|sparse|solver|dnn)\w*|nv(?:rtc|ml|ToolsExt)\w*|mma|cooperative_groups"
    r"|device_(?:launch_parameters|functions|types)|vector_(?:types|functions)|cub/.*)\.(?:h|cuh|hpp)"
)
"""CUDA's own headers, which HIP does not have."""
NO_HEADER = "is not installed here"


def repair(part: DraftedCase, reason: str) -> DraftedCase | None:
    """The case with what a compiler asks for: an option of its own, or a macro that nothing defines."""
    absent = _NOT_HERE.search(reason)
    made = _without(part, absent[1]) if absent else None
    if made is not None:
        return made
    if _RELAXED in reason:
        return _with_option(part, "cuda_options", "--expt-relaxed-constexpr", "the compiler asks for it")
    if _NEWER.search(reason) and (cuda := _with_option(part, "cuda_options", _CXX20, "the compiler asks for it")):
        return _with_option(cuda, "hip_options", _CXX20, "the compiler asks for it")
    if (made := _configured(part, reason)) is not None:
        return made
    if part.retyped is not None and _HALVES.search(reason):
        return part.retyped("__half")
    if part.retyped is not None and _VECTORS.search(reason):
        return part.retyped("float4")
    if part.retyped is not None and _INTEGERS.search(reason):
        return part.retyped("int")
    if part.guards and re.search(
        rf"\b{base_name(without_types(part.kernel))}[\"'] (?:is undefined|was not declared)", reason
    ):
        return _with_guards(part)
    if part.first and _ALONE.search(reason):
        return _after_what_comes_first(part)
    undefined = unknown_names(reason)
    macros = tuple(filter(_MACRO.fullmatch, undefined)) if part.text_alone is None else constants_among(part, undefined)
    if (guards := switched_on(part, undefined)) and (made := _switched_on(part, guards)) is not None:
        return made
    return _with_definers(part, undefined) or completed(part, reason) or _with_macros(part, macros)


def _with_definers(part: DraftedCase, names: tuple[str, ...]) -> DraftedCase | None:
    """With the project's headers that define names, before the source."""
    found = {header: name for name in names if part.definer is not None and (header := part.definer(name))}
    made = part
    for header, name in found.items():
        if any(f'"{header}"' in line for line in made.after):
            continue
        for key in ("cuda_options", "hip_options"):
            made = _with_pair(made, key, ("-include", header))
        made = replace(made, notes=(*made.notes, f"{name} is defined in {header}, which the source does not include"))
    return made if made != part else None


def _with_macros(part: DraftedCase, names: tuple[str, ...]) -> DraftedCase | None:
    """With a number, or a type, for the macros that nothing defines."""
    made: DraftedCase | None = None
    for name in names:
        is_type = re.search(r"_T$|TYPE|REAL|SCALAR", name)
        value = "float" if is_type else str(ASSUMED_BLOCK) if re.search(r"BLOCK|THREAD|TPB", name) else "4"
        made = _with_option(made or part, "defines", f"{name}={value}", "nothing defines it") or made
    return made


def _configured(part: DraftedCase, reason: str) -> DraftedCase | None:
    """With what a header defines that the build makes and a compiler misses; every option on where off did not do."""
    missing = next((one for one in part.configured if f"header {one.name} {NO_HEADER}" in reason), None)
    if missing is not None:
        note = f"the build makes {missing.name}: taken from {missing.template}, with every option off"
        rest = tuple(one for one in part.configured if one != missing)
        made = replace(part, configured=rest, switched_off=missing, notes=(*part.notes, note))
        return _with_defines(made, missing.defines)
    tried = part.switched_off
    if tried is None or tried.defines == tried.switched_on or NO_HEADER not in reason:
        return None
    note = f"and with every option on, as the kernel does not compile without: {tried.name}"
    lines = [*part.after]
    for number, line in enumerate(lines):
        if line.startswith("defines = ["):
            for off, on in zip(tried.defines, tried.switched_on, strict=True):
                line = line.replace(f'"{off}"', f'"{on}"')
            lines[number] = line
    return replace(part, after=tuple(lines), switched_off=None, notes=(*part.notes, note))


def _with_defines(part: DraftedCase, defines: tuple[str, ...]) -> DraftedCase:
    lines = [*part.after]
    place = next((n for n, line in enumerate(lines) if line.startswith("defines = [")), None)
    if place is None:
        listed = ", ".join(f'"{one}"' for one in (*part.defines, *defines))
        return replace(part, after=(*lines, f"defines = [{listed}]"))
    more = ", ".join(f'"{one}"' for one in defines)
    lines[place] = f"{lines[place].removesuffix(']')}, {more}]"
    return replace(part, after=tuple(lines))


def _with_guards(part: DraftedCase) -> DraftedCase | None:
    """With the features of the project that the kernel is part of."""
    made: DraftedCase | None = replace(part, guards=())
    for guard in part.guards:
        made = _with_option(made, "defines", guard, "nothing defines it, and the kernel is left out") if made else None
    return made


def _switched_on(part: DraftedCase, guards: tuple[str, ...]) -> DraftedCase | None:
    """With the features that define what a compiler misses."""
    made: DraftedCase | None = None
    for guard in guards:
        made = _with_option(made or part, "defines", guard, "what the kernel needs is left out without it") or made
    return made


def _without(part: DraftedCase, header: str) -> DraftedCase | None:
    """Without a header that the includer has before it and that is not here; None where the case has none."""
    pair = rf'(?:, )?"-include", "{re.escape(header)}"'
    after = tuple(re.sub(pair, "", line).replace("[, ", "[") if "_options = [" in line else line for line in part.after)
    return None if after == part.after else replace(part, after=after, notes=(*part.notes, f"{header} is not here"))


def _after_what_comes_first(part: DraftedCase) -> DraftedCase:
    """With the headers before it that the header's includer has there."""
    made: DraftedCase = replace(part, first=())
    for key in ("cuda_options", "hip_options"):
        for name in part.first:
            if key == "cuda_options" or not _OF_CUDA.fullmatch(name):
                made = _with_pair(made, key, ("-include", name))
    note = f"the header does not compile alone: after {', '.join(part.first)}, as in a file that includes it"
    return replace(made, notes=(*part.notes, note))


def _with_pair(part: DraftedCase, key: str, words: tuple[str, str]) -> DraftedCase:
    shown = ", ".join(f'"{word}"' for word in words)
    lines = [*part.after]
    place = next((n for n, line in enumerate(lines) if line.startswith(f"{key} = [")), None)
    if place is None:
        return replace(part, after=(*lines, f"{key} = [{shown}]"))
    lines[place] = f"{lines[place].removesuffix(']')}, {shown}]"
    return replace(part, after=tuple(lines))


def _with_option(part: DraftedCase, key: str, option: str, why: str) -> DraftedCase | None:
    """With one more text in a list of the case; None where it is there, or there are many already."""
    lines = [*part.before, *part.after]
    place = next((n for n, line in enumerate(lines) if line.startswith(f"{key} = [")), None)
    if place is None:
        listed = ", ".join(f'"{one}"' for one in (*(part.defines if key == "defines" else ()), option))
        return replace(part, after=(*part.after, f"{key} = [{listed}]"), notes=(*part.notes, f"{why}: {option}"))
    if (
        option in lines[place]
        or option.partition("=")[0] + "=" in lines[place]
        or lines[place].count("=") > _MOST_OPTIONS
    ):
        return None
    lines[place] = f'{lines[place].removesuffix("]")}, "{option}"]'
    before, after = tuple(lines[: len(part.before)]), tuple(lines[len(part.before) :])
    return replace(part, before=before, after=after, notes=(*part.notes, f"{why}: {option}"))
