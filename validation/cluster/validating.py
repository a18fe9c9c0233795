"""`porter validate` with a store."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from porter.validation.cluster.kinds.cases import CaseTrees
from porter.validation.cluster.kinds.validating import Compiling, Validating
from porter.validation.cluster.run import Ready, Where, do_run, ready, store_at
from porter.validation.devices import registry
from porter.validation.run.plan import Outcome, Request

from porter.system.results import Store


def _compiled(kind: Validating, store: Store, place: Ready, where: Where) -> dict[str, Mapping[str, tuple[str, str]]]:
    """By task what was compiled for it, by workers that can, for those that cannot."""
    compiling = Compiling(kind)
    do_run(compiling, store, place, replace(where, progress=None), place.devices)
    built = compiling.built(store, store.path.with_name(f"{store.path.name}-built"))
    store.end(compiling.name, {}, "")
    return built


@contextlib.contextmanager
def validated(request: Request, where: Where) -> Iterator[tuple[Outcome, Mapping[str, Any], Store]]:
    """The outcome, the head of its document, and the store that has the cases; usable until it is left."""
    kind = Validating(request, CaseTrees())
    wanted = request.devices or registry.DEFAULT
    only_run = tuple(f"{registry.RUN}{name}" for name in wanted)
    with Store(store_at(where, kind.name, replace(request, jobs=1))) as store:
        with ready(where, store, kind.name, (*wanted, *only_run), registry.DEFAULT) as place:
            kind.use(place.devices)
            needs = place.devices
            if place.has_runners:
                kind.built = _compiled(kind, store, place, where)
                needs = tuple(name for name in needs if name.startswith(registry.RUN))
            do_run(kind, store, place, where, needs)
        outcome, head = kind.outcome(store, place.why_not)
        store.end(kind.name, head, "cases")
        yield outcome, head, store
