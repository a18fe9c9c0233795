"""One unit, or one program, on the machine that compiles it."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from porter.validation.build.model import Status
from porter.validation.build.report import unit_json
from porter.validation.build.run import (
    BuildRequest,
    Context,
    begin,
    linked_program,
    one_unit,
    programs_to_link,
    tools_of,
    torch_notes,
)
from porter.validation.cluster.here import here
from porter.validation.run.codec import made, plain
from porter.validation.toolchain.store import prune

from porter.errors import Unusable


def do(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """What came of a step: the tools that there are, a unit, or a program that is linked."""
    prune()
    try:
        context = _context(json.dumps(payload["request"]))
    except Unusable as error:
        return {"unusable": str(error), "failed": True}
    step = payload["step"]
    if step == "tools":
        programs = [] if payload.get("quick") else [[target, plain(one)] for target, one in programs_to_link(context)]
        return {"tools": plain(tools_of(context)), "notes": list(torch_notes(context)), "programs": programs}
    return _unit(context, payload) if step == "unit" else _program(context, payload)


def _unit(context: Context, payload: Mapping[str, Any]) -> Mapping[str, Any]:
    built, compiled = one_unit(context, str(payload["unit"]), str(payload["target"]))
    file = compiled.object if compiled is not None and payload.get("keep") else None
    return {
        "unit": plain(built),
        "notes": list(compiled.notes) if compiled is not None else [],
        "object": plain(file.read_bytes()) if file is not None else None,
        "failed": built.status is not Status.BUILT,
        "seconds": built.seconds,
        "parts": [unit_json(built)],
    }


def _program(context: Context, payload: Mapping[str, Any]) -> Mapping[str, Any]:
    objects = {(unit, target): here(place).absolute() for unit, target, place in payload["objects"]}
    for target, program in programs_to_link(context):
        if (target, program.main) == (payload["target"], payload["main"]):
            linked = linked_program(context, target, program, objects)
            return {"program": plain(linked), "failed": linked.status is not Status.BUILT}
    return {"unusable": f"{payload['main']}: no program of the tree any more", "failed": True}


@functools.lru_cache(maxsize=4)
def _context(request: str) -> Context:
    read = made(BuildRequest, json.loads(request))
    description = None if read.description is None else here(read.description)
    return begin(replace(read, path=here(read.path), description=description))
