"""What every sample folder must contain."""

from __future__ import annotations

import inspect
import re
from types import FunctionType

import pytest

from tests.samples.loading import NAMES, SAMPLES, kernels, reference, sources


def _references(sample: str) -> dict[str, FunctionType]:
    found = inspect.getmembers(reference(sample), inspect.isfunction)
    return {name.removeprefix("reference_"): value for name, value in found if name.startswith("reference_")}


def test_there_are_at_least_seventeen() -> None:
    assert len(NAMES) >= 17


@pytest.mark.parametrize("sample", NAMES)
def test_readme_explains_the_sample(sample: str) -> None:
    text = (SAMPLES / sample / "README.md").read_text(encoding="utf-8")
    assert text.startswith(f"# {sample}\n")
    assert "What matters for the port:" in text
    assert "Expected state:" in text
    for kernel in kernels(sample):
        assert re.search(rf"\b{kernel}\b", text), f"{kernel} is not mentioned"


@pytest.mark.parametrize("sample", NAMES)
def test_every_kernel_has_a_reference(sample: str) -> None:
    assert set(_references(sample)) == set(kernels(sample)) != set()


@pytest.mark.parametrize("sample", NAMES)
def test_references_bind_by_parameter_name(sample: str) -> None:
    for kernel, function in _references(sample).items():
        assert function.__doc__, kernel
        for name in inspect.signature(function).parameters:
            documented = re.search(rf"\b{name}\b", function.__doc__)
            assert name in kernels(sample)[kernel] or documented, (
                f"{kernel}: {name} is neither a parameter nor explained"
            )


@pytest.mark.parametrize("sample", NAMES)
def test_the_index_lists_the_sample(sample: str) -> None:
    assert f"| `{sample}` |" in (SAMPLES / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("sample", [name for name in NAMES if name != "torch_extension"])
def test_programs_report_failure_in_the_exit_code(sample: str) -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in sources(sample))
    main = text[text.index("int main()") :]
    assert "EXIT_SUCCESS" in main and "EXIT_FAILURE" in main


@pytest.mark.parametrize("sample", NAMES)
def test_no_check_lets_nan_pass(sample: str) -> None:
    for path in sources(sample):
        assert not re.search(r"fabs\([^;]*\) > ", path.read_text(encoding="utf-8")), path
