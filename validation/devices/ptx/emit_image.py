"""Emit texture and surface accesses; an object's handle is the address of a description, see warp.h."""

from __future__ import annotations

from porter.validation.devices.ptx.allocate import flat
from porter.validation.devices.ptx.effects import registers
from porter.validation.devices.ptx.emit_memory import MemoryEmitter
from porter.validation.devices.ptx.model import WIDTHS, Instruction, Operand, Unsupported

_SHAPES = {"1d": (1, False), "2d": (2, False), "3d": (3, False), "a1d": (1, True), "a2d": (2, True)}
_COMPONENTS = "rgba"
_VECTORS = {"v2": 2, "v4": 4}
_BOUNDARIES = {"trap": "SURFACE_TRAP", "clamp": "SURFACE_CLAMP", "zero": "SURFACE_ZERO"}


class ImageEmitter(MemoryEmitter):
    """Textures and surfaces. There are no mip levels, so that levels and gradients choose nothing."""

    def emit_texture(self, instruction: Instruction) -> None:
        """tex of an object: 1d, 2d, 3d and layers of them."""
        words = [word for word in instruction.modifiers if word not in ("level", "grad")]
        shape = _SHAPES.get(words[0])
        if shape is None or len(words) != 4 or words[1] != "v4":
            raise Unsupported("form of texture access", instruction)
        dimensions, layered = shape
        result, coordinate = words[2], words[3]
        if len(instruction.operands) != 2 + len(instruction.modifiers) - len(words) + ("grad" in instruction.modifiers):
            raise Unsupported("form of texture access", instruction)
        index, out, rows = self._open_image(instruction, instruction.operands[1], dimensions + layered)
        layer = rows[1] if layered else "NULL"
        out.append(f"const uint32_t *const at[] = {{{', '.join(rows[1 + layered :])}}};")
        out += self._texels(
            instruction,
            result,
            f"ptx_texture(&w->x, {index}, act, {dimensions}, {int(coordinate == 's32')}, {int(result == 'f32')}, "
            f"{rows[0]}, {layer}, at, into)",
        )
        self.emit(*out, "} }")

    def emit_gather(self, instruction: Instruction) -> None:
        """tld4: one component of four texels."""
        words = instruction.modifiers
        if len(words) != 5 or words[0] not in _COMPONENTS or words[1:3] != ("2d", "v4") or words[4] != "f32":
            raise Unsupported("form of texture access", instruction)
        index, out, rows = self._open_image(instruction, instruction.operands[1], 2)
        component = _COMPONENTS.index(words[0])
        out.append(f"const uint32_t *const at[] = {{{rows[1]}, {rows[2]}}};")
        as_float = int(words[3] == "f32")
        call = f"ptx_gather(&w->x, {index}, act, {component}, {as_float}, {rows[0]}, at, into)"
        self.emit(*out, *self._texels(instruction, words[3], call), "} }")

    def _texels(self, instruction: Instruction, result: str, call: str) -> list[str]:
        """The call, and where its four results go."""
        if result not in ("f32", "s32", "u32"):
            raise Unsupported("form of texture access", instruction)
        targets = flat(instruction.operands[0])
        into = f"uint32_t *const into[] = {{{', '.join(self.target_row(t) for t in targets)}}};"
        cleared = self.clear_bad(tuple(t.text for t in targets if t.kind == "reg"), "act")
        return [into, f"if ({call}) return WAVE_FAULT;", *cleared]

    def _open_image(self, instruction: Instruction, place: Operand, count: int) -> tuple[int, list[str], list[str]]:
        """The access's number, C that makes the handle and coordinates, and their rows."""
        if place.parts[0].kind != "reg" or len(place.parts) != 2:
            raise Unsupported("form of texture access", instruction)
        index = self.site(instruction, "vector", "texture")
        out = ["{ show_mask(&w->x);", *self.active(instruction), "if (act) {"]
        out += self.refuse_bad(tuple(registers(place)), "act", index)
        rows: list[str] = []
        for k, operand in enumerate((place.parts[0], *flat(place.parts[1])[:count])):
            lines, row, _ = self.source_row(operand, "b32" if k else "b64", instruction, f"v{k}")
            out += lines
            rows.append(row)
        return index, out, rows

    def emit_surface(self, instruction: Instruction) -> None:
        """suld.b and sust.b: bytes of a surface, x in bytes."""
        words = list(instruction.modifiers)
        shape = _SHAPES.get(words[1]) if len(words) > 3 else None
        count = _VECTORS.get(words[2], 1) if shape else 0
        kind, boundary = words[-2], _BOUNDARIES.get(words[-1])
        if shape is None or words[0] != "b" or len(words) != 4 + (count > 1) or boundary is None or kind not in WIDTHS:
            raise Unsupported("form of surface access", instruction)
        loads = instruction.base == "suld"
        place, values = instruction.operands if not loads else reversed(instruction.operands)
        size, dimensions, layered = WIDTHS[kind] // 8, *shape
        index, out, rows = self._open_image(instruction, place, dimensions + layered)
        layer = rows[1] if layered else "NULL"
        out += [
            f"const uint32_t *const at[] = {{{', '.join(rows[1 + layered :])}}};",
            "uint64_t a[LANES] ALIGNED; uint32_t inside;",
            f"if (ptx_surface(&w->x, {index}, act, {dimensions}, {boundary}, {size * count}, {rows[0]}, {layer}, at, "
            "a, &inside)) return WAVE_FAULT;",
        ]
        moved = flat(values)
        if len(moved) != count:
            raise Unsupported("form of surface access", instruction)
        move = self._surface_load if loads else self._surface_store
        self.emit(*out, *move(instruction, moved, kind, index), "} }")

    def _surface_load(self, instruction: Instruction, targets: tuple[Operand, ...], kind: str, index: int) -> list[str]:
        wide = WIDTHS[kind] == 64
        rows = [self.target_row(target) for target in targets]
        word = "uint64_t" if wide else "uint32_t"
        out = [
            f"for (int l = 0; l < LANES; l++) if ((act & ~inside) >> l & 1) (({word} *){row})[l] = 0;"
            for row in rows
            if row != "NULL"
        ]
        out.append(f"void *const into[] = {{{', '.join(rows)}}};")
        arguments = f"SPACE_GLOBAL, a, {WIDTHS[kind] // 8}, 0, {len(targets)}, into, {int(wide)}, NULL"
        out.append(f"if (inside && ptx_load(&w->x, {index}, inside, {arguments})) return WAVE_FAULT;")
        return [*out, *self.clear_bad(tuple(t.text for t in targets if t.kind == "reg"), "act")]

    def _surface_store(
        self, instruction: Instruction, sources: tuple[Operand, ...], kind: str, index: int
    ) -> list[str]:
        out: list[str] = []
        rows: list[str] = []
        for k, operand in enumerate(sources):
            lines, row, _ = self.source_row(operand, kind, instruction, f"s{k}")
            out += lines
            rows.append(row)
        bad = self.bad_of([o.text for o in sources if o.kind == "reg"]) or "0"
        out.append(f"void *const from[] = {{{', '.join(rows)}}};")
        arguments = f"SPACE_GLOBAL, a, {WIDTHS[kind] // 8}, {len(sources)}, from, {int(WIDTHS[kind] == 64)}, {bad}"
        return [*out, f"if (inside && ptx_store(&w->x, {index}, inside, {arguments})) return WAVE_FAULT;"]
