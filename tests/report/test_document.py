"""The report as a value: pure functions over records."""

from __future__ import annotations

from porter.cpp.prescan import Scan
from porter.model import Calls, Effort
from porter.project.records import BuildUse, Entry, FileRecord, Status, from_line, to_line
from porter.report.document import Counts, Header, Report, build_report

HEADER = Header("1.0", "scan", "src", None, {})
RULES = {"A001": "renamed-name", "A002": "missing-name"}


def entry(code: str, effort: str, **more: object) -> Entry:
    """A finding in stored form."""
    return Entry(1, 1, code, effort, "message", **more)  # type: ignore[arg-type]


def record(path: str, *entries: Entry, **more: object) -> FileRecord:
    """A ported file."""
    return FileRecord(path, path, Status.PORTED, entries=entries, **more)  # type: ignore[arg-type]


def kernel(name: str, *callees: str) -> dict[str, object]:
    """A kernel that calls some."""
    names = ("parameters", "template_parameters", "attributes", "launch_bounds", "shared", "launches")
    lists: dict[str, object] = {key: [] for key in names}
    counts = {"typed": True, "rewritten": 0, "review": 0, "manual": 0}
    about = {"name": name, "qualified": name, "line": 1, "span": [1, 2]}
    return {**about, **lists, **counts, "callees": list(callees)}


def report(*records: FileRecord) -> Report:
    """The report over some records."""
    return build_report(HEADER, records, RULES)


def test_counts_leave_out_what_is_suppressed() -> None:
    """A suppressed finding is counted as such and nowhere else."""
    found = report(
        record(
            "a.cu",
            entry("A001", "none", fixed=True),
            entry("A001", "review", fixed=True),
            entry("A002", "manual"),
            entry("A002", "manual", suppressed="known"),
        )
    )
    assert found.counts == Counts(rewritten=2, review=1, manual=1)
    assert found.suppressed == 1
    assert len(found.with_effort(Effort.MANUAL)) == 1
    assert [(line.code, line.rule, line.counts) for line in found.codes] == [
        ("A001", "renamed-name", Counts(2, 1, 0)),
        ("A002", "missing-name", Counts(0, 0, 1)),
    ]


def test_gaps_are_ordered_by_work_and_places() -> None:
    """Manual ones first, then by number of places; names without work are no gaps."""
    found = report(
        record("a.cu", entry("A002", "manual", name="one"), entry("A001", "none", name="fine", fixed=True)),
        record("b.cu", *(entry("A005", "review", name="often") for _ in range(5)), entry("A002", "manual", name="two")),
        record("c.cu", entry("A002", "manual", name="two")),
    )
    assert [(gap.name, gap.places, gap.files) for gap in found.gaps] == [("two", 2, 2), ("one", 1, 1), ("often", 5, 1)]


def test_a_kernel_answers_for_the_functions_it_calls() -> None:
    """Work in a device function of a file that the kernel's includes is left to the kernels that call it."""
    calls = (Calls("k", "review", ("helper",)), Calls("other", "none", ()))
    found = report(
        record(
            "a.cu",
            entry("S103", "review", kernel="k"),
            kernels=(kernel("k"), kernel("other")),
            calls=calls,
            scan=Scan(("b.cuh",)),
        ),
        record("b.cuh", entry("A002", "manual", kernel="ns::helper"), calls=(Calls("ns::helper", "manual", ()),)),
    )
    first, second = found.kernels
    assert (first.counts, first.through, first.left) == (Counts(0, 1, 0), ("ns::helper",), "manual")
    assert (second.through, second.left) == ((), "none")


def test_a_kernel_without_a_row_answers_for_what_clang_says_it_calls() -> None:
    """Macros of other files make it."""
    found = report(
        record(
            "a.cu",
            entry("A002", "manual", kernel="helper"),
            kernels=(kernel("k", "helper"),),
            calls=(Calls("helper", "manual", ()),),
        )
    )
    assert found.kernels[0].left == "manual"


def test_one_build_finding_per_kind() -> None:
    """At the file nearest to the root."""
    found = report(
        record("a/CMakeLists.txt", build=BuildUse("E201", 3, 4)),
        record("CMakeLists.txt", build=BuildUse("E201", 5, 6)),
        record("z/Makefile", build=BuildUse("E202", 1, 1)),
    )
    places = [(located.path, located.entry.code, located.entry.line) for located in found.findings]
    assert places == [("CMakeLists.txt", "E201", 5), ("z/Makefile", "E202", 1)]
    assert found.left == "manual"


def test_an_empty_report() -> None:
    """Nothing to say is not an error."""
    assert report().left == "none"


def test_records_survive_the_manifest() -> None:
    """Written as a line and read back, nothing is lost."""
    original = record(
        "a\udcff.cu",
        entry("A001", "none", kernel="k", name="x", fixed=True, suppressed="why"),
        key="0" * 64,
        sha256="1" * 64,
        mode=0o755,
        lines=3,
        build=BuildUse("E201", 1, 2),
        support=("porter/x.hpp",),
        kernels=(kernel("k", "f"),),
        calls=(Calls("k", "none", ("f", ".g")),),
    )
    assert from_line(to_line(original)) == original
