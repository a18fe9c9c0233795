"""Assembly text of LLVM's AMDGPU backend, read into instructions, data and kernel descriptions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from porter.validation.devices.core.hostcc import fingerprint
from porter.validation.devices.gfx942.lines import SYSTEM, inlined_calls, user_lines

Metadata = dict[str, object]


class Unreadable(Exception):
    """A line that is no assembly we know."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True)
class Instruction:
    """One instruction as written: `v_add_u32_e32 v0, s2, v0` has mnemonic v_add_u32 and form e32."""

    mnemonic: str
    form: str
    operands: tuple[str, ...]
    modifiers: tuple[tuple[str, str], ...]
    text: str
    line: int
    file: str | None
    source_line: int
    address: int = -1
    """In a code object: where it lies."""

    def modifier(self, name: str) -> str | None:
        """The value of a modifier; empty for a bare one, None when absent."""
        return dict(self.modifiers).get(name)


@dataclass(frozen=True)
class Label:
    """A place to jump to."""

    name: str


@dataclass
class Function:
    """A kernel or device function: labels and instructions in order."""

    name: str
    items: list[Label | Instruction] = field(default_factory=list)


@dataclass
class Data:
    """A global or constant: bytes, and where addresses of symbols are stored in them."""

    name: str
    alignment: int
    writable: bool
    content: bytearray = field(default_factory=bytearray)
    relocations: list[tuple[int, str, int]] = field(default_factory=list)


@dataclass(frozen=True)
class Parameter:
    """One entry of a kernel's argument segment."""

    offset: int
    size: int
    kind: str

    @property
    def hidden(self) -> bool:
        """True for what the runtime passes, not the caller."""
        return self.kind.startswith("hidden_")


@dataclass(frozen=True)
class KernelInfo:
    """What the descriptor and the metadata say of a kernel."""

    name: str
    directives: dict[str, int]
    parameters: tuple[Parameter, ...]
    argument_bytes: int
    shared_bytes: int
    private_bytes: int
    dynamic_stack: bool
    vgprs: int
    agprs: int
    metadata: Metadata

    @property
    def explicit(self) -> tuple[Parameter, ...]:
        """The parameters a caller passes."""
        return tuple(p for p in self.parameters if not p.hidden)


@dataclass(frozen=True)
class CodeImage:
    """What a code object loads: sections (address, bytes, name, writable), data symbols, stored addresses."""

    sections: tuple[tuple[int, bytes, str, bool], ...]
    symbols: dict[str, tuple[int, int]]
    pointers: dict[int, int]


@dataclass
class Program:
    """One assembly file."""

    target: str = ""
    functions: Mapping[str, Function] = field(default_factory=dict)
    data: dict[str, Data] = field(default_factory=dict)
    kernels: dict[str, KernelInfo] = field(default_factory=dict)
    lds: dict[str, tuple[int, int]] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    printf: tuple[str, ...] = ()
    origin: str = ""
    """What was read, by its digest."""
    image: CodeImage | None = None
    """Set for a code object: code and data keep the distances they have in it."""


_FORMS = re.compile(r"(.*?)_(e32|e64|sdwa|dpp|e64_dpp)$")
_BARE = {
    *("off", "glc", "slc", "dlc", "sc0", "sc1", "nt", "gds", "lds", "clamp", "idxen", "offen", "addr64", "tfe", "high"),
    *("row_mirror", "row_half_mirror"),
}
_MODIFIER = re.compile(r"^([a-z_0-9]+):(.*)$", re.S)
_NO_MODIFIERS = ("s_set_gpr_idx", "s_waitcnt", "s_branch", "s_cbranch", "s_sendmsg", "s_setreg", "s_getreg")


