"""Profiles of a real GPU beside the counters: both shapes of the CSV, and which kernel is which."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import jsonschema
import pytest
from porter.validation.estimate.imported import Counted, beside, read_profile, same_kernel
from typer.testing import CliRunner

from porter.cli import app
from porter.errors import Unusable
from porter.report import schemas
from tests.estimate.test_estimate import CASE, COPIES

PROFILES = Path(__file__).with_name("profiles")
LONG, WIDE = PROFILES / "rocprofv3_long.csv", PROFILES / "rocprof_compute_wide.csv"


def test_a_row_per_counter() -> None:
    copy, other = read_profile(LONG.read_bytes(), "x")
    assert (copy.of.items, copy.of.block, copy.count) == (20224, 256, 2)
    assert copy.nanoseconds == (4000, 3000, 5000)
    assert copy.counters == {"SQ_WAVES": 316, "TCC_REQ_sum": 2000}
    assert other.of.kernel == "void ns::other<float, 4>(float*)"


def test_a_column_per_counter_and_channels_added_up() -> None:
    (copy,) = read_profile(gzip.compress(WIDE.read_bytes()), "x")
    assert copy.counters["TCC_REQ_sum"] == 250 and copy.counters["TCP_TCC_READ_REQ_sum"] == 65536
    assert copy.counters["GRBM_COUNT"] == 7 and copy.count == 2 and copy.nanoseconds == (8900, 8800, 9000)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a,b\n1,2\n",
        "Kernel_Name,Grid_Size,Workgroup_Size\nk,1,1\n",
        "Kernel_Name,Grid_Size,Workgroup_Size,SQ_WAVES\nk,64,64,many\n",
        "Kernel_Name,Grid_Size,Workgroup_Size,SQ_WAVES\nk,64\n",
    ],
)
def test_what_is_no_profile_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(Unusable, match=r"p\.csv"):
        read_profile(text.encode(), "p.csv")


@pytest.mark.parametrize(
    ("case", "profile", "same"),
    [
        ("copy", "copy(float const*, float*, int)", True),
        ("ns::add<float>", "void ns::add<float>(float*, int)", True),
        ("ns::add<float, 4>", "void ns::add<float,4>(float*, int)", True),
        ("ns::add<float>", "void ns::add<double>(double*, int)", False),
        ("add", "void add<double>(double*)", True),
        ("add<float>", "add.kd", True),
        ("(anonymous namespace)::k", "(anonymous namespace)::k(int*)", True),
        ("copy", "recopy(float*)", False),
    ],
)
def test_names(case: str, profile: str, same: bool) -> None:
    assert same_kernel(case, profile) is same


def test_only_the_same_size_is_laid_beside() -> None:
    profile = read_profile(LONG.read_bytes(), "x")
    row = Counted("c", "copy", "n=20000", "preserve", 79, 3000.0, 1.3, {"SQ_ITEMS": 20224, "SQ_WAVES": 316})
    (found,) = beside([row], profile)
    assert found.counters == {"SQ_WAVES": (316.0, 316.0)} and found.is_within is False
    assert not list(beside([row._replace(blocks=158)], profile))
    (near,) = beside([row._replace(nanoseconds=3500.0)], profile)
    assert near.is_within is True


def test_command(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text(COPIES)
    (tmp_path / "a.case.toml").write_text('schema = "porter-case/1"\nsource = "a.cu"\n' + CASE.format("copy"))
    wanted = ["bench", str(tmp_path), "--devices", "gfx942", "--profile-import", str(LONG)]
    document = json.loads(CliRunner().invoke(app, [*wanted, "--format", "json"]).stdout)
    jsonschema.validate(document, schemas.load("estimate"))
    if document["estimates"][0]["estimate"] is None:
        pytest.skip(document["estimates"][0]["reason"])
    (one,) = document["profile"]
    assert one["counters"]["SQ_WAVES"] == [316, 316] and one["dispatches"] == 2
    text = CliRunner().invoke(app, wanted).stdout
    assert "measured there 4.0 us (3.0 us - 5.0 us)" in text and "x 1.000" in text
    assert "no case like void ns::other<float, 4>(float*), 64 work-items in blocks of 64" in text
    assert CliRunner().invoke(app, [*wanted[:-1], str(tmp_path / "a.cu")]).exit_code == 2
