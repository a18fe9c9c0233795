"""Instruction forms of gfx942 and what the virtual device does with them: `python -m benchmarks.devices.forms`.

Random encodings of every opcode go through LLVM's disassembler, and back through its assembler; what survives is a
form: mnemonic, encoding (SDWA, DPP) and the modifiers it carries. Each is translated alone. Prints how many are run,
and what is refused, by reason; `--refused` lists those.
"""

from __future__ import annotations

import argparse
import collections
import random
import re
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from porter.validation.devices.gfx942.code import Unsupported
from porter.validation.devices.gfx942.text import Instruction, Unreadable, parse_instruction, read
from porter.validation.devices.gfx942.translate import Translator
from porter.validation.toolchain.programs import find
from porter.validation.toolchain.result import Missing

SDWA, DPP, NOP = 0xF9, 0xFA, 0xBF800000
KERNEL = """
  .amdgcn_target "amdgcn-amd-amdhsa--gfx942"
  .text
  .globl k
  .type k,@function
k:
  {line}
  s_nop 0
{label}:
  s_endpgm
.Lend:
  .size k, .Lend-k
  .amdhsa_kernel k
    .amdhsa_next_free_vgpr 512
    .amdhsa_next_free_sgpr 100
    .amdhsa_accum_offset 256
  .end_amdhsa_kernel
  .amdgpu_metadata
---
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .kernarg_segment_size: 32
    .group_segment_fixed_size: 1024
    .private_segment_fixed_size: 0
    .vgpr_count: 512
    .agpr_count: 256
    .wavefront_size: 64
    .args: []
amdhsa.version: [1, 2]
  .end_amdgpu_metadata
"""


@dataclass(frozen=True, order=True)
class Form:
    """A way to write an instruction."""

    mnemonic: str
    encoding: str
    modifiers: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join((self.mnemonic + (f" ({self.encoding})" if self.encoding else ""), *self.modifiers))


