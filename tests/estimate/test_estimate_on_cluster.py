"""What goes to a worker and comes back: requests with sweeps, rows with their lines and bytes."""

from __future__ import annotations

import json
from pathlib import Path

from porter.validation.estimate.bench import Estimated, EstimateRequest
from porter.validation.estimate.model import Cost, Estimate
from porter.validation.run.codec import made, plain


def test_requests_and_rows_survive_the_way() -> None:
    sweeps = (("block", (64, 128)), ("launch_bounds", (256,)))
    request = EstimateRequest((Path("a"),), sweeps=sweeps, sizes=(("n", 5),), original=True)
    assert made(EstimateRequest, json.loads(json.dumps(plain(request)))) == request
    cost = Cost("cause", 1.0, (("a.hip:3", 1.0),), "remedy")
    found = Estimate(
        2.0, 1.3, "memory", True, {"l2": 1.0}, 8.0, ("none",), {"l2": 5.0}, (cost,), 7.0, (("a.hip:3", 1.0),)
    )
    row = Estimated("c", "native", "n=5", 2, 2, found, {"SQ_WAVES": 1}, variant="block=64", moved={"asked": 1.0})
    assert made(Estimated, json.loads(json.dumps(plain(row)))) == row
