"""Kernel entry: what registers hold when a wave starts (LLVM's AMDGPU usage, "Initial Kernel Execution State")."""

from __future__ import annotations

from porter.validation.devices.gfx942.emitter import Emitter


class EntryEmitter(Emitter):
    """Writes wave_init."""

    def _initialiser(self) -> list[str]:
        d = self.kernel.directives
        lines = [
            "void wave_init(Wave *core) {",
            "Lanes *w = (Lanes *)core;",
            "Launch *launch = core->launch;",
            "memset(w->s, 0, sizeof w->s);",
            f"memset(w->s_poison, {255 if self.poison else 0}, sizeof w->s_poison);",
            "core->rows = &w->v[0][0];",
            f"w->mode = {_mode(d):#x}; w->m0 = 0xffffffff; w->scc = 0; w->scc_poison = 0;",
            "w->exec = core->live; w->mask_of = ~w->exec; show_mask(w);",
            f"core->pc = {self.linear.entries[self.kernel.name]};",
        ]
        if self.poison:
            lines += ["core->row_poison = (uint64_t *)&w->v[ROWS][0];", "memset(core->row_poison, 255, ROWS * 8);"]
            lines += ["core->row_poison[0] = 0;"]
        lines += [f"for (int i = 0; i < ROWS; i++) memset(w->v[i], {0}, sizeof w->v[i]);"]
        lines += self._user_sgprs(d)
        lines += [
            "uint32_t bx = launch->block[0], by = launch->block[1];",
            "for (uint32_t l = 0; l < 64; l++) {",
            "uint32_t t = core->index * 64 + l;",
            "w->v[0][l] = t % bx | t / bx % by << 10 | t / bx / by << 20;",
            "}",
            "}",
        ]
        return lines

    def _user_sgprs(self, d: dict[str, int]) -> list[str]:
        """Architected order: user SGPRs that are enabled, then work-group ids."""
        at, lines = 0, []

        def give(count: int, *values: str) -> None:
            nonlocal at
            for value in values:
                lines.append(f"w->s[{at}] = {value}; w->s_poison[{at}] = 0;")
                at += 1
            at += count - len(values)

        if d.get("user_sgpr_private_segment_buffer"):
            give(4, "0", "0x80000000u", "0xffffffffu", "0x00800000u")  # see buffer.c
        if d.get("user_sgpr_dispatch_ptr"):
            give(2, *_halves(f"SYMBOL({self._symbol('dispatch packet')})"))
        if d.get("user_sgpr_queue_ptr"):
            give(2, *_halves(f"SYMBOL({self._symbol('queue')})"))
        if d.get("user_sgpr_kernarg_segment_ptr"):
            give(2, *_halves("launch->arguments"))
        if d.get("user_sgpr_dispatch_id"):
            give(2, "0", "0")
        if d.get("user_sgpr_flat_scratch_init"):
            give(2, "0", "0")
        if d.get("user_sgpr_private_segment_size"):
            give(1, "launch->private_bytes")
        for k in range(d.get("user_sgpr_kernarg_preload_length", 0)):
            offset = d.get("user_sgpr_kernarg_preload_offset", 0) + k
            give(1, f"((const uint32_t *)launch->arguments)[{offset}]")
        for axis, letter in enumerate("xyz"):
            if d.get(f"system_sgpr_workgroup_id_{letter}", 0):
                give(1, f"core->block->id[{axis}]")
        if d.get("system_sgpr_workgroup_info"):
            give(1, "0")
        if d.get("system_sgpr_private_segment_wavefront_offset"):
            give(1, "0")
        return lines


def _halves(value: str) -> tuple[str, str]:
    return f"(uint32_t)({value})", f"(uint32_t)(({value}) >> 32)"


def _mode(d: dict[str, int]) -> int:
    """The MODE register at entry: rounding, denormals, DX10_CLAMP, IEEE, FP16_OVFL."""
    return (
        d.get("float_round_mode_32", 0)
        | d.get("float_round_mode_16_64", 0) << 2
        | d.get("float_denorm_mode_32", 3) << 4
        | d.get("float_denorm_mode_16_64", 3) << 6
        | d.get("dx10_clamp", 1) << 8
        | d.get("ieee_mode", 1) << 9
        | d.get("fp16_overflow", 0) << 23
    )
