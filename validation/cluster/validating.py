"""`porter validate` with a store."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from porter.validation.cluster.kinds.cases import CaseTrees
from porter.validation.cluster.kinds.validating import Validating
from porter.validation.cluster.run import Where, do_run, ready, store_at
from porter.validation.devices import registry
from porter.validation.run.plan import Outcome, Request

from porter.system.results import Store


@contextlib.contextmanager
def validated(request: Request, where: Where) -> Iterator[tuple[Outcome, Mapping[str, Any], Store]]:
    """The outcome, the head of its document, and the store that has the cases; usable until it is left."""
    kind = Validating(request, CaseTrees())
    wanted = request.devices or registry.DEFAULT
    with Store(store_at(where, kind.name, replace(request, jobs=1))) as store:
        with ready(where, store, kind.name, wanted, registry.DEFAULT) as place:
            kind.use(request.devices or place.devices)
            do_run(kind, store, place, where, place.devices)
        outcome, head = kind.outcome(store, place.why_not)
        store.end(kind.name, head, "cases")
        yield outcome, head, store
