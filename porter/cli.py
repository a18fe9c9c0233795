"""The command line: options and exit codes only."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from porter import __version__
from porter.commands.all import all_command
from porter.commands.bench import bench_command
from porter.commands.border import DONE, WORK_LEFT, guarded
from porter.commands.build import build_command
from porter.commands.cases import cases_app
from porter.commands.check import check_command
from porter.commands.comments import comments_command
from porter.commands.headers import headers_command
from porter.commands.lsp import lsp_command
from porter.commands.mcp import mcp_command
from porter.commands.objects import objects_command
from porter.commands.porting import Asked, ported, scanned
from porter.commands.programs import programs_app
from porter.commands.quietly import Quiet
from porter.commands.record import record_command
from porter.commands.report import report_command
from porter.commands.run import run_command
from porter.commands.said import next_step
from porter.commands.validate import validate_command
from porter.report.render import DataFormat, Format
from porter.settings import Handling
from porter.system.quiet import be_quiet

app = typer.Typer(
    help="Ports CUDA code to HIP for AMD GPUs with 64 lanes, and says what is left to do.",
    add_completion=True,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Source = Annotated[Path, typer.Argument(metavar="SRC", help="A CUDA or C++ file, or a folder.", show_default=False)]
Rocm = Annotated[
    str | None, typer.Option(metavar="VERSION", help="The oldest ROCm the port is for; default: the newest known.")
]
Warp = Annotated[
    str | None,
    typer.Option(metavar="preserve|native", help="Keep logical warps of 32 lanes, or widen known patterns to 64."),
]
Style = Annotated[
    str | None,
    typer.Option(metavar="renamed|dual", help="HIP's names in the source, or one source for both vendors."),
]
Torch = Annotated[
    str | None,
    typer.Option(metavar="leave|standalone", help="Leave PyTorch's names to its own hipify, or rename them as well."),
]
Form = Annotated[Format, typer.Option("--format", help="How the report is written to stdout.")]
Jobs = Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="Processes; default: one per core.")]
Strict = Annotated[bool, typer.Option("--strict", help="Exit with 1 when places are left to review, too.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show every review and every rewrite.")]
Config = Annotated[Path | None, typer.Option(help="Settings file; default: porter.toml or [tool.porter] near SRC.")]
Include = Annotated[
    list[str] | None, typer.Option(metavar="GLOB", help="Port only these files; the others are copied.")
]
Exclude = Annotated[list[str] | None, typer.Option(metavar="GLOB", help="Copy these files as they are.")]
Omit = Annotated[list[str] | None, typer.Option(metavar="GLOB", help="Leave these files out of the tree.")]
Gitignored = Annotated[Handling | None, typer.Option(help="Files that git ignores; default: skip.")]
Vendored = Annotated[Handling | None, typer.Option(help="Folders such as third_party; default: port.")]


@app.command("scan")
def scan_command(
    source: Source,
    rocm: Rocm = None,
    warp: Warp = None,
    style: Style = None,
    torch: Torch = None,
    form: Form = Format.TEXT,
    jobs: Jobs = None,
    strict: Strict = False,
    verbose: Verbose = False,
    config: Config = None,
    include: Include = None,
    exclude: Exclude = None,
    omit: Omit = None,
    gitignored: Gitignored = None,
    vendored: Vendored = None,
    quiet: Quiet = False,
) -> None:
    """Report what a port would rewrite and what it would leave; writes nothing."""
    asked = Asked(source, form=form, strict=strict, verbose=verbose, jobs=jobs, config=config)
    asked = asked._replace(rocm=rocm, warp=warp, style=style, torch=torch, gitignored=gitignored, vendored=vendored)
    raise typer.Exit(scanned(_with_globs(asked, include, exclude, omit)))


@app.command("port")
def port_command(
    source: Source,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="OUT", help="Folder (or file) to write the port to.")
    ] = None,
    in_place: Annotated[
        bool, typer.Option("--in-place", help="Change SRC itself; its git tree must be clean.")
    ] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Write nothing; print a diff that git can apply.")] = False,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Compile what can be compiled of the port; an error without a finding becomes one. With --style dual: "
            "show that CUDA's compilers see the original's tokens.",
        ),
    ] = False,
    comments: Annotated[
        bool,
        typer.Option("--comments", help="A marked comment at each place that leaves work (`porter comments`)."),
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite edited files, foreign folders, unclean git trees.")
    ] = False,
    rocm: Rocm = None,
    warp: Warp = None,
    style: Style = None,
    torch: Torch = None,
    form: Form = Format.TEXT,
    jobs: Jobs = None,
    strict: Strict = False,
    verbose: Verbose = False,
    config: Config = None,
    include: Include = None,
    exclude: Exclude = None,
    omit: Omit = None,
    gitignored: Gitignored = None,
    vendored: Vendored = None,
    quiet: Quiet = False,
) -> None:
    """Port a file or a folder and report what is left."""
    asked = Asked(source, form=form, strict=strict, verbose=verbose, jobs=jobs, config=config)
    asked = asked._replace(output=output, in_place=in_place, diff=diff, verify=verify, comments=comments, force=force)
    asked = asked._replace(rocm=rocm, warp=warp, style=style, torch=torch, gitignored=gitignored, vendored=vendored)
    raise typer.Exit(ported(_with_globs(asked, include, exclude, omit)))


def _with_globs(asked: Asked, *globs: list[str] | None) -> Asked:
    include, exclude, omit = (tuple(given or ()) for given in globs)
    return asked._replace(include=include, exclude=exclude, omit=omit)


app.command("all")(all_command)
app.command("bench")(bench_command)
app.command("build")(build_command)
app.command("check")(check_command)
app.command("comments")(comments_command)
app.command("headers")(headers_command)
app.command("lsp")(lsp_command)
app.command("mcp")(mcp_command)
app.command("objects")(objects_command)
app.command("record")(record_command)
app.command("report")(report_command)
app.command("run")(run_command)
app.command("validate")(validate_command)
app.add_typer(cases_app, name="cases")
app.add_typer(programs_app, name="programs")


@app.command("explain")
def explain_command(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="WHAT...",
            help="A code (A001), a rule (renamed-name), a name of CUDA's, a place in a file (src/a.cu:12), or words.",
        ),
    ],
    quiet: Quiet = False,
) -> None:
    """Explain a finding, what becomes of a name of CUDA's by version of ROCm, or whose meaning a line has."""

    @guarded
    def run() -> int:
        from porter.explain import explanation, line_text, place_of

        asked = " ".join(words)
        place = place_of(asked)
        print(explanation(asked) if place is None else line_text(*place), end="")
        next_step("porter", "scan", "SRC", "--verbose", why="all places of a project")
        return DONE

    raise typer.Exit(run())


