"""Vega-Lite specifications of the overview; those of one kernel are made in the page from its data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from porter.report.escaping import plain
from porter.report.gap.model import GapReport, State

_WORK_SHOWN = 12
_FOLDERS_SHOWN = 14
_FEWEST = 3
"""Bars or points below which a plot says nothing that the text does not."""
_CROWD = 300
"""Points above which they are counted in squares."""
_SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"


def overview_charts(report: GapReport) -> list[dict[str, Any]]:
    """Title, what it says in words, and specification of each chart that there is data for."""
    charts = (_trend(report), _work(report), _folders(report), _occupancy(report), _roofline(report), _accuracy(report))
    return [chart for chart in charts if chart is not None]


def _coloured(field: str, variables: Mapping[str, str]) -> dict[str, Any]:
    """A field of names by the page's colours: name -> the style sheet's variable."""
    scale = {"domain": list(variables), "range": [f"--{variable}" for variable in variables.values()]}
    return {"field": field, "type": "nominal", "scale": scale, "legend": {"title": None, "orient": "top"}}


def _chart(name: str, title: str, words: str, **spec: Any) -> dict[str, Any]:
    return {
        "name": name,
        "title": title,
        "words": words,
        "spec": {
            "$schema": _SCHEMA,
            "description": words,
            "width": "container",
            "autosize": {"type": "fit-x", "contains": "padding"},
            **spec,
        },
    }


def _trend(report: GapReport) -> dict[str, Any] | None:
    """Kernels by state over the runs that the history holds."""
    if len(report.history) < _FEWEST:
        return None
    present = [state for state in State if any(one.states.get(state.value) for one in report.history)]
    values = [
        {
            "run": number,
            "date": one.date,
            "commit": one.commit,
            "state": state.label,
            "rank": rank,
            "kernels": one.states.get(state.value, 0),
        }
        for number, one in enumerate(report.history, 1)
        for rank, state in enumerate(present)
    ]
    return _chart(
        "trend",
        "How it went",
        f"Kernels by state in {len(report.history):,} runs, from {report.history[0].date} on.",
        data={"values": values},
        height=220,
        mark={"type": "bar"},
        encoding={
            "x": {"field": "run", "type": "ordinal", "title": "run", "axis": {"labelAngle": 0}},
            "y": {"field": "kernels", "type": "quantitative", "title": "kernels", "axis": {"tickMinStep": 1}},
            "color": _coloured("state", {state.label: state.value for state in present}),
            "order": {"field": "rank"},
            "tooltip": [{"field": name} for name in ("date", "commit", "state", "kernels")],
        },
    )


def _work(report: GapReport) -> dict[str, Any] | None:
    left = [work for work in report.work if work.manual or work.review][:_WORK_SHOWN]
    if len(left) < _FEWEST:
        return None
    values = [
        {"work": f"{work.rule.code} {work.rule.name}", "effort": effort, "places": count, "what": work.rule.title}
        for work in left
        for effort, count in (("manual", work.manual), ("review", work.review))
        if count
    ]
    first = left[0]
    most = f" Most work by hand: {first.rule.code} {first.rule.name}, {first.manual:,}." if first.manual else ""
    words = f"Places left by kind of work.{most}"
    return _chart(
        "work",
        "What kind of work is left",
        words,
        data={"values": values},
        height={"step": 22},
        mark={"type": "bar", "cornerRadiusEnd": 2},
        encoding={
            "y": {"field": "work", "type": "nominal", "sort": None, "title": None, "axis": {"labelLimit": 220}},
            "x": {"field": "places", "type": "quantitative", "title": "places", "axis": {"tickMinStep": 1}},
            "color": _coloured("effort", {"manual": "manual", "review": "review"}),
            "order": {"field": "effort", "sort": "ascending"},
            "tooltip": [{"field": "what"}, {"field": "effort"}, {"field": "places"}],
        },
    )


def _folders(report: GapReport) -> dict[str, Any] | None:
    folders = sorted((f for f in report.folders if f.kernels), key=lambda folder: -folder.kernels)[:_FOLDERS_SHOWN]
    if len(folders) < _FEWEST or len({state for folder in folders for state in folder.states}) < 2:
        return None
    values = [
        {"folder": plain(folder.path), "state": state.label, "kernels": folder.states[state], "rank": rank}
        for folder in folders
        for rank, state in enumerate(State)
        if folder.states.get(state)
    ]
    present = [state for state in State if any(folder.states.get(state) for folder in folders)]
    return _chart(
        "folders",
        "Where the kernels are, and how far",
        f"Kernels by state in the {len(folders)} folders that have most of them.",
        data={"values": values},
        height={"step": 22},
        mark={"type": "bar", "cornerRadius": 1},
        encoding={
            "y": {"field": "folder", "type": "nominal", "sort": None, "title": None, "axis": {"labelLimit": 220}},
            "x": {"field": "kernels", "type": "quantitative", "title": "kernels", "axis": {"tickMinStep": 1}},
            "color": _coloured("state", {state.label: state.value for state in present}),
            "order": {"field": "rank"},
            "tooltip": [{"field": "folder"}, {"field": "state"}, {"field": "kernels"}],
        },
    )


def _occupancy(report: GapReport) -> dict[str, Any] | None:
    """Nothing where every kernel needs the same: the table says that."""
    values = [
        {
            "kernel": plain(build.name or kernel.name),
            "registers": (build.vgprs or 0) + (build.agprs or 0),
            "waves": build.waves_per_simd,
            "target": build.target,
            "limit": build.limited_by or "none",
            "spills": "spills registers" if build.spills else "no spills",
            "href": f"#{kernel.anchor}",
        }
        for kernel in report.kernels
        for build in kernel.builds
        if build.waves_per_simd is not None and build.vgprs is not None
    ]
    if len({value["registers"] for value in values}) < _FEWEST or len({value["waves"] for value in values}) < 2:
        return None
    low = sum(value["waves"] <= 2 for value in values if isinstance(value["waves"], (int, float)))
    words = (
        f"{len(values):,} compiled kernels: vector registers against wavefronts per SIMD; {low:,} have room for two"
        " wavefronts or fewer."
    )
    registers = {"field": "registers", "type": "quantitative", "title": "vector registers per lane (VGPR + AGPR)"}
    waves = {"field": "waves", "type": "quantitative", "title": "wavefronts per SIMD", "axis": {"tickMinStep": 1}}
    if len(values) > _CROWD:
        count = {"aggregate": "count", "type": "quantitative", "title": "kernels", "scale": {"type": "log"}}
        return _chart(
            "occupancy",
            "Registers and occupancy",
            words,
            data={"values": values},
            height=260,
            mark={"type": "rect"},
            encoding={
                "x": {**registers, "bin": {"step": 16}},
                "y": {"field": "waves", "type": "ordinal", "title": "wavefronts per SIMD", "sort": "descending"},
                "color": {**count, "scale": {"type": "log", "range": ["--hover", "--built"]}},
                "tooltip": [{"field": "registers", "bin": {"step": 16}}, {"field": "waves"}, {"aggregate": "count"}],
            },
        )
    return _chart(
        "occupancy",
        "Registers and occupancy",
        words,
        data={"values": values},
        height=260,
        mark={"type": "circle", "size": 60, "opacity": 0.75},
        encoding={
            "x": registers,
            "y": waves,
            "color": {
                "field": "spills",
                "type": "nominal",
                "scale": {"domain": ["no spills", "spills registers"], "range": ["--built", "--wrong"]},
                "legend": {"title": None, "orient": "top"},
            },
            "href": {"field": "href"},
            "tooltip": [{"field": name} for name in ("kernel", "registers", "waves", "limit", "target", "spills")],
        },
    )


def _roofline(report: GapReport) -> dict[str, Any] | None:
    """Kernels below what the GPU's levels and units allow; nothing where none computes on floating-point numbers."""
    if report.roofs is None:
        return None
    rated = {True: "tested band", False: "untested band"}
    values: list[dict[str, Any]] = [
        {
            "kernel": plain(kernel.name),
            "case": plain(f"{one.case} ({one.shape})"),
            "intensity": one.operations / one.memory_bytes,
            "rate": one.operations / one.nanoseconds,
            "low": one.operations / one.nanoseconds / one.band,
            "high": one.operations / one.nanoseconds * one.band,
            "limit": one.limit,
            "band": rated[one.tested],
            "href": f"#{kernel.anchor}",
        }
        for kernel in report.kernels
        for one in kernel.estimates
        if one.operations and one.memory_bytes
    ]
    total = sum(len(kernel.estimates) for kernel in report.kernels)
    if not values:
        return None
    left, right = min(v["intensity"] for v in values) / 3, max(30.0, *(v["intensity"] * 3 for v in values))
    widths = report.roofs.bandwidth
    roofs = [
        {"roof": name, "intensity": at, "rate": min(at * width, max(report.roofs.rate.values()))}
        for name, width in widths.items()
        for at in (left, max(report.roofs.rate.values()) / width, right)
        if left <= at <= right
    ]
    same: dict[int, list[str]] = {}
    for name, rate in report.roofs.rate.items():
        same.setdefault(round(rate), []).append(name)
    ceilings = [{"roof": ", ".join(names), "rate": rate} for rate, names in same.items()]
    lowest = min(report.roofs.bandwidth, key=lambda name: widths[name])
    without = (
        f" {total - len(values):,} more do no floating-point operations or move no bytes."
        if total > len(values)
        else ""
    )
    axis = {"type": "quantitative", "scale": {"type": "log", "nice": False}, "axis": {"format": "~s", "tickCount": 6}}
    across = {"field": "intensity", "title": "operations per byte of memory", **axis}
    up = {"field": "rate", "title": "operations per ns (estimate)", **axis}
    return _chart(
        "roofline",
        f"Estimates below the roofs of {report.roofs.chip}",
        f"Estimates, no measurements: {len(values):,} launches on a model, with their bands, placed by floating-point"
        f" operations and bytes of memory, below the bandwidths of"
        f" {', '.join(report.roofs.bandwidth)} and the rates of {', '.join(report.roofs.rate)}.{without}",
        height=320,
        layer=[
            {
                "data": {"values": roofs},
                "mark": {"type": "line", "color": "--soft", "strokeWidth": 1},
                "encoding": {"x": across, "y": up, "detail": {"field": "roof"}, "tooltip": [{"field": "roof"}]},
            },
            *(
                {
                    "data": {"values": labels},
                    "mark": {"type": "text", "align": align, "dy": dy, "color": "--soft"},
                    "encoding": {"x": across, "y": up, "text": {"field": "roof"}},
                }
                for labels, align, dy in (
                    ([one for one in roofs if one["intensity"] == left and one["roof"] != lowest], "left", -8),
                    ([one for one in roofs if one["intensity"] == left and one["roof"] == lowest], "left", 10),
                    ([{**one, "intensity": right} for one in ceilings], "right", -7),
                )
            ),
            {
                "data": {"values": ceilings},
                "mark": {"type": "rule", "color": "--soft", "strokeDash": [4, 4]},
                "encoding": {"y": up, "tooltip": [{"field": "roof"}, {"field": "rate", "format": ",.0f"}]},
            },
            {
                "data": {"values": values},
                "mark": {"type": "rule", "strokeWidth": 2, "opacity": 0.5},
                "encoding": {
                    "x": across,
                    "y": {**up, "field": "low"},
                    "y2": {"field": "high"},
                    "color": _coloured("band", {rated[True]: "built", rated[False]: "review"}),
                },
            },
            {
                "data": {"values": values},
                "mark": {"type": "circle", "size": 60},
                "encoding": {
                    "x": across,
                    "y": up,
                    "color": _coloured("band", {rated[True]: "built", rated[False]: "review"}),
                    "href": {"field": "href"},
                    "tooltip": [
                        *({"field": name} for name in ("kernel", "case", "limit", "band")),
                        *({"field": name, "format": ",.3g"} for name in ("intensity", "rate", "low", "high")),
                    ],
                },
            },
        ],
    )


