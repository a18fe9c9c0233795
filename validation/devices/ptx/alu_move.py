"""mov, cvta, isspacep and the special registers (PTX ISA 10)."""

from __future__ import annotations

from porter.validation.devices.ptx.lane import Lane
from porter.validation.devices.ptx.model import WIDTHS

_AXIS = {"x": 0, "y": 1, "z": 2}
_CLOCK = (
    "((uint64_t)(w->x.core.launch->budget - (uint64_t)w->x.core.budget + launch_quantum - (uint64_t)w->x.core.quantum))"
)

GRID_WORKSPACE = "w->x.core.launch->symbols[0]"
"""Where cooperative groups count the blocks that have arrived at a barrier of the grid."""


def special(name: str) -> tuple[str, bool, int] | None:
    """C for a special register, whether it is the same for all lanes, and its width."""
    stem, _, axis = name[1:].partition(".")
    if axis in _AXIS:
        i = _AXIS[axis]
        found = {
            "tid": (f"w->x.tid[{i}][l]", False, 32),
            "ntid": (f"w->x.core.launch->block[{i}]", True, 32),
            "ctaid": (f"w->x.core.block->id[{i}]", True, 32),
            "nctaid": (f"w->x.core.launch->grid[{i}]", True, 32),
            "clusterid": (f"w->x.core.block->id[{i}]", True, 32),
            "nclusterid": (f"w->x.core.launch->grid[{i}]", True, 32),
            "cluster_ctaid": ("0u", True, 32),
            "cluster_nctaid": ("1u", True, 32),
        }
        return found.get(stem)
    lanes = {
        "laneid": "(uint32_t)l",
        "lanemask_eq": "1u << l",
        "lanemask_lt": "((1u << l) - 1)",
        "lanemask_le": "((2u << l) - 1)",
        "lanemask_gt": "~((2u << l) - 1)",
        "lanemask_ge": "~((1u << l) - 1)",
    }
    if stem in lanes and not axis:
        return lanes[stem], False, 32
    uniform = {
        "warpid": "w->x.core.index",
        "nwarpid": "w->x.core.block->wave_count",
        "smid": "(w->x.core.block->linear % 108u)",
        "nsmid": "108u",
        "gridid": "0ull",
        "clock": f"(uint32_t){_CLOCK}",
        "clock_hi": f"(uint32_t)({_CLOCK} >> 32)",
        "clock64": _CLOCK,
        "globaltimer": _CLOCK,
        "globaltimer_lo": f"(uint32_t){_CLOCK}",
        "globaltimer_hi": f"(uint32_t)({_CLOCK} >> 32)",
        "dynamic_smem_size": "dynamic_shared",
        "total_smem_size": "w->x.core.launch->shared_bytes",
        "cluster_ctarank": "0u",
        "cluster_nctarank": "1u",
        "is_explicit_cluster": "0u",
        "envreg1": f"(uint32_t)({GRID_WORKSPACE} >> 32)",
        "envreg2": f"(uint32_t){GRID_WORKSPACE}",
    }
    if stem in uniform and not axis:
        return uniform[stem], True, 64 if stem in ("clock64", "globaltimer", "gridid") else 32
    return None


def move(op: Lane) -> None:
    """mov, with packing and unpacking."""
    kind = op.kind()
    op.finish()
    first, source = op.operands
    width = WIDTHS[kind]
    if first.kind == "vector":  # unpack
        part = width // len(first.parts)
        value = op.name("uint64_t", f"(uint64_t){op.s(1, f'b{width}')}")
        for i, target in enumerate(first.parts):
            op.put(target, f"{value} >> {i * part}", f"b{part}")
    elif source.kind == "vector":
        part = width // len(source.parts)
        terms = [f"(uint64_t){op.of(o, f'b{part}')} << {i * part}" for i, o in enumerate(source.parts)]
        op.d(" | ".join(terms), f"b{width}")
    else:
        raw = kind if kind == "pred" or source.kind in ("f32", "f64") else f"b{width}"
        op.d(op.s(1, raw), raw)


def cache_policy(op: Lane) -> None:
    """createpolicy: a hint for loads and stores, which changes no value."""
    kind = op.kind()
    op.left.clear()
    op.d("0", kind)


_WINDOWS = {"shared": "SHARED_APERTURE", "local": "PRIVATE_APERTURE"}


def convert_address(op: Lane) -> None:
    """cvta: generic addresses of shared and local memory lie in windows; all others are what they are."""
    back = op.flag("to")
    kind = op.kind()
    space = op.left.pop(0).removesuffix("::cta").removesuffix("::cluster").partition("::")[0]
    op.finish()
    if space not in ("global", "const", "shared", "local", "param"):
        raise op.fail(f"state space .{space}")
    bits = f"b{WIDTHS[kind]}"
    value = op.s(1, bits)
    if space in _WINDOWS and WIDTHS[kind] == 64:
        value = f"{value} & ~APERTURE_MASK" if back else f"{value} | {_WINDOWS[space]}"
    op.d(value, bits)


def is_space(op: Lane) -> None:
    """isspacep."""
    space = op.left.pop(0).partition("::")[0]
    op.finish()
    a = op.name("uint64_t", f"{op.s(1, 'u64')} & APERTURE_MASK")
    if space in _WINDOWS:
        op.d(f"{a} == {_WINDOWS[space]}", "pred")
    elif space == "global":
        op.d(f"{a} != SHARED_APERTURE && {a} != PRIVATE_APERTURE", "pred")
    else:
        op.d("0", "pred")
