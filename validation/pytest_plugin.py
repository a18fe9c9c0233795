"""pytest collects `*.case.toml`: `pytest --porter-cases` runs every case as a test."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from porter.validation.cases.case import Case
    from porter.validation.triton.driver import Checks
    from porter.validation.verdict.outcome import CaseResult, ValidateReport

_CHECKS: pytest.StashKey[Checks] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of `porter validate` that make sense for a test run."""
    group = parser.getgroup("porter", "ported kernels")
    group.addoption("--porter-cases", action="store_true", help="collect *.case.toml and run each case as a test")
    group.addoption("--porter-devices", metavar="NAME,...", help="default: all that can be used here")
    group.addoption("--porter-warp", metavar="MODE,...", default="preserve", help="preserve, native or both")
    group.addoption("--porter-triton", metavar="DEVICE", help="run Triton kernels on a virtual device: gfx942 or ptx")
    group.addoption(
        "--porter-inductor", action="store_true", help="with --porter-triton: what torch.compile generates, as well"
    )
    group.addoption("--porter-port", metavar="TREE", type=Path, help="a port made before")


def pytest_configure(config: pytest.Config) -> None:
    """Before anything is collected: modules ask for a GPU when they are imported."""
    name = config.getoption("--porter-triton")
    if name is None:
        return
    from porter.validation.triton.compiling import why_no_triton
    from porter.validation.triton.driver import triton_device

    from porter.errors import DeviceError, Unusable

    missing = why_no_triton()
    if missing is not None:
        raise pytest.UsageError(f"--porter-triton: {missing}")
    stack = contextlib.ExitStack()
    try:
        config.stash[_CHECKS] = stack.enter_context(
            triton_device(name, cuda=True, inductor=config.getoption("--porter-inductor"))
        )
    except (DeviceError, Unusable) as error:
        raise pytest.UsageError(f"--porter-triton: {error}") from None
    config.add_cleanup(stack.close)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """What the virtual device saw: a run without a launch shows nothing."""
    checks = config.stash.get(_CHECKS, None)
    if checks is None:
        return
    name = config.getoption("--porter-triton")
    terminalreporter.section(f"Triton on the virtual {name}")
    if not checks.launches:
        terminalreporter.line("no kernel was launched")
        return
    terminalreporter.line(f"{checks.launches} launches of {len(checks.kernels)} kernels; tensors on the CPU")
    for note in checks.notes:
        terminalreporter.line(f"note: {note}")


@pytest.fixture
def porter_triton(request: pytest.FixtureRequest) -> Iterator[Checks]:
    """For one test: Triton runs on the virtual gfx942 (or what --porter-triton names), "cuda" is the CPU."""
    checks = request.config.stash.get(_CHECKS, None)
    if checks is not None:
        yield checks
        return
    from porter.validation.triton.compiling import why_no_triton
    from porter.validation.triton.driver import triton_device

    missing = why_no_triton()
    if missing is not None:
        pytest.skip(missing)
    with triton_device("gfx942", cuda=True) as made:
        yield made


def pytest_collect_directory(path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A Python package with cases is a folder like any other: importing it would need its extension, built."""
    from porter.validation.cases.case import SUFFIX

    if not parent.config.getoption("--porter-cases") or not (path / "__init__.py").is_file():
        return None
    return pytest.Dir.from_parent(parent, path=path) if next(path.rglob(f"*{SUFFIX}"), None) is not None else None


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A case file becomes a module of tests."""
    from porter.validation.cases.case import SUFFIX

    if parent.config.getoption("--porter-cases") and file_path.name.endswith(SUFFIX):
        return CaseFile.from_parent(parent, path=file_path)
    return None


class CaseFile(pytest.File):
    """One case file. Its cases are checked together, when the first of them is wanted."""

    _report: ValidateReport | None = None

    def collect(self) -> Iterator[pytest.Item]:
        """One item per case; a file that cannot be read is an error of the collection."""
        from porter.validation.cases.case import CaseError
        from porter.validation.cases.file import load_cases

        try:
            cases = load_cases(self.path)
        except CaseError as error:
            raise self.CollectError(str(error)) from None
        for case in cases:
            yield CaseItem.from_parent(self, name=case.name, case=case)

    def report(self) -> ValidateReport:
        """What became of the cases that were selected."""
        if self._report is None:
            from porter.validation.run.plan import Request, validate

            names = tuple(item.name for item in self.session.items if item.parent is self)
            config = self.config
            devices = config.getoption("--porter-devices")
            request = Request(
                (self.path,),
                tuple(devices.split(",")) if devices else None,
                tuple(config.getoption("--porter-warp").split(",")),
                names,
                tree=config.getoption("--porter-port"),
            )
            self._report = validate(request).report
        return self._report


class CaseFailed(Exception):
    """The verdict was not `passed`."""


class CaseItem(pytest.Item):
    """One case."""

    def __init__(self, *, case: Case, **given: Any) -> None:
        super().__init__(**given)
        self.case = case

    def runtest(self) -> None:
        """Passes, skips with the reason, or fails with the evidence."""
        from porter.validation.verdict.outcome import Status, ValidateReport
        from porter.validation.verdict.report import report_text

        assert isinstance(self.parent, CaseFile)
        report = self.parent.report()
        errors = tuple(error for error in report.errors if error.line == self.case.line)
        result: CaseResult | None = next((case for case in report.cases if case.name == self.name), None)
        if result is None:
            raise CaseFailed("\n".join(f"{e.path}:{e.line}: {e.message}" for e in errors or report.errors))
        if result.status is Status.NOT_RUN:
            pytest.skip(result.reason)
        if result.status is not Status.PASSED:
            raise CaseFailed(report_text(ValidateReport((result,), errors, (), report.settings)))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The verdict is the message; no traceback of ours."""
        return str(excinfo.value) if isinstance(excinfo.value, CaseFailed) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the case stands."""
        return self.path, self.case.line - 1, f"case {self.name}"