class Encodings:
    """Random instruction words, every opcode of every family; registers are those that compilers use."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def bits(self, count: int) -> int:
        """A field of any value, rarely with many bits set."""
        value = self.random.getrandbits(count)
        return value & self.random.getrandbits(count) if self.random.random() < 0.7 else value

    def vgpr(self) -> int:
        return 4 * self.random.randrange(20)

    def sgpr(self) -> int:
        return self.random.choice((4 * self.random.randrange(2, 20), 106))

    def scalar(self) -> int:
        """A scalar source: registers, VCC, M0, EXEC, small integers, constants."""
        return self.random.choice((self.sgpr(), self.sgpr(), 106, 124, 126, 128 + self.random.randrange(65), 242, 248))

    def source(self) -> int:
        return self.random.choice((256 + self.vgpr(), 256 + self.vgpr(), self.scalar()))

    def extra(self, source: int) -> int:
        """The second word of VOP1, VOP2 and VOPC: SDWA or DPP; else the next instruction."""
        if source == SDWA:
            sels = [self.random.choice((0, 1, 2, 3, 4, 5, 6, 6, 6)) for _ in range(3)]
            return self.vgpr() | sels[0] << 8 | self.random.randrange(3) << 11 | self.bits(3) << 13 | sels[1] << 16 | (
                self.bits(3) << 19 | sels[2] << 24 | self.bits(3) << 27)  # fmt: skip
        if source == DPP:
            control = self.random.choice(
                (0x1B, 0x101, 0x111, 0x121, 0x130, 0x134, 0x138, 0x13C, 0x140, 0x141, 0x142, 0x143, 0x151)
            )
            return self.vgpr() | control << 8 | self.bits(1) << 19 | self.bits(4) << 20 | 0xFF << 24
        return NOP

    def families(self) -> Iterator[tuple[int, ...]]:
        """One encoding of every opcode."""
        r = self.random
        for op in range(128):
            yield 0x80000000 | op << 23 | self.sgpr() << 16 | self.scalar() << 8 | self.scalar(), NOP
        for op in range(32):
            yield 0xB0000000 | op << 23 | self.sgpr() << 16 | r.getrandbits(16), NOP
        for op in range(256):
            yield 0xBE800000 | self.sgpr() << 16 | op << 8 | self.scalar(), NOP
        for op in range(128):
            yield 0xBF000000 | op << 16 | self.scalar() << 8 | self.scalar(), NOP
            yield 0xBF800000 | op << 16 | self.bits(8), NOP
        for op in range(256):
            low = 0xC0000000 | op << 18 | self.bits(3) << 14 | self.bits(1) << 17 | self.sgpr() << 6 | self.sgpr() >> 1
            yield low, r.choice((self.bits(20), self.sgpr()))
        for kind in (None, SDWA, DPP):
            for op in range(64):
                source = self.source() if kind is None else kind
                yield op << 25 | self.vgpr() << 17 | self.vgpr() << 9 | source, self.extra(source)
            for op in range(256):
                source = self.source() if kind is None else kind
                yield 0x7E000000 | self.vgpr() << 17 | op << 9 | source, self.extra(source)
                yield 0x7C000000 | op << 17 | self.vgpr() << 9 | source, self.extra(source)
        for op in range(1024):
            sources = self.source() | self.source() << 9 | self.source() << 18
            yield 0xD0000000 | op << 16 | self.bits(8) << 8 | self.vgpr(), sources | self.bits(5) << 27
            mask = self.sgpr() << 8 | self.bits(1) << 15
            yield 0xD0000000 | op << 16 | mask | r.choice((self.vgpr(), self.sgpr())), sources | self.bits(5) << 27
        for op in range(128):
            sources = self.source() | self.source() << 9 | self.source() << 18
            yield 0xD3800000 | op << 16 | self.bits(8) << 8 | self.vgpr(), sources | self.bits(5) << 27
            yield 0xD3800000 | op << 16 | r.choice((0x4000, 0)) | self.vgpr(), sources | 0x18000000
        for op in range(256):
            offsets = r.getrandbits(16) & 0xF8F8
            low, high = self.vgpr() | self.vgpr() << 8 | self.vgpr() << 16 | self.vgpr() << 24, self.bits(1) << 16
            yield 0xD8000000 | op << 17 | high | self.bits(1) << 25 | offsets, low
            base = r.choice((0x7F, self.sgpr()))
            flags = r.randrange(3) << 14 | self.bits(2) << 16 | self.bits(1) << 13 | self.bits(1) << 25 | 8
            high = base << 16 | self.bits(1) << 23 | self.vgpr() << 24
            yield 0xDC000000 | op << 18 | flags, self.vgpr() | self.vgpr() << 8 | high
            high = (self.sgpr() >> 2) << 16 | self.bits(1) << 23 | self.scalar() << 24
            yield (
                0xE0000000 | op << 18 | self.bits(5) << 12 | self.bits(1) << 17 | 16,
                self.vgpr() | self.vgpr() << 8 | high,
            )
        for op in range(16):
            high = (self.sgpr() >> 2) << 16 | self.scalar() << 24
            form = r.randrange(1, 16) << 19 | r.randrange(8) << 23
            yield 0xE8000000 | op << 15 | self.bits(3) << 12 | form | 16, self.vgpr() | self.vgpr() << 8 | high


def llvm_mc(*arguments: str, text: str) -> str:
    """Output of llvm-mc for gfx942; what it refuses is on stderr and left out."""
    tool = find("llvm-mc")
    if isinstance(tool, Missing):
        raise SystemExit(tool.reason)
    command = [tool.path, "-triple=amdgcn-amd-amdhsa", "-mcpu=gfx942", *arguments]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False).stdout


def disassembled(encodings: Iterable[tuple[int, ...]]) -> list[str]:
    """Instruction lines, each once."""
    rows = []
    for words in encodings:
        data = b"".join(word.to_bytes(4, "little") for word in words)
        rows.append("[" + ",".join(f"{byte:#04x}" for byte in data) + "]")
    lines = llvm_mc("--disassemble", "-output-asm-variant=0", text="\n".join(rows)).splitlines()
    found = [re.sub(r"\s+", " ", line.split("//")[0].split(";")[0]).strip() for line in lines]
    return list(dict.fromkeys(line for line in found if line and not line.startswith(".")))


def assembled(lines: list[str]) -> list[str]:
    """Those that the assembler takes: as it prints them."""
    out = llvm_mc("-filetype=asm", text="\n".join(lines)).splitlines()
    found = [re.sub(r"\s+", " ", line).strip() for line in out]
    return [line for line in dict.fromkeys(found) if line and not line.startswith(".")]


def form_of(instruction: Instruction) -> Form:
    """Which form it is."""
    names = {name for name, _ in instruction.modifiers}
    if any("|" in o or o.startswith(("abs(", "-|")) for o in instruction.operands):
        names.add("abs")
    if any(re.match(r"-[|vs\[]", o) for o in instruction.operands):
        names.add("neg")
    if any(o.startswith("sext(") for o in instruction.operands):
        names.add("sext")
    return Form(
        instruction.mnemonic, instruction.form if instruction.form in ("sdwa", "dpp") else "", tuple(sorted(names))
    )


def refusal(line: str) -> str | None:
    """Why the device does not run the instruction; None when it does."""
    label = re.search(r"\b(L\w+|BB\w+)$", line) if line.startswith(("s_branch", "s_cbranch", "s_call")) else None
    line = re.sub(r"^(s_c?branch\w*) \S+$", r"\1 .Lthere", line)
    text = KERNEL.format(line=line, label=label[1] if label else ".Lthere")
    try:
        program = read(text)
        Translator(program, program.kernels["k"], poison=True).translate()
    except Unsupported as error:
        return str(error).partition(":")[0]
    except Unreadable as error:
        return str(error).partition(" in: ")[0]
    return None


def survey(rounds: int, seed: int) -> dict[Form, str | None]:
    """By form: why it is refused, or None when one instruction of that form runs."""
    encodings = Encodings(seed)
    found: dict[Form, str | None] = {}
    tried: collections.Counter[Form] = collections.Counter()
    for _ in range(rounds):
        for line in assembled(disassembled(encodings.families())):
            try:
                form = form_of(parse_instruction(line, 1))
            except Unreadable as error:
                form = Form(line.split()[0], "unreadable", (str(error).partition(" in: ")[0],))
            if found.get(form, "") is None or tried[form] >= 8:
                continue
            tried[form] += 1
            why = refusal(line)
            found[form] = why if form not in found or why is None else found[form]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--refused", action="store_true", help="list every refused form")
    options = parser.parse_args()
    found = survey(options.rounds, options.seed)
    refused = {form: why for form, why in found.items() if why is not None}
    mnemonics = {form.mnemonic for form in found}
    run = {form.mnemonic for form, why in found.items() if why is None}
    print(f"{len(found)} forms of {len(mnemonics)} mnemonics")
    print(f"{len(found) - len(refused)} forms and {len(run)} mnemonics run")
    print("mnemonics that never run:", ", ".join(sorted(mnemonics - run)))
    for why, count in collections.Counter(refused.values()).most_common():
        names = sorted({form.mnemonic for form, reason in refused.items() if reason == why})
        print(f"{count:5} {why}: {len(names)} mnemonics, as {', '.join(names[:6])}")
    if options.refused:
        for form, why in sorted(refused.items()):
            print(f"{form}: {why}")


if __name__ == "__main__":
    main()
