"""Text and Markdown that stay readable."""

from __future__ import annotations

from porter.project.records import Entry, FileRecord, Status, readable
from porter.report.as_json import report_json
from porter.report.document import Header, Report, build_report
from porter.report.markdown import cell, report_markdown
from porter.report.render import dump
from porter.report.text import report_text

HEADER = Header("1.0", "port", "src", "out", {}, notes=("a note",), left_out=("build",), reused=7)


def large_report(files: int = 300) -> Report:
    """Many files with many rewrites, some reviews and a few manual places."""
    records = []
    for number in range(files):
        entries = [Entry(line, 1, "A001", "none", "renamed", None, "cudaMalloc", True) for line in range(1, 40)]
        entries += [Entry(50 + line, 1, "A005", "review", "look here", "k", f"name{line}") for line in range(3)]
        if number % 100 == 0:
            entries.append(Entry(99, 2, "A002", "manual", "no counterpart", "k", "cudaGap"))
        records.append(FileRecord(f"f{number}.cu", f"f{number}.hip", Status.PORTED, entries=tuple(entries)))
    return build_report(HEADER, records, {"A001": "renamed-name"})


def test_text_of_300_files_fits_a_screen_or_two() -> None:
    """Totals first, every manual place, reviews in short; renames only as a number."""
    lines = report_text(large_report()).splitlines()
    assert len(lines) < 50
    assert lines[0] == "porter 1.0 port src -> out"
    assert "11,700 rewritten, 900 to review, 3 manual" in lines[4]
    assert sum(line.endswith("A002 manual no counterpart [k]") for line in lines) == 3
    assert any("first 10 of 900" in line for line in lines)
    assert any("7 were up to date" in line for line in lines)


def test_verbose_text_shows_every_place() -> None:
    """Reviews and rewrites, one line each."""
    text = report_text(large_report(), verbose=True)
    assert text.count(" A005 review ") == 900
    assert text.count(" A001 none ") == 11_700


def test_a_code_with_hundreds_of_causes_is_one_line_more() -> None:
    """A copy of CUTLASS has a thousand instructions without a counterpart: not one of them is worth a line."""
    records = [
        FileRecord(
            f"third/{folder}/f{number}.h",
            "x",
            Status.PORTED,
            entries=tuple(Entry(n, 1, "P102", "manual", f"{folder}{number} op{n}", None, "asm") for n in range(50)),
        )
        for folder, count in (("ours", 1), ("lib/arch", 5))
        for number in range(count)
    ]
    few = FileRecord("a.cu", "x", Status.PORTED, entries=(Entry(1, 1, "A002", "manual", "gap", None, "name"),))
    report = build_report(HEADER, [*records, few], {"P102": "untranslated-ptx"})
    text = report_text(report)
    assert "manual: 301 places need work by hand" in text
    assert text.count(": P102 manual ") == 40
    assert "a.cu:1:1: A002 manual gap" in text
    told = (
        "  ... P102: 260 more causes at 260 places, in 6 files, 250 of them below third/lib/arch; --verbose shows all"
    )
    assert told in text.splitlines()
    assert report_text(report, verbose=True).count(": P102 manual ") == 300


def test_text_has_no_trailing_blanks() -> None:
    """It is pasted into issues."""
    assert all(line == line.rstrip() for line in report_text(large_report(3), verbose=True).splitlines())


def test_markdown_cells_are_only_text() -> None:
    """A kernel name cannot start markup, a link or HTML."""
    assert cell("k<int>|*_x_*[a](b)\n`") == r"k&lt;int&gt;\|\*\_x\_\*\[a\](b) \`"
    entry = Entry(1, 1, "A002", "manual", "<script>alert(1)</script>", "k<|>", "<b>")
    text = report_markdown(build_report(HEADER, [FileRecord("<i>.cu", "x", Status.PORTED, entries=(entry,))], {}))
    assert "<script>" not in text
    assert "<i>" not in text
    assert "<b>" not in text


def test_markdown_has_all_sections() -> None:
    """And every manual place."""
    text = report_markdown(large_report())
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        "# porter port: src",
        "## By rule",
        "## Gaps by name",
        "## Files with work left",
        "## Manual",
        "## Review",
    ]
    assert text.count("**A002** no counterpart (in k)") == 3


def test_json_is_one_line_per_finding() -> None:
    """So that two reports can be compared with diff."""
    text = dump(report_json(large_report(2)))
    assert sum('"code": "A005"' in line for line in text.splitlines()) == 6 + 4


def test_text_cut_from_a_utf8_file_is_readable() -> None:
    """Bytes seen as latin-1 become what the author wrote; other text stays."""
    assert readable("grüße".encode().decode("latin-1")) == "grüße"
    assert readable("gr\xfc\xdfe") == "gr\xfc\xdfe"
    assert readable("→ arrow") == "→ arrow"
