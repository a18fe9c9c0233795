"""A run as text and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from porter.validation.programs.outcome import Account, Happening, ProgramRun

SCHEMA = "porter-run-1"
_SHOWN = 8


def run_json(run: ProgramRun) -> dict[str, Any]:
    """The same facts as the text, as plain values (docs/schemas/porter-run-1.json)."""
    return {
        "schema": SCHEMA,
        "command": list(run.command),
        "verdict": run.verdict.value,
        "reason": run.reason,
        "exit_code": run.code,
        "seconds": round(run.seconds, 3),
        **account_json(run.account),
        **_profile(run),
    }


def account_json(account: Account) -> dict[str, Any]:
    """What the devices say."""
    return {
        "sides": list(account.sides),
        "launches": account.launches,
        "known": account.known,
        "lane_instructions": account.lane_instructions,
        "kernels": [
            {
                "name": k.name,
                "launches": k.launches,
                "known": k.known,
                "blocks": k.blocks,
                "lane_instructions": k.lane_instructions,
            }
            for k in account.kernels
        ],
        "faults": [{"text": h.text, "count": h.count, **h.details} for h in account.faults],
        "unsupported": _plain(account.unsupported),
        "failed_calls": [{"text": h.text, "count": h.count, **h.details} for h in account.failed_calls],
        "notes": _plain(account.notes),
        "stand_ins": _plain(account.stand_ins),
        "operators": [{"text": name, "count": count} for name, count in account.operators],
        "tests": [{"name": t.name, "outcome": t.outcome, "reason": t.reason} for t in account.tests],
    }


def _plain(happenings: tuple[Happening, ...]) -> list[dict[str, Any]]:
    return [{"text": h.text, "count": h.count} for h in happenings]


def run_text(run: ProgramRun) -> str:
    """A few lines for stderr, after the program's own output."""
    return "".join(f"porter: {line}\n" for line in _lines(run))


def _lines(run: ProgramRun) -> Iterator[str]:
    account = run.account
    devices = " and ".join({"cuda": "ptx", "hip": "gfx942"}[side] for side in account.sides)
    if account.sides:
        done = f"{_large(account.lane_instructions)} lane-instructions"
        known = f" ({account.known:,} of them known from one before)" if account.known else ""
        yield f"{_counted(account.launches, 'launch', 'launches')} on {devices}{known}, {done}"
    for kernel in account.kernels[:_SHOWN]:
        yield f"  {kernel.launches:>6} x {kernel.name}: {_large(kernel.lane_instructions)}"
    if len(account.kernels) > _SHOWN:
        yield f"         and {len(account.kernels) - _SHOWN} more kernels"
    yield from _listed("not supported", account.unsupported)
    yield from _listed("failed", account.failed_calls)
    yield from _listed("note", account.notes)
    yield from _listed("answered by a stand-in", account.stand_ins)
    if account.operators:
        calls = _counted(sum(count for _, count in account.operators), "call", "calls")
        names = ", ".join(name.removeprefix("aten::") for name, _ in account.operators[:_SHOWN])
        yield f"ATen's operators ran on the host: {calls} of {len(account.operators)}: {names} ..."
    if account.tests:
        counts = Counter(test.outcome for test in account.tests)
        yield f"{len(account.tests)} tests: " + ", ".join(f"{number} {what}" for what, number in counts.most_common())
    if run.profile is not None:
        from porter.validation.programs.show_profile import profile_lines  # estimates take longer to load than a run

        yield from profile_lines(run.profile)
    yield run.verdict.value + (f": {run.reason}" if run.reason else "")


def _listed(what: str, happenings: tuple[Happening, ...]) -> Iterator[str]:
    for item in happenings[:_SHOWN]:
        name = f" ({item.details['name']})" if "name" in item.details else ""
        times = f", {item.count} times" if item.count > 1 else ""
        yield f"{what}: {item.text}{name}{times}"
    if len(happenings) > _SHOWN:
        yield f"{what}: {len(happenings) - _SHOWN} more"


def _counted(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _large(number: int) -> str:
    for size, unit in ((10**9, "G"), (10**6, "M")):
        if number >= size:
            return f"{number / size:.2f} {unit}"
    return f"{number:,}"


def _profile(run: ProgramRun) -> dict[str, Any]:
    if run.profile is None:
        return {}
    from porter.validation.programs.show_profile import profile_json

    return {"profile": profile_json(run.profile)}
