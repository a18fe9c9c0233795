"""Inline assembly that is not PTX, and what to say about PTX that has no translation."""

from __future__ import annotations

import re

from porter.cpp.asm import Assembly
from porter.engine.unit import Unit
from porter.warp.ptx.template import opcodes

_AMD = re.compile(r"(?:[sv]_|ds_|global_|buffer_|flat_|scratch_)\w+.*")
_PTX = re.compile(
    r"(?:[a-z][a-z0-9]*(?:\.[a-zA-Z0-9_:]+)+|exit|ret|trap|brkpt|bra|call|pmevent|"
    r"\.(?:reg|pragma|local|shared|param|branchtargets|callprototype|calltargets).*)"
)
_RISC_V = re.compile(
    r"f(?:mv|cvt|add|sub|mul|div|sqrt|sgnj[nx]?|min|max|eq|le|lt|class|n?madd|n?msub)\..*|amo\w+\.[wd].*|(?:lr|sc)\.[wd].*"
    r"|v\w+\.(?:[vm]|[vw][vxif]m?|vs|x\.s|s\.x|f\.s|s\.f)"
)
"""Instructions of that processor have dots as PTX's have."""
_PART_OF_PTX = re.compile(
    r'"(?:[^"\n]*[\s;{}])?(?:ldu?|st|mov|cvta?|setp?|selp|addc?|subc?|mul|madc?|fma|shfl|vote|bar|atom|red|and|or|xor|not|shl|'
    r'shr|shf|bfe|bfi|bfind|prmt|popc|lop3|dp[24]a|tex|prefetchu?|membar|fence|mma|cp|isspacep)\.(?![^"\n]*:)'
)
"""A string that begins an instruction of PTX, where macros write the rest."""
_OF_HOSTS = re.compile(r"[wmxvgQtaSDyY]")
"""Constraints of processors' assembly, such as NEON's `vmla.f32 %q[r], ...` with `+w`: nvcc takes none of them."""
ADVICE: tuple[tuple[str, str], ...] = (
    (r"(?:mma|wmma|wgmma|tcgen05)\..*", "no translation of this form: use MFMA or hipBLASLt [ptx-mma-ldmatrix]"),
    (r"(?:ldmatrix|stmatrix|movmatrix)\..*", "no translation of this form: read LDS by hand [ptx-mma-ldmatrix]"),
    (r"cp\.async\.bulk.*|.*tensormap.*", "no tensor memory accelerator on gfx942: copy cooperatively [tma-tensor-map]"),
    (r"cp\.async\..*", "no asynchronous copy on gfx942: load, store to LDS, wait at a barrier [cp-async]"),
    (r"mbarrier\..*", "no bulk copies whose bytes it could count: copy, then let the thread arrive [mbarrier]"),
    (r"barrier\.cluster.*|getctarank.*", "no clusters on gfx942 [thread-block-cluster]"),
    (r"(?:named barrier|bar|barrier).*", "one barrier per block: use that, or a counter in LDS [named-barriers]"),
    (r"(?:red|atom)\..*(?:v[248]|f16x2|bf16x2).*", "no vector atomics: use scalar ones [ptx-vector-red-f16x2]"),
    (r"cvt\..*", "this conversion is not translated: use the functions of the type's header [ptx-cvt-packed]"),
    (r"(?:tex|tld4|suld|sust|sured|suq|txq|istypep)\..*", "textures are read in software here: use tex2D and its like"),
    (r"(?:bra|brx|call|ret|exit)(?:\..*)?|.*:", "jumps in assembly are not followed: write the branch in C++"),
    (r"(?:alloca|stacksave|stackrestore)\..*", "no stack in assembly here: declare an array"),
    (r"(?:multimem|red\.async|st\.async|cp\.reduce)\..*", "not on gfx942: use plain accesses and atomics"),
    (r"isspacep\.(?:const|param).*", "constant memory and parameters are global memory on gfx942: no address tells"),
    (r"(?:ld|cvta)\.(?:to\.)?param.*", "a parameter has no address of its own here: use it in C++"),
    (r"(?:addc|subc|madc|mad\.(?:lo|hi)\.cc|(?:add|sub)\.cc)\..*", "a carry of other statements: make one of all"),
    (r"mapa\..*|.*cluster.*", "no clusters on gfx942 [thread-block-cluster]"),
    (
        r"the operand %%?(?:n?(?:ctaid|tid)(?:\.[xyzw])?|n?smid|n?warpid|gridid|pm\d+(?:_64)?|envreg\d+|"
        r"(?:total|dynamic|aggr|reserved)_\w*smem\w*|current_graph_exec)",
        "gfx942 has no such register: pass the number to the kernel",
    ),
    (
        r"the operand %.*|the (?:operand|result) [A-Za-z_$][\w$]*",
        "another statement declares this register, or PTX has none of the name: use it where it is declared, or write "
        "it in C++",
    ),
    (r".*\.b128", "no registers of 128 bits here: use two of 64, which no atomic of gfx942 takes together"),
    (r"pmevent(?:\..*)?", "no events for a profiler on gfx942: leave it out"),
)  # fmt: skip


SLUGS: tuple[tuple[str, str], ...] = (
    (r"(?:mma|ldmatrix|stmatrix|movmatrix)\..*", "ptx-mma-ldmatrix"),
    (r"shfl.*", "ptx-shfl-predicate"),
    (r"(?:ld|st|prefetch).*(?:acquire|release|relaxed|volatile).*|(?:red|atom)\..*", "ptx-red-atom-scopes"),
    (r"ldu?\..*|st\..*|prefetchu?\..*|discard.*", "ptx-cache-loads"),
    (r"cvt.*", "ptx-cvt-packed"),
    (r"(?:bfe|bfi|prmt|lop3|shf|dp4a|mad|popc|clz|brev|bfind)\..*", "ptx-bfe-prmt-lop3"),
    (r"mov\..*", "ptx-special-registers"),
)


def slug(found: tuple[str, ...]) -> str:
    """The hazard that a translated statement belongs to."""
    for opcode in found:
        for pattern, name in SLUGS:
            if re.fullmatch(pattern, opcode):
                return name
    return "ptx-r-constraint-late-error"


def is_foreign(unit: Unit, assembly: Assembly) -> bool:
    """Whether a statement is no PTX: a compiler barrier, AMD's assembly, or the host's."""
    template = assembly.template
    if template is None:
        text = unit.source.text[assembly.span.start : assembly.span.end]
        return unit.kernel_at(assembly.span.start) is None and _PART_OF_PTX.search(text) is None
    if any(_OF_HOSTS.search(operand.constraint) for operand in (*assembly.outputs, *assembly.inputs)):
        return True
    found = opcodes(template)
    if not found or all(_AMD.fullmatch(opcode) for opcode in found):
        return True
    return not any(_PTX.fullmatch(opcode) and not _RISC_V.fullmatch(opcode) for opcode in found)


def advice(reason: str, found: tuple[str, ...]) -> str:
    """What to do about an instruction without a translation."""
    for text in (reason, *found):
        for pattern, words in ADVICE:
            if re.fullmatch(pattern, text):
                return words
    return "no translation here: write it in C++ or with a builtin [ptx-constraint-letters]"