def strip_comment(line: str) -> str:
    """The line without its comment; semicolons inside strings stay."""
    if '"' not in line:
        return line.partition(";")[0].partition("//")[0].strip()
    inside = False
    for index, char in enumerate(line):
        if char == '"' and (index == 0 or line[index - 1] != "\\"):
            inside = not inside
        elif not inside and (char == ";" or line.startswith("//", index)):
            return line[:index].strip()
    return line.strip()


def split_operands(text: str) -> list[str]:
    """Comma-separated operands; commas in brackets and bars do not separate."""
    if "[" not in text and "(" not in text:
        return [part for part in map(str.strip, text.split(",")) if part] if ",," not in text else text.split(",")
    parts: list[str] = []
    depth, current = 0, ""
    for char in text:
        depth += (char in "[(") - (char in "])")
        if char == "," and not depth:
            parts.append(current.strip())
            current = ""
        else:
            current += char
    if current.strip():
        parts.append(current.strip())
    return parts


def _split_words(text: str) -> list[str]:
    if "[" not in text and "(" not in text:
        return text.split()
    words: list[str] = []
    depth, current = 0, ""
    for char in text:
        depth += (char in "[(") - (char in "])")
        if char.isspace() and not depth:
            if current:
                words.append(current)
            current = ""
        else:
            current += char
    return [*words, current] if current else words


def parse_instruction(text: str, line: int, file: str | None = None, source_line: int = 0) -> Instruction:
    """One instruction line, without its comment."""
    mnemonic, _, rest = text.partition(" ") if " " in text else text.partition("\t")
    mnemonic = mnemonic.strip()
    match = _FORMS.match(mnemonic)
    name, form = (match[1], match[2]) if match else (mnemonic, "")
    operands: list[str] = []
    modifiers: list[tuple[str, str]] = []
    if mnemonic.startswith(_NO_MODIFIERS):
        operands = [rest.strip()] if mnemonic == "s_waitcnt" else split_operands(rest)
        return Instruction(name, form, tuple(operands), (), text, line, file, source_line)
    for index, part in enumerate(split_operands(rest)):
        words = _split_words(part)
        for place, word in enumerate(words):
            pair = _MODIFIER.match(word)
            if pair and "@" not in word:
                modifiers.append((pair[1], pair[2]))
            elif word in _BARE and (place > 0 or (index > 0 and word != "off")):
                modifiers.append((word, ""))
            elif place == 0:
                operands.append(word)
            elif words[place - 1] in "+-" or word in "+-":
                operands[-1] += word
            else:
                raise Unreadable(f"unknown modifier {word!r} in: {text}", line)
    return Instruction(name, form, tuple(operands), tuple(modifiers), text, line, file, source_line)


def parse_metadata(lines: list[str]) -> Metadata:
    """The subset of YAML that LLVM writes: block maps and sequences, scalars as text."""
    rows = [(len(s) - len(s.lstrip()), s.strip()) for s in lines if s.strip() and s.strip() not in ("---", "...")]
    value, _ = _yaml_block(rows, 0, rows[0][0] if rows else 0)
    return value if isinstance(value, dict) else {}


def _yaml_block(rows: list[tuple[int, str]], at: int, indent: int) -> tuple[object, int]:
    if at < len(rows) and rows[at][1].startswith("- "):
        items: list[object] = []
        while at < len(rows) and rows[at][0] == indent and rows[at][1].startswith("- "):
            rest = rows[at][1][2:]
            inner = indent + 2 + len(rest) - len(rest.lstrip())
            if re.match(r"\s*[.\w]+:(\s|$)", rest):
                rows[at] = (inner, rest.strip())
                value, at = _yaml_block(rows, at, inner)
            else:
                value, at = _scalar(rest), at + 1
            items.append(value)
        return items, at
    found: Metadata = {}
    while at < len(rows) and rows[at][0] == indent and not rows[at][1].startswith("- "):
        key, _, rest = rows[at][1].partition(":")
        if rest.strip():
            found[key.strip()], at = _scalar(rest), at + 1
        elif (
            at + 1 < len(rows)
            and rows[at + 1][0] >= indent
            and (rows[at + 1][0] > indent or rows[at + 1][1].startswith("- "))
        ):
            found[key.strip()], at = _yaml_block(rows, at + 1, rows[at + 1][0])
        else:
            found[key.strip()], at = "", at + 1
    return found, at


