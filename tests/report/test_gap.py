"""The gap report without a browser: what is put together from which documents, as Markdown, text and HTML."""

from __future__ import annotations

import base64
import csv
import io
import json
import re
import shlex
import zlib
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from porter.errors import Unusable
from porter.report.gap.as_markdown import MOST_CHARACTERS, markdown
from porter.report.gap.assemble import gap_report
from porter.report.gap.history import past_runs
from porter.report.gap.inputs import Inputs, read_inputs
from porter.report.gap.model import GapReport, State
from porter.report.gap.page import chart_library
from porter.report.gap.write import Wish, wished, written
from tests.cli.command import porter
from tests.report.gap_documents import (
    BIDI,
    NASTY_PATH,
    built,
    case,
    compared,
    estimated,
    kernel_build,
    ported,
    profiled,
    validated,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Project, port and documents."""
    folder = tmp_path_factory.mktemp("gap")
    for name, document in (("port", ported(folder)), ("build", built()), ("validate", validated())):
        (folder / f"{name}.json").write_text(json.dumps(document))
    return folder


@pytest.fixture(scope="module")
def inputs(folder: Path) -> Inputs:
    """All documents."""
    return read_inputs([folder / f"{name}.json" for name in ("port", "build", "validate")], folder)


@pytest.fixture(scope="module")
def report(inputs: Inputs) -> GapReport:
    """What they come to."""
    return gap_report(inputs, {})


def test_states_follow_the_evidence(report: GapReport) -> None:
    """What is wrong outweighs what is left, and a run outweighs a build."""
    states = {kernel.name: kernel.state for kernel in report.kernels}
    assert states == {
        "locked": State.WRONG,
        "look_up": State.MANUAL,
        "nasty": State.MANUAL,
        "scale": State.BROKEN,
        "block_sum": State.PROVEN,
    }
    assert [kernel.state for kernel in report.kernels] == sorted(states.values(), key=list(State).index)
    assert report.done == 1


def test_evidence_finds_its_kernel(report: GapReport) -> None:
    """By name without template arguments, and by path from wherever the other document was made."""
    kernels = {kernel.name: kernel for kernel in report.kernels}
    assert kernels["block_sum"].builds[0].vgprs == 24
    assert kernels["locked"].builds[0].waves_per_simd == 1
    assert kernels["locked"].cases[0].runs[1].reason == "out[3] is 1.0, expected 2.0"
    assert kernels["look_up"].errors == ("texture/look.cu:2: unknown type <b>cudaTextureObject_t</b>",)
    assert kernels["block_sum"].cases[0].max_ulps == "3-4"
    assert report.devices == (("original", "ptx", 32, 2, 2), ("port", "gfx942", 64, 2, 1))
    assert report.open_questions == ("memory ordering between blocks", "time")


def test_a_port_alone_says_what_it_lacks(inputs: Inputs) -> None:
    """Without builds and runs nothing is called built or proven."""
    alone = gap_report(replace(inputs, builds=(), validations=()), {})
    assert {kernel.state for kernel in alone.kernels} <= {State.MANUAL, State.REVIEW, State.PORTED}
    assert any("porter build" in text for text in alone.missing)
    assert any("porter validate" in text for text in alone.missing)


def test_markdown_is_cut_to_fit(report: GapReport) -> None:
    """A comment of GitHub's holds it, and says how much is not shown."""
    open_kernels = [kernel for kernel in report.kernels if kernel.state is State.MANUAL]
    text = markdown(replace(report, kernels=tuple(open_kernels * 3000)))
    assert len(text) <= MOST_CHARACTERS
    assert re.search(r"\.\.\. and [\d,]+ more\.", text)


@pytest.mark.parametrize("form", ["markdown", "text"])
def test_texts_are_harmless(inputs: Inputs, form: str) -> None:
    """No character turns text around, and Markdown holds no HTML that is not ours."""
    text = written(inputs, form)
    assert "\u202e" not in text
    assert "locked" in text
    if form == "markdown":
        assert "<script" not in text
        assert "<img" not in text


class Elements(HTMLParser):
    """Collects tags, attributes and the text of scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """One tag."""
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        """Text inside an element."""
        if self.cdata_elem == "script":
            self.scripts[self.tags[-1][1].get("id") or "code"] = data


@pytest.fixture(scope="module")
def elements(inputs: Inputs) -> Elements:
    """The page, parsed by a parser of HTML."""
    parser = Elements()
    parser.feed(written(inputs, "html"))
    return parser


def test_the_page_is_one_file(elements: Elements) -> None:
    """Nothing in it is loaded from elsewhere, and names of the project made no elements and no attributes."""
    names = [tag for tag, _ in elements.tags]
    assert names.count("script") == (6 if chart_library() is not None else 5)
    assert "img" not in names
    assert "link" not in names
    for _, attributes in elements.tags:
        assert not [name for name in attributes if name.startswith("on") and name != "onsubmit"]
        assert attributes.get("src") is None
        assert (attributes.get("href") or "#").startswith(("#", "vscode://file/"))
    policy = next(a["content"] for tag, a in elements.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'")


def test_the_page_holds_both_sides(elements: Elements, folder: Path) -> None:
    """Original and port of every file, as they are on disk but for lines without end."""
    places: list[dict[str, Any]] = json.loads(elements.scripts["places"])
    packed = json.loads(elements.scripts["files"])
    files = {
        one["path"]: json.loads(zlib.decompress(base64.b64decode(p), -15))
        for one, p in zip(places, packed, strict=True)
    }
    assert "\n".join(files["reduce/sum.cu"]["old"]) == (folder / "project/reduce/sum.cu").read_text()
    assert "\n".join(files["reduce/sum.cu"]["new"]) == (folder / "out/reduce/sum.hip").read_text()
    long = files[NASTY_PATH]["old"][1]
    assert BIDI in long
    assert re.search(r"\.\.\. \([\d,]+ more\)$", long)
    locked = next(kernel for kernel in json.loads(elements.scripts["kernels-data"]) if kernel["name"] == "locked")
    assert (locked["line"], locked["last"]) == (8, 12)


def test_sources_outside_the_tree_are_not_read(folder: Path, tmp_path: Path) -> None:
    """A document that names a file elsewhere, or a link that leads there, shows nothing of it."""
    secret = tmp_path / "secret.cu"
    secret.write_text("SECRET\n")
    document = json.loads((folder / "port.json").read_text())
    for one in (*document["kernels"], *document["findings"]):
        one["path"] = "../" * 12 + str(secret)
    document["files"] = [{**document["files"][0], "path": "../" * 12 + str(secret)}]
    (tmp_path / "port.json").write_text(json.dumps(document))
    page = written(read_inputs([tmp_path / "port.json"], folder), "html")
    assert json.loads(re.search(r'id="files">(.*?)</script>', page, re.DOTALL)[1]) == []  # type: ignore[index]


def test_a_name_that_is_no_text(tmp_path: Path) -> None:
    """Bytes of a name that are no UTF-8 stand in links as they are."""
    document = json.loads(json.dumps(ported(tmp_path)))
    document["files"][0]["path"] = "a\udcff.cu"
    for finding in document["findings"]:
        finding["path"] = "a\udcff.cu"
    (tmp_path / "port.json").write_text(json.dumps(document))
    wish = Wish("html", None, None, link="https://host/{path}")
    page = wished(read_inputs([tmp_path / "port.json"], tmp_path), wish)
    assert "/a%FF.cu" in page


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not JSON"),
        ("[]", "not a document"),
        ('{"schema": "porter-build-1"}', "no report of `porter scan`"),
    ],
)
def test_wrong_files_are_refused(tmp_path: Path, content: str, message: str) -> None:
    """With the file's name and what is wrong."""
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(Unusable, match=message):
        read_inputs([tmp_path / "x.json"], tmp_path)


def test_the_command_chooses_the_format_by_the_name(folder: Path) -> None:
    """`-o x.html` is a page, `-o x.md` Markdown, and stdout text."""
    documents = ("port.json", "build.json", "validate.json")
    assert porter("report", *documents, "-o", "report.html", folder=folder).code == 0
    assert (folder / "report.html").read_text().startswith("<!doctype html>")
    assert porter("report", *documents, "-o", "report.md", folder=folder).code == 0
    assert (folder / "report.md").read_text().startswith("## Porting gaps")
    shown = porter("report", *documents, folder=folder)
    assert shown.code == 0
    assert "1 of 5 kernels have nothing left to do" in shown.stdout


def test_the_first_screen_says_what_was_not_run(inputs: Inputs) -> None:
    text = written(inputs, "text")
    assert text.index("Nothing was run on an AMD GPU") < text.index("do next")
    assert "2 of 3 files do not build" in text


def test_a_unit_without_kernels_that_fails_is_in_every_form(inputs: Inputs) -> None:
    unit = {"path": "host.cpp", "target": "gfx942", "status": "failed", "reason": "the compiler refuses it"}
    error = {"severity": "error", "message": "no member named 'warp'", "path": "host.cpp", "line": 7}
    build = {**inputs.builds[0], "units": [*inputs.builds[0]["units"], {**unit, "diagnostics": [error]}]}
    changed = replace(inputs, builds=(build,))
    for form in ("text", "markdown", "html", "actions"):
        assert "no member named" in written(changed, form), form


def test_actions_are_ranked_and_have_a_place_an_effort_and_its_basis(inputs: Inputs) -> None:
    rows = list(csv.DictReader(io.StringIO(written(inputs, "actions"))))
    kinds = [row["kind"] for row in rows]
    assert kinds == sorted(
        kinds, key=["tool", "unit", "wrong", "manual", "run", "case", "todo", "instances", "review", "gpu"].index
    )
    assert all(int(row["minutes"]) > 0 and row["basis"] for row in rows)
    assert all(row["path"] and row["owner"] for row in rows if row["kind"] not in ("run", "gpu"))
    assert rows[-1]["kind"] == "gpu" and "AMD GPU" in rows[-1]["what"]
    assert {row["path"] for row in rows if row["kind"] == "case"} >= {"plain.cu", "texture/look.cu"}
    assert rows[-1]["command"] == f"porter validate {shlex.quote(inputs.report['source'])} --devices hip"


def test_places_that_read_alike_cost_a_change_and_not_a_thought(inputs: Inputs) -> None:
    """778 calls of one name are not 778 problems; 778 names are."""

    def minutes(message: str) -> int:
        live = [one for one in inputs.report["findings"] if one["effort"] == "manual" and not one["suppressed"]]
        places = [{**live[0], "line": 10 + at, "message": message.format(at)} for at in range(778)]
        rows = csv.DictReader(
            io.StringIO(written(replace(inputs, report={**inputs.report, "findings": places}), "actions"))
        )
        return next(int(row["minutes"]) for row in rows if row["kind"] == "manual")

    one_cause, lines_only, many_causes = (minutes(text) for text in ("no gather", "no gather at {}", "no gather_{}"))
    assert one_cause == lines_only
    assert 600 < one_cause < many_causes / 4


def test_csv_has_every_kernel_and_no_formula(inputs: Inputs) -> None:
    rows = list(csv.DictReader(io.StringIO(written(inputs, "csv"))))
    assert {row["kernel"] for row in rows} == {"block_sum", "locked", "look_up", "nasty", "scale"}
    changed = {**inputs.report, "kernels": [{**inputs.report["kernels"][0], "qualified": "=cmd()"}]}
    assert "\n'=cmd()," in written(replace(inputs, report=changed), "csv")


def test_an_instance_that_was_not_run_is_not_agreed_on(inputs: Inputs) -> None:
    """Registers of `<double>` beside the run of `<float>` prove nothing of `<double>`."""
    report = {**inputs.report, "kernels": [dict(k) for k in inputs.report["kernels"] if k["name"] == "block_sum"]}
    builds = [kernel_build(f"void block_sum<{kind}>(T*)", "reduce/sum.cu") for kind in ("float", "double")]
    one = {**case("block_sum", "reduce/sum.cu"), "kernel": "block_sum<float>"}
    both = [one, {**one, "kernel": "block_sum<double>"}]
    states = []
    for cases in ([one], both):
        documents = replace(
            inputs,
            report=report,
            builds=({"schema": "porter-build-1", "units": [], "kernels": builds},),
            validations=({"schema": "porter-validate/1", "cases": cases},),
        )
        states.append(gap_report(documents, {}).kernels[0].state)
    assert states == [State.PARTLY, State.PROVEN]


def test_the_history_grows_by_what_changed(inputs: Inputs, tmp_path: Path) -> None:
    file = tmp_path / "history.jsonl"
    wish = Wish("text", history=file)
    wished(inputs, wish)
    wished(inputs, wish)
    assert len(file.read_text().splitlines()) == 1
    wished(replace(inputs, validations=()), wish)
    assert len(past_runs(file)) == 2
    file.write_text("{}\n")
    with pytest.raises(Unusable, match=r"history\.jsonl:1"):
        wished(inputs, wish)


def test_places_link_to_the_host(inputs: Inputs) -> None:
    page = wished(inputs, Wish("html", link="https://host.example/p/blob/{commit}", editor=False))
    assert 'href="https://host.example/p/blob/HEAD/plain.cu#L2"' in page
    assert "vscode://" not in re.sub(r"<script>.*", "", page, flags=re.DOTALL)
    with pytest.raises(Unusable, match="https"):
        wished(inputs, Wish("html", link="javascript:alert(1)"))


def test_a_profiled_program_is_read_as_estimates(inputs: Inputs) -> None:
    """The kernel is found by the lines of the port that its time goes to; a library's of the same name is not it."""
    report = gap_report(replace(inputs, runs=(profiled(),)), {})
    (locked,) = (kernel for kernel in report.kernels if kernel.name == "locked")
    (one,) = locked.estimates
    assert (one.case, one.shape, one.nanoseconds) == ("./app <b>10", "30 blocks of 256, 3 launches", 700.0)
    assert one.lines == ((5, 0.6), (7, 0.25)) and report.roofs is not None
    both = gap_report(replace(inputs, estimates=(estimated(),), runs=(profiled(),)), {})
    assert sum(len(kernel.estimates) for kernel in both.kernels) == 3


def test_whole_programs(inputs: Inputs, tmp_path: Path) -> None:
    """What differs comes first and is wrong; what could not be compared is an action of another kind."""
    path = tmp_path / "programs.json"
    path.write_text(json.dumps(compared()))
    (tmp_path / "port.json").write_text(json.dumps(inputs.report))
    read = read_inputs((tmp_path / "port.json", path), inputs.folder)
    assert read.programs == (compared(),) and not read.unknown
    report = gap_report(replace(inputs, programs=read.programs), {})
    assert [one.verdict for one in report.programs] == ["differ", "too-long", "agree", "agree"]
    assert [one.is_wrong for one in report.programs] == [True, False, False, False]
    assert [one.counted for one in report.programs] == ["1 and 1,200", "1", "1 and 1", "1 and 1"]
    assert [one.told for one in report.programs][2:] == ["agree", "agree; both sides say that they failed"]
    assert "4 whole programs of both sides ran on virtual devices, 2 agree." in report.ran
    actions = {one.what: one for one in report.actions if one.what.startswith("program ")}
    assert [(one.kind, one.kernels) for one in actions.values()] == [("wrong", 2), ("todo", 0)]
    assert all("--compare" in one.command for one in actions.values())
    alone = gap_report(replace(inputs, builds=(), validations=(), programs=read.programs), {})
    assert alone.ran.startswith("No case was run. 4 whole programs")
    assert any(text.startswith("No case was run: no kernel's own result") for text in alone.missing)


@pytest.mark.parametrize("form", ["markdown", "text", "html"])
def test_whole_programs_are_shown(inputs: Inputs, form: str) -> None:
    text = written(replace(inputs, programs=(compared(),)), form)
    assert "both fail" in text and "1 and 1,200" in text
    assert "\u202e" not in text
    if form != "text":
        assert "<script>alert(5)" not in text


@pytest.mark.parametrize("verdict", ["fault", "crashed", "not-built", "no-launch"])
@pytest.mark.parametrize("side", ["original", "port"])
def test_only_the_port_can_be_wrong(verdict: str, side: str, inputs: Inputs) -> None:
    document = compared()
    document["programs"] = [{**document["programs"][0], "verdict": verdict, "side": side}]
    (one,) = gap_report(replace(inputs, programs=(document,)), {}).programs
    assert one.is_wrong is (side == "port")


def test_a_run_without_a_profile_adds_nothing(inputs: Inputs) -> None:
    run = {name: value for name, value in profiled().items() if name != "profile"}
    report = gap_report(replace(inputs, runs=(run,)), {})
    assert report.roofs is None and not any(kernel.estimates for kernel in report.kernels)


def test_who_waits_are_kernels(inputs: Inputs) -> None:
    """Those with the place in them, and those that call a function with it; not the function itself, nor host code."""
    kernels = [dict(kernel, through=[]) for kernel in inputs.report["kernels"]]
    assert len(kernels) > 3
    kernels[1]["through"] = kernels[2]["through"] = ["n::helper"]
    finding = {**inputs.report["findings"][0], "code": "A002", "effort": "manual", "suppressed": None, "fixed": False}
    inside = [(kernels[0]["path"], kernels[0]["qualified"])] * 2
    where = [*inside, ("a.cuh", "n::helper<int, m::T>"), ("a.cuh", "n::helper<int>"), ("b.cu", "host"), ("b.cu", None)]
    findings = [
        {**finding, "path": path, "kernel": kernel, "line": line} for line, (path, kernel) in enumerate(where, 1)
    ]
    report = gap_report(replace(inputs, report={**inputs.report, "kernels": kernels, "findings": findings}), {})
    (action,) = [one for one in report.actions if one.kind == "manual"]
    assert (action.places, action.kernels) == (6, 3)
    assert report.work[0].kernels == 3