def _accuracy(report: GapReport) -> dict[str, Any] | None:
    """Error of the port against that of the original; nothing where all points are on the line of the same."""
    values: list[dict[str, Any]] = []
    for kernel in report.kernels:
        for case in kernel.cases:
            errors = {
                (run.side, output.name): output.rms_error
                for run in case.runs
                for output in run.outputs
                if output.rms_error
            }
            for (side, name), error in errors.items():
                before = errors.get(("original", name))
                if side.startswith("port") and before:
                    values.append(
                        {
                            "case": plain(case.name),
                            "output": plain(name),
                            "original": before,
                            "port": error,
                            "worse": "less accurate" if error > 1.1 * before else "as accurate",
                            "href": f"#{kernel.anchor}",
                        }
                    )
    places = {(f"{value['original']:.1e}", f"{value['port']:.1e}") for value in values}
    if len(places) < _FEWEST or all(0.9 <= value["port"] / value["original"] <= 1.1 for value in values):
        return None
    edges = [min(min(v["original"], v["port"]) for v in values), max(max(v["original"], v["port"]) for v in values)]
    worse = sum(value["worse"] == "less accurate" for value in values)
    axis = {"type": "quantitative", "scale": {"type": "log"}, "axis": {"format": ".0e", "tickCount": 6}}
    return _chart(
        "accuracy",
        "Accuracy of the port",
        f"Root-mean-square error against the reference, original and port, of {len(values):,} outputs;"
        f" the port is less accurate in {worse:,}.",
        height=260,
        layer=[
            {
                "data": {"values": [{"original": edge, "port": edge} for edge in edges]},
                "mark": {"type": "line", "strokeDash": [4, 4], "color": "--line"},
                "encoding": {"x": {"field": "original", **axis}, "y": {"field": "port", **axis}},
            },
            {
                "data": {"values": values},
                "mark": {"type": "circle", "size": 60, "opacity": 0.8},
                "encoding": {
                    "x": {"field": "original", "title": "error of the original", **axis},
                    "y": {"field": "port", "title": "error of the port", **axis},
                    "color": {
                        "field": "worse",
                        "type": "nominal",
                        "scale": {"domain": ["as accurate", "less accurate"], "range": ["--proven", "--wrong"]},
                        "legend": {"title": None, "orient": "top"},
                    },
                    "href": {"field": "href"},
                    "tooltip": [{"field": name} for name in ("case", "output", "original", "port")],
                },
            },
        ],
    )