rules_app = typer.Typer(rich_markup_mode=None, help="List the rules.")
app.add_typer(rules_app, name="rules")
Plain = Annotated[DataFormat, typer.Option("--format", help="Text or JSON.")]


@rules_app.callback(invoke_without_command=True)
def rules_command(context: typer.Context, form: Plain = DataFormat.TEXT, quiet: Quiet = False) -> None:
    """List the rules and every other code that a report can hold."""
    if context.invoked_subcommand is not None:
        return

    @guarded
    def run() -> int:
        from porter.explain import rules_json, rules_text

        print(rules_json() if form is DataFormat.JSON else rules_text(), end="")
        return DONE

    raise typer.Exit(run())


_PASSED_ON = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}


@rules_app.command("derive", context_settings=_PASSED_ON)
def derive_command(context: typer.Context) -> None:
    """Derive the name tables from installed headers (`porter rules derive --help`)."""

    @guarded
    def run() -> int:
        from porter.names.derive.cli import main as derive

        return derive(context.args)

    raise typer.Exit(run())


@app.command("doctor")
def doctor_command(form: Plain = DataFormat.TEXT, quiet: Quiet = False) -> None:
    """Show what is installed and what each part would need."""

    @guarded
    def run() -> int:
        from porter.doctor import doctor_json, doctor_text, examine, is_able

        checks = examine()
        print(doctor_json(checks) if form is DataFormat.JSON else doctor_text(checks), end="")
        if form is DataFormat.TEXT:
            next_step("porter", "all", "SRC", "-o", "OUT", why="with what is found; what is missing is said per step")
        return DONE if is_able(checks) else WORK_LEFT

    raise typer.Exit(run())


def _version(wanted: bool) -> None:
    if wanted:
        print(f"porter {__version__}")
        raise typer.Exit(DONE)


@app.callback()
def top(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_version, is_eager=True)
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, and nothing on what to do next.")] = False,
) -> None:
    """Ports CUDA code to HIP for AMD GPUs with 64 lanes, and says what is left to do."""
    be_quiet(quiet)
