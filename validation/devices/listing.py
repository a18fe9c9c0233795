"""What a file holds of code for AMD's GPUs: targets, kernels, and what their notes say of registers and memory."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from porter.validation.devices.gfx942.bundle import NoCodeObject, code_objects
from porter.validation.devices.gfx942.objects import describe_object
from porter.validation.devices.gfx942.text import Metadata, Unreadable
from porter.validation.toolchain.entry import demangle, signature_name

from porter.errors import Unusable

SCHEMA = "porter-objects/1"
_TARGET = re.compile(r"gfx\w+(?::[\w+-]+)*")


@dataclass(frozen=True)
class ListedKernel:
    """One kernel in one code object."""

    name: str
    """As C++ has it."""
    symbol: str
    target: str
    member: str
    """Of a wheel: the file in it."""
    vgprs: int
    agprs: int
    sgprs: int
    spilled: int
    """Registers that were spilled, vector and scalar."""
    lds: int
    scratch: int
    """Bytes per thread."""
    dynamic_stack: bool
    most_threads: int
    wave: int
    arguments: tuple[tuple[str, int], ...]
    """Those that a caller passes: kind and bytes."""


@dataclass(frozen=True)
class Listing:
    """Everything in one file."""

    path: str
    objects: tuple[tuple[str, int], ...]
    """Target, and how many code objects there are for it."""
    kernels: tuple[ListedKernel, ...]
    unread: tuple[str, ...] = ()
    """Code objects that could not be read, and why."""


def list_objects(path: Path, only: str | None = None) -> Listing:
    """The listing of a file, `only` for one target; raises Unusable."""
    try:
        found = code_objects(path)
    except NoCodeObject as error:
        raise Unusable(str(error)) from None
    except OSError as error:
        raise Unusable(f"{path}: {error.strerror}") from None
    counts: Counter[str] = Counter()
    kernels: list[ListedKernel] = []
    unread: list[str] = []
    for item in found:
        if only is not None and item.target and not re.search(rf"\b{re.escape(only)}\b", item.target):
            counts[_short(item.target)] += 1
            continue
        try:
            target, entries = describe_object(item.content)
        except Unreadable as error:
            unread.append(f"{item.member or path.name}, {item.target or 'no target named'}: {error}")
            continue
        short = _short(target or item.target)
        counts[short] += 1
        kernels += [_kernel(entry, short, item.member) for entry in entries]
    ordered = tuple(sorted(counts.items()))
    return Listing(
        str(path), ordered, tuple(sorted(kernels, key=lambda k: (k.target, k.name, k.symbol))), tuple(unread)
    )


def _short(target: str) -> str:
    named = _TARGET.search(target)
    return named[0] if named else target or "unknown"


def _kernel(entry: Metadata, target: str, member: str) -> ListedKernel:
    def number(key: str) -> int:
        return int(str(entry.get(key, 0)) or 0)

    symbol = str(entry.get(".name", ""))
    listed = entry.get(".args")
    arguments = tuple(
        (str(one.get(".value_kind")), int(one.get(".size", 0)))
        for one in (listed if isinstance(listed, list) else [])
        if not str(one.get(".value_kind")).startswith("hidden_")
    )
    return ListedKernel(
        name=signature_name(demangle(symbol)),
        symbol=symbol,
        target=target,
        member=member,
        vgprs=number(".vgpr_count"),
        agprs=number(".agpr_count"),
        sgprs=number(".sgpr_count"),
        spilled=number(".vgpr_spill_count") + number(".sgpr_spill_count"),
        lds=number(".group_segment_fixed_size"),
        scratch=number(".private_segment_fixed_size"),
        dynamic_stack=entry.get(".uses_dynamic_stack") == "true",
        most_threads=number(".max_flat_workgroup_size"),
        wave=number(".wavefront_size"),
        arguments=arguments,
    )


def narrowed(listing: Listing, target: str | None, kernel: str | None) -> Listing:
    """Only kernels of a target, and only those whose name has a text in it."""
    kept = tuple(
        one
        for one in listing.kernels
        if (target is None or one.target.partition(":")[0] == target)
        and (kernel is None or kernel in one.name or kernel in one.symbol)
    )
    return Listing(listing.path, listing.objects, kept, listing.unread)


def listing_json(listing: Listing) -> dict[str, Any]:
    """As plain values."""
    return {
        "schema": SCHEMA,
        "path": listing.path,
        "objects": [{"target": target, "count": count} for target, count in listing.objects],
        "unread": list(listing.unread),
        "kernels": [
            {**asdict(one), "arguments": [{"kind": kind, "bytes": size} for kind, size in one.arguments]}
            for one in listing.kernels
        ],
    }


def listing_text(listing: Listing, *, width: int = 100) -> str:
    """As a table."""
    lines = [f"{listing.path}: " + ", ".join(f"{count} x {target}" for target, count in listing.objects)]
    lines += [f"  not read: {reason}" for reason in listing.unread]
    for target in dict.fromkeys(one.target for one in listing.kernels):
        rows = [one for one in listing.kernels if one.target == target]
        lines += ["", f"{target}: {len(rows)} kernels", "  VGPR AGPR SGPR spill    LDS scratch threads args  kernel"]
        lines += [_row(one, width) for one in rows]
    return "\n".join(lines) + "\n"


def _row(one: ListedKernel, width: int) -> str:
    scratch = f"{one.scratch}{'+' if one.dynamic_stack else ''}"
    name = one.name if len(one.name) <= width else one.name[: width - 3] + "..."
    return (
        f"  {one.vgprs:4} {one.agprs:4} {one.sgprs:4} {one.spilled:5} {one.lds:6} {scratch:>7} "
        f"{one.most_threads:7} {len(one.arguments):4}  {name}"
    )
