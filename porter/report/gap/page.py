"""The gap report as one HTML page that asks no network for anything."""

from __future__ import annotations

import contextlib
import functools
import importlib.metadata
import importlib.resources
import json
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from porter.errors import Unusable
from porter.report.escaping import plain
from porter.report.gap.charts import overview_charts
from porter.report.gap.model import ULP_CLASSES, Build, Case, GapReport, Kernel, Place, State
from porter.system.cache import keep, kept, kept_folder

_PLACES_SHOWN = 200
_ERRORS_SHOWN = 20
_ACTIONS_SHOWN, _ACTIONS_MOST = 8, 300
_FAILED_SHOWN = 200
_FILES_SHOWN = 300
_ROWS_SHOWN = 300
"""Of the table, until more are asked for: a browser lays out thousands of rows slowly. All of them are searched."""
_BREAK = re.compile(r"\n *")
"""Line breaks of the template; texts have none, as `plain` takes them out."""


def page(report: GapReport, files: Mapping[str, str], *, root: str | None = None, link: str | None = None) -> str:
    """The whole page; `files` are the packed sources, `root` their folder for an editor, `link` a file at its host."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=True)
    environment.filters["visible"] = plain
    environment.filters["tight"] = lambda html: Markup(_BREAK.sub("", str(html)))
    environment.filters["number"] = lambda count: f"{count:,}"
    library = chart_library()
    numbers = {path: number for number, path in enumerate(sorted(files), 1)}
    return environment.from_string(_asset("page.html.j2")).render(
        report=report,
        states=report.states,
        State=State,
        rank={state: number for number, state in enumerate(State)},
        numbers=numbers,
        places_shown=_PLACES_SHOWN,
        rows_shown=_ROWS_SHOWN,
        actions_shown=_ACTIONS_SHOWN,
        actions_most=_ACTIONS_MOST,
        failed_shown=_FAILED_SHOWN,
        files_shown=_FILES_SHOWN,
        root=root,
        link=link,
        editor_link=lambda path, line: f"vscode://file{quote(os.fsencode(f'{root}/{path}'))}:{line or 1}",
        host_link=lambda path, line: _host(link or "", report.made.commit, path, line),
        best=_best_build,
        verdict=_verdict,
        style=Markup(_asset("page.css")),
        script=Markup(_asset("page.js")),
        library=Markup(library) if library is not None else None,
        data=Markup(_embedded({**_data(report), "root": root, "link": _template(link), "commit": report.made.commit})),
        kernels=Markup(_embedded([_kernel(kernel, numbers) for kernel in report.kernels])),
        places=Markup(_embedded(_places(report, numbers))),
        files=Markup(_embedded([files[path] for path in sorted(files)])),
    )


@functools.cache
def chart_library() -> str | None:
    """Vega-Lite with all it needs, as one script that is bundled once; None where it is not installed."""
    try:
        import vl_convert
    except ImportError:
        return None
    version = importlib.metadata.version("vl-convert-python")
    path = kept_folder("report") / f"vega-lite-{version}.js"
    known = kept(path)
    if known is not None:
        return known.decode("utf-8")
    bundle: str = vl_convert.javascript_bundle("window.porterEmbed = vegaEmbed;")
    bundle = bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--")
    with contextlib.suppress(OSError):  # without room for it, it is bundled again
        keep(path, bundle.encode())
    return bundle


def _asset(name: str) -> str:
    return (importlib.resources.files("porter") / "report" / "gap" / "assets" / name).read_text("utf-8")


def _embedded(value: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(value, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _template(link: str | None) -> str | None:
    """An address with `{path}` and `{line}`; the page is a program, so that no other scheme than these is taken."""
    if link is None:
        return None
    if not link.startswith(("https://", "http://")):
        raise Unusable(f"--link {link}: write an address that begins with https://")
    return link if "{path}" in link else link.rstrip("/") + "/{path}#L{line}"


def _host(link: str, commit: str, path: str, line: int) -> str:
    text = (_template(link) or "").replace("{commit}", commit or "HEAD")
    return text.replace("{path}", quote(os.fsencode(path))).replace("{line}", str(line or 1))


def _data(report: GapReport) -> dict[str, Any]:
    return {
        "rules": {code: [r.name, r.title, r.explanation, r.hazard] for code, r in report.rules.items()},
        "charts": overview_charts(report),
        "ulps": list(ULP_CLASSES),
        "rows": _ROWS_SHOWN,
        "left_out": report.roofs.left_out if report.roofs is not None else "",
        "states": {state.value: [state.label, state.meaning] for state in State},
    }


def _places(report: GapReport, numbers: Mapping[str, int]) -> list[dict[str, Any]]:
    """Per file what leaves work in it, inside and outside of kernels."""
    by_path: defaultdict[str, list[Place]] = defaultdict(list)
    for work in report.work:
        for place in work.places:
            by_path[place.path].append(place)
    return [{"path": path, "places": list(map(_place, by_path[path]))} for path in sorted(numbers)]


def _kernel(kernel: Kernel, numbers: Mapping[str, int]) -> dict[str, Any]:
    return {
        "id": kernel.anchor,
        "file": numbers.get(kernel.path),
        "path": kernel.path,
        "name": kernel.name,
        "line": kernel.line,
        "last": kernel.last_line,
        "state": kernel.state.value,
        "counts": [kernel.rewritten, kernel.review, kernel.manual],
        "through": [*kernel.through[:_ERRORS_SHOWN], *_further(len(kernel.through) - _ERRORS_SHOWN)],
        "signature": kernel.signature,
        "launches": list(kernel.launches),
        "places": [_place(place) for place in kernel.places],
        "builds": [_build(build) for build in kernel.builds],
        "cases": [_case(case) for case in kernel.cases],
        "instances": [list(one) for one in kernel.instances],
        "estimates": [one._asdict() for one in kernel.estimates],
        "errors": list(kernel.errors[:_ERRORS_SHOWN]),
        "more": max(0, len(kernel.errors) - _ERRORS_SHOWN),
    }


def _further(count: int) -> Iterator[str]:
    if count > 0:
        yield f"{count:,} more"


def _place(place: Place) -> list[Any]:
    return [place.code, place.effort, place.line, place.column, place.message, int(place.fixed), place.suppressed]


def _build(build: Build) -> dict[str, Any]:
    return {**build._asdict(), "notes": list(build.notes)}


def _case(case: Case) -> dict[str, Any]:
    return {
        "name": case.name,
        "status": case.status,
        "reason": case.reason,
        "command": case.command,
        "hidden": list(case.does_not_show),
        "pairs": [list(pair) for pair in case.pairs],
        "runs": [
            {**run._asdict(), "counters": dict(run.counters), "outputs": [o._asdict() for o in run.outputs]}
            for run in case.runs
        ],
    }


def _best_build(kernel: Kernel) -> Build | None:
    """The one that the table shows: that with the least room, of all instances."""
    known = [build for build in kernel.builds if build.waves_per_simd is not None]
    return min(known, key=lambda build: build.waves_per_simd or 0) if known else next(iter(kernel.builds), None)


def _verdict(kernel: Kernel) -> str:
    """One word for all cases."""
    statuses = {case.status for case in kernel.cases}
    if not statuses:
        return ""
    return next((status for status in sorted(statuses) if status not in ("passed", "not-run")), min(statuses))