def _scalar(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


_ESCAPES = {"n": 10, "t": 9, "r": 13, "b": 8, "f": 12, "v": 11, "a": 7, '"': 34, "\\": 92}


def unescape(text: str) -> bytes:
    """The bytes of an assembler string literal."""
    out = bytearray()
    for match in re.finditer(r"\\([0-7]{1,3}|x[0-9a-fA-F]+|.)|([^\\])", text, re.S):
        if match[2] is not None:
            out += match[2].encode("utf-8", "surrogateescape")
        elif match[1][0] in "01234567":
            out.append(int(match[1], 8) & 255)
        elif match[1][0] == "x":
            out.append(int(match[1][1:], 16) & 255)
        else:
            out.append(_ESCAPES[match[1]])
    return bytes(out)


_SIZES = {
    ".byte": 1,
    ".short": 2,
    ".2byte": 2,
    ".hword": 2,
    ".long": 4,
    ".4byte": 4,
    ".int": 4,
    ".quad": 8,
    ".8byte": 8,
}
_LOC = re.compile(r"\.loc\s+(\d+)\s+(\d+)")
_FILE = re.compile(r'\.file\s+(\d+)\s+"((?:[^"\\]|\\.)*)"(?:\s+"((?:[^"\\]|\\.)*)")?')
_LABEL = re.compile(r'^("[^"]+"|[A-Za-z_.$][\w.$@]*):')
_IGNORED_SECTIONS = (".debug", ".note", ".AMDGPU", ".comment", ".llvm", ".strtab")


_LINE_SECTIONS = (".debug_info", ".debug_rnglists")
_SECTION_CHANGES = (".section", ".text", ".data", ".bss", ".amdgpu_metadata")


class _Reader:
    """Walks the lines once; state is what the directives so far have set."""

    def __init__(self) -> None:
        self.functions: dict[str, Function] = {}
        self.program = Program(functions=self.functions)
        self.files: dict[int, str] = {}
        self.file: str | None = None
        self.source_line = 0
        self.section = ".text"
        self.skipping = False
        self.debug: dict[str, list[str]] = {}
        self.kept: list[str] = []
        self.positions: dict[str, int] = {}
        self.count = 0
        self.alignment = 1
        self.function: Function | None = None
        self.datum: Data | None = None
        self.types: dict[str, str] = {}
        self.kernel: tuple[str, dict[str, int]] | None = None
        self.directives: dict[str, dict[str, int]] = {}
        self.metadata: list[str] | None = None

    def read(self, text: str) -> Program:
        self.program.origin = fingerprint(encoded(text))
        for number, raw in enumerate(text.splitlines(), 1):
            self._line(raw, number)
        self._finish()
        return self.program

    def _line(self, raw: str, number: int) -> None:
        if self.metadata is not None and ".end_amdgpu_metadata" not in raw:
            self.metadata.append(raw)
            return
        if self.skipping and not raw.startswith("\t.section"):
            self.kept.append(raw)
        if self.skipping and not raw.startswith("\t."):
            return
        line = strip_comment(raw)
        if self.skipping and not line.startswith(_SECTION_CHANGES):
            return
        while match := _LABEL.match(line):
            self._label(match[1].strip('"'))
            line = line[match.end() :].strip()
        if not line:
            return
        if line.startswith("."):
            self._directive(line, number)
        elif self.section.startswith(".text"):
            if self.function is None:
                raise Unreadable(f"instruction outside a function: {line}", number)
            self.function.items.append(parse_instruction(line, number, self.file, self.source_line))
            self.count += 1

    def _label(self, name: str) -> None:
        if self.section.startswith(".text"):
            self.positions[name] = self.count
            if self.types.get(name) == "function":
                self.function = self.functions[name] = Function(name)
                self.file, self.source_line = None, 0
            elif self.function is not None:
                self.function.items.append(Label(name))
        elif not self.section.startswith(_IGNORED_SECTIONS):
            writable = not self.section.startswith(".rodata")
            self.datum = self.program.data[name] = Data(name, self.alignment, writable)

    def _directive(self, line: str, number: int) -> None:
        word, _, rest = line.partition(" ") if " " in line else line.partition("\t")
        word, rest = word.split("\t")[0], line[len(word.split("\t")[0]) :].strip()
        if self.kernel is not None and word.startswith(".amdhsa_"):
            self.kernel[1][word[8:]] = _integer(rest)
        elif word in _SIZES or word in (".ascii", ".asciz", ".zero", ".fill", ".space", ".skip"):
            if self.datum is not None and not self.section.startswith((".text", *_IGNORED_SECTIONS)):
                self._data(word, rest, number)
        elif handler := getattr(self, "_on_" + word[1:].replace(".", "_"), None):
            handler(rest)

    def _data(self, word: str, rest: str, number: int) -> None:
        assert self.datum is not None
        content = self.datum.content
        if word in _SIZES:
            for item in split_operands(rest):
                self._value(item, _SIZES[word], number)
        elif word in (".ascii", ".asciz"):
            for literal in re.findall(r'"((?:[^"\\]|\\.)*)"', rest):
                content += unescape(literal) + (b"\0" if word == ".asciz" else b"")
        else:
            numbers = [int(n, 0) for n in split_operands(rest)]
            if word == ".fill":
                count, size, value = (*numbers, 1, 0)[:3] if len(numbers) < 3 else numbers
                content += (value & ((1 << 8 * size) - 1)).to_bytes(size, "little") * count
            else:
                content += bytes([(numbers[1] if len(numbers) > 1 else 0) & 255]) * numbers[0]

    def _value(self, item: str, size: int, number: int) -> None:
        assert self.datum is not None
        content = self.datum.content
        try:
            content += (int(item, 0) & ((1 << 8 * size) - 1)).to_bytes(size, "little")
            return
        except ValueError:
            pass
        match = re.match(r"^([\w.$]+)\s*(?:([+-])\s*(\w+))?$", item)
        if not match or size != 8:
            raise Unreadable(f"cannot place {item!r} in {size} bytes of data", number)
        addend = int(match[3], 0) * (-1 if match[2] == "-" else 1) if match[3] else 0
        self.datum.relocations.append((len(content), match[1], addend))
        content += bytes(8)

    def _on_amdgcn_target(self, rest: str) -> None:
        self.program.target = rest.strip('"')

    def _enter(self, section: str) -> None:
        self.section, self.datum, self.alignment = section, None, 1
        self.skipping = section.startswith(_IGNORED_SECTIONS)
        self.kept = self.debug.setdefault(section, []) if section in _LINE_SECTIONS else []

    def _on_text(self, rest: str) -> None:
        self._enter(".text")

    def _on_data(self, rest: str) -> None:
        self._enter(".data")

    def _on_bss(self, rest: str) -> None:
        self._enter(".bss")

    def _on_section(self, rest: str) -> None:
        self._enter(rest.split(",")[0].strip().strip('"'))

    def _on_p2align(self, rest: str) -> None:
        self.alignment = 1 << int(rest.split(",")[0], 0)

    def _on_type(self, rest: str) -> None:
        name, _, kind = rest.partition(",")
        self.types[name.strip().strip('"')] = kind.strip().lstrip("@")

    def _on_set(self, rest: str) -> None:
        name, _, value = rest.partition(",")
        if re.fullmatch(r"\s*[A-Za-z_.$][\w.$]*\s*", value):
            self.program.aliases[name.strip()] = value.strip()

    def _on_amdgpu_lds(self, rest: str) -> None:
        name, size, *align = (part.strip() for part in rest.split(","))
        self.program.lds[name] = (int(size, 0), int(align[0], 0) if align else 4)

    def _on_comm(self, rest: str) -> None:
        name, size, *align = (part.strip() for part in rest.split(","))
        self.program.data[name] = Data(name, int(align[0]) if align else 8, True, bytearray(int(size, 0)))

    def _on_file(self, rest: str) -> None:
        if match := _FILE.match(".file " + rest):
            folder, name = match[2], match[3]
            self.files[int(match[1])] = (
                name if name and name.startswith("/") else f"{folder}/{name}" if name else folder
            )

    def _on_loc(self, rest: str) -> None:
        match = _LOC.match(".loc " + rest)
        if match and int(match[2]):
            self.file, self.source_line = self.files.get(int(match[1])), int(match[2])

    def _on_amdhsa_kernel(self, rest: str) -> None:
        self.kernel = (rest.strip(), {})

    def _on_end_amdhsa_kernel(self, rest: str) -> None:
        assert self.kernel is not None
        self.directives[self.kernel[0]] = self.kernel[1]
        self.kernel = None

    def _on_amdgpu_metadata(self, rest: str) -> None:
        self.metadata = []

    def _charge_callers(self) -> None:
        """Header code is shown at the line that called it."""
        info, ranges = (self.debug.get(name, []) for name in _LINE_SECTIONS)
        charged = user_lines(inlined_calls(info, ranges, self.positions), self.files, self.count)
        position = 0
        for function in self.program.functions.values():
            for index, item in enumerate(function.items):
                if isinstance(item, Label):
                    continue
                if position in charged and (item.file is None or SYSTEM.search(item.file)):
                    file, line = charged[position]
                    function.items[index] = replace(item, file=file, source_line=line)
                position += 1

    def _finish(self) -> None:
        if self.debug:
            self._charge_callers()
        tree = parse_metadata(self.metadata or [])
        listed = tree.get("amdhsa.kernels")
        for entry in listed if isinstance(listed, list) else []:
            kernel = kernel_info(entry, self.directives)
            self.program.kernels[kernel.name] = kernel
        printf = tree.get("amdhsa.printf")
        self.program.printf = tuple(str(p) for p in printf) if isinstance(printf, list) else ()


def kernel_info(entry: Metadata, directives: dict[str, dict[str, int]]) -> KernelInfo:
    """A kernel from its metadata map and its .amdhsa_ directives."""
    name = str(entry[".name"])
    arguments = entry.get(".args")
    parameters = tuple(
        Parameter(int(a[".offset"]), int(a[".size"]), str(a[".value_kind"]))
        for a in (arguments if isinstance(arguments, list) else [])
    )
    found = directives.get(name, {})
    return KernelInfo(
        name=name,
        directives=found,
        parameters=parameters,
        argument_bytes=int(str(entry[".kernarg_segment_size"])),
        shared_bytes=int(str(entry[".group_segment_fixed_size"])),
        private_bytes=int(str(entry[".private_segment_fixed_size"])),
        dynamic_stack=str(entry.get(".uses_dynamic_stack", "false")) == "true",
        vgprs=int(str(entry.get(".vgpr_count", 0))),
        agprs=int(str(entry.get(".agpr_count", 0))),
        metadata=entry,
    )


def _integer(text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        return 0


def read(text: str) -> Program:
    """Parse one assembly file."""
    return _Reader().read(text)


def encoded(text: str) -> bytes:
    """A text for a digest: whatever bytes were in it."""
    return text.encode("utf-8", "surrogatepass")


def instructions(function: Function) -> Iterator[Instruction]:
    """The instructions of a function, without labels."""
    return (item for item in function.items if isinstance(item, Instruction))
