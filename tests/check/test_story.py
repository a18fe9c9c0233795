"""A story of ten commits: the gate says the right thing on each."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from porter.check.baseline import read_baseline
from porter.check.fail_on import FailOn
from porter.check.result import State
from porter.check.store import Store
from tests.check.repositories import REDUCE, SPIN, TEXTURE, checked, commit, git, repository, told, write

KERNEL = "__global__ void scale(float *x) { x[threadIdx.x] *= 2.0f; }\n"
ALLOWED = SPIN.replace("  while (", "  // porter: allow[S102] one thread per block takes the lock\n  while (")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """One memory for the whole story, as on a developer's machine."""
    return Store(tmp_path_factory.mktemp("cache") / "known.sqlite")


def test_story(tmp_path: Path, store: Store) -> None:
    """A clean base, then one thing after the other, each against the commit before it."""
    root = repository(tmp_path / "project", {"src/reduce.cu": REDUCE, "src/scale.cu": KERNEL, "README.md": "# x\n"})
    before = git(root, "rev-parse", "HEAD")
    clean = checked(root, store=store)
    assert clean.passed
    assert not clean.findings

    # 1: a hazard
    after = commit(root, {"src/reduce.cu": REDUCE + SPIN})
    result = checked(root, before, store=store)
    assert told(result) == [("S102", "src/reduce.cu")]
    assert result.failing[0].kernel == "locked"
    assert [(kernel.name, kernel.why) for kernel in result.kernels] == [("locked", "new")]
    before = after

    # 2: nothing new, elsewhere
    after = commit(root, {"src/scale.cu": KERNEL.replace("2.0f", "3.0f")})
    result = checked(root, before, store=store)
    assert result.passed
    assert result.looked_at == ("src/scale.cu",)
    assert [(kernel.name, kernel.why) for kernel in result.kernels] == [("scale", "its text changed")]
    before = after

    # 3: the hazard moves down, gets other blanks and comments
    spaced = SPIN.replace("(atomicCAS(lock, 0, 1) != 0)", "(atomicCAS( lock,0,1 )\n      != 0 /* taken */)")
    after = commit(root, {"src/reduce.cu": REDUCE + "// helpers\n\n" + KERNEL.replace("scale", "again") + spaced})
    result = checked(root, before, store=store)
    assert result.passed
    assert [finding.state for finding in result.findings] == [State.PRESENT]
    before = after

    # 4: it moves to another file
    after = commit(root, {"src/reduce.cu": REDUCE, "src/lock.cu": spaced})
    result = checked(root, before, store=store)
    assert result.passed, told(result)
    before = after

    # 5: it is accepted
    assert told(checked(root, store=store)) == [("S102", "src/lock.cu")]
    assert checked(root, store=store, update_baseline=True).passed
    after = commit(root)
    result = checked(root, store=store)
    assert result.passed
    assert [finding.state for finding in result.findings] == [State.ACCEPTED]
    before = after

    # 6: work by hand, which is another thing than a hazard
    after = commit(root, {"src/image.cu": TEXTURE})
    result = checked(root, before, store=store)
    assert {code for code, _ in told(result)} == {"A002"}
    assert checked(root, before, FailOn.MANUAL, store).failing == result.failing
    assert checked(root, before, FailOn.HAZARD, store).passed
    before = after

    # 7: the fix
    after = commit(root, {}, "src/image.cu")
    assert checked(root, before, store=store).passed
    before = after

    # 8: the accepted hazard is fixed, and its entry is left behind
    after = commit(root, {"src/lock.cu": KERNEL.replace("scale", "unlocked")})
    result = checked(root, before, store=store)
    assert not result.passed
    assert not result.failing
    assert [entry.described() for entry in result.stale] == ["src/lock.cu: S102 in locked"]
    assert checked(root, store=store).stale == result.stale
    before = after

    # 9: the stale entry goes
    checked(root, store=store, update_baseline=True)
    after = commit(root)
    assert read_baseline(root / ".porter-baseline.json") == ()
    assert checked(root, before, store=store).passed
    before = after

    # 10: a hazard with a reason
    commit(root, {"src/lock.cu": ALLOWED})
    result = checked(root, before, store=store)
    assert result.passed
    assert [(f.state, f.reason) for f in result.findings] == [(State.SUPPRESSED, "one thread per block takes the lock")]


def test_code_around_a_kernel_counts_as_a_change_of_it(tmp_path: Path) -> None:
    """A helper or a macro may be what the kernel uses; comments and blanks are not."""
    root = repository(tmp_path, {"reduce.cu": REDUCE})
    commit(root, {"reduce.cu": REDUCE.replace("offset = 16", "offset = 8")})
    (kernel,) = checked(root, "HEAD~1").kernels
    assert (kernel.name, kernel.why) == ("reduce", "code around it in its file changed")
    commit(root, {"reduce.cu": "// sums\n" + REDUCE.replace("offset = 16", "offset =  8")})
    assert checked(root, "HEAD~1").kernels == ()


def test_a_header_is_checked_with_all_that_come_to_it(tmp_path: Path) -> None:
    """A change in a header is one of every file that includes it, directly or not, and has what it changes."""
    files = {
        "include/base.cuh": "#pragma once\n#define LANES 32\n",
        "include/middle.cuh": '#pragma once\n#include "base.cuh"\n#define TWICE (2 * LANES)\n',
        "a.cu": '#include "include/middle.cuh"\nint n = TWICE;\n' + KERNEL,
        "c.cu": '#include "include/middle.cuh"\n' + KERNEL.replace("scale", "third"),
        "b.cu": KERNEL.replace("scale", "other"),
    }
    root = repository(tmp_path, files)
    commit(root, {"include/base.cuh": "#pragma once\n#define LANES 64\n"})
    result = checked(root, "HEAD~1")
    assert result.changed == ("include/base.cuh",)
    assert result.dependents == ("a.cu", "include/middle.cuh")
    assert result.parsed <= 6
    assert [(kernel.name, kernel.why) for kernel in result.kernels] == [
        ("scale", "something that its file includes changed")
    ]


def test_a_hazard_in_a_header_is_new_once(tmp_path: Path) -> None:
    """The header's finding is told at the header, however many files include it."""
    include = '#include "lock.cuh"\n'
    root = repository(tmp_path, {"lock.cuh": "#pragma once\n", "a.cu": include, "b.cu": include})
    commit(root, {"lock.cuh": "#pragma once\n" + SPIN.replace("__global__", "static __global__")})
    assert told(checked(root, "HEAD~1")) == [("S102", "lock.cuh")]


def test_one_more_of_what_is_accepted_is_new(tmp_path: Path) -> None:
    """Entries count: the same text twice needs two of them, and one that is too many is stale."""
    root = repository(tmp_path, {"lock.cu": SPIN})
    checked(root, update_baseline=True)
    commit(root, {"again.cu": SPIN})
    assert told(checked(root)) == [("S102", "again.cu")]
    checked(root, update_baseline=True)
    assert checked(root).passed
    commit(root, {}, "lock.cu")
    result = checked(root)
    assert len(result.stale) == 1
    assert not result.failing


def test_a_copy_of_what_is_accepted_elsewhere_is_new(tmp_path: Path) -> None:
    """With a base, too: the entry is about a file that was not looked at, and speaks for nothing else."""
    root = repository(tmp_path, {"lock.cu": SPIN, "reduce.cu": REDUCE})
    checked(root, update_baseline=True)
    commit(root)
    commit(root, {"reduce.cu": REDUCE + SPIN})
    assert told(checked(root, "HEAD~1")) == [("S102", "reduce.cu")]
    commit(root, {}, "lock.cu")
    assert checked(root, "HEAD~2").passed, "it moved"


def test_reasons_and_other_folders_survive_an_update(tmp_path: Path) -> None:
    """A person's reason stays with its entry; a check of one folder leaves entries about others alone."""
    root = repository(tmp_path, {"one/lock.cu": SPIN, "two/image.cu": TEXTURE})
    checked(root, update_baseline=True)
    baseline = root / ".porter-baseline.json"
    text = baseline.read_text().replace('"code": "S102"', '"reason": "only one lane", "code": "S102"')
    baseline.write_text(text)
    (root / "two" / "image.cu").write_text(KERNEL)
    assert checked(root / "one").passed
    checked(root / "one", update_baseline=True)
    entries = read_baseline(baseline)
    assert [entry.reason for entry in entries if entry.mark.code == "S102"] == ["only one lane"]
    assert {entry.mark.path for entry in entries} == {"one/lock.cu", "two/image.cu"}
    assert {entry.mark.path for entry in checked(root).stale} == {"two/image.cu"}


def test_untracked_and_uncommitted_files_count(tmp_path: Path) -> None:
    """The work tree is what is checked; ignored files are not."""
    root = repository(tmp_path, {"reduce.cu": REDUCE, ".gitignore": "out/\n"})
    (root / "lock.cu").write_text(SPIN)
    (root / "out").mkdir()
    (root / "out" / "lock.cu").write_text(SPIN)
    assert told(checked(root, "HEAD")) == [("S102", "lock.cu")]


def test_a_branch_is_compared_with_where_it_began(tmp_path: Path) -> None:
    """What others fixed on the base since then is not this branch's fault."""
    root = repository(tmp_path, {"lock.cu": SPIN, "reduce.cu": REDUCE})
    git(root, "branch", "feature")
    commit(root, {"lock.cu": KERNEL})
    git(root, "checkout", "-q", "feature")
    commit(root, {"reduce.cu": REDUCE + KERNEL})
    result = checked(root, "main")
    assert result.passed
    assert result.changed == ("reduce.cu",)


def test_a_kernel_renamed_or_edited_in_place_is_not_new(tmp_path: Path) -> None:
    """What was there in the base stays known when its function is renamed or its statement edited."""
    root = repository(tmp_path, {"lock.cu": SPIN})
    commit(root, {"lock.cu": SPIN.replace("locked", "guarded")})
    assert checked(root, "HEAD~1").passed
    commit(root, {"lock.cu": SPIN.replace("locked", "guarded").replace("0, 1) != 0", "0, 2) == 1")})
    assert checked(root, "HEAD~1").passed


def test_build_files_are_checked_as_well(tmp_path: Path) -> None:
    """What a CMake file leaves by hand is new once, and stays known when its line moves."""
    cmake = "project(x LANGUAGES CXX)\nadd_library(a a.cpp)\n"
    root = repository(tmp_path, {"CMakeLists.txt": cmake, "a.cpp": "int a;\n"})
    before = commit(root, {"CMakeLists.txt": f"{cmake}target_link_libraries(a CUDA::npps)\n"})
    result = checked(root, "HEAD~1")
    assert told(result) == [("K105", "CMakeLists.txt")]
    assert result.rules["K105"].explanation
    commit(root, {"CMakeLists.txt": f"# what a needs\n{cmake}  target_link_libraries(a CUDA::npps)\n"})
    assert checked(root, before).passed
    assert told(checked(root, "HEAD~2")) == [("K105", "CMakeLists.txt")]


def test_a_kind_of_build_file_is_new_once(tmp_path: Path) -> None:
    """The first Meson file that mentions CUDA is a finding for all of them."""
    root = repository(tmp_path, {"meson.build": "project('x')\n"})
    commit(root, {"meson.build": "project('x', 'cuda')\n"})
    assert told(checked(root, "HEAD~1")) == [("E204", "meson.build")]
    commit(root, {"sub/meson.build": "add_languages('cuda')\n"})
    assert checked(root, "HEAD~1").passed


REPORTED_BUILDS = (
    ("E209", "configure.ac", "AC_PATH_PROG([NVCC], [nvcc])\n"),
    ("E210", "xmake.lua", 'add_files("src/*.cu")\n'),
    ("E211", "SConstruct", "env.Object('k.cu')\n"),
    ("E212", "app.pro", "LIBS += -lcudart\n"),
    ("E213", "build.rs", "cc::Build::new().cuda(true)\n"),
)


@pytest.mark.parametrize(("code", "name", "text"), REPORTED_BUILDS, ids=[row[1] for row in REPORTED_BUILDS])
def test_every_kind_of_build_file_closes_the_gate(tmp_path: Path, code: str, name: str, text: str) -> None:
    """Those that a port only copies, too."""
    root = repository(tmp_path, {"k.cu": KERNEL})
    commit(root, {name: text})
    assert told(checked(root, "HEAD~1")) == [(code, name)]
    assert told(checked(root)) == [(code, name)]


def test_settings_that_a_port_converts_are_no_finding(tmp_path: Path) -> None:
    """What is left of CUDA in the converted file counts, not what is in the file."""
    root = repository(tmp_path, {"k.cu": KERNEL})
    commit(root, {"MANIFEST.in": "include k.cu\n"})
    assert checked(root, "HEAD~1").passed
    assert checked(root).passed
    commit(root, {"setup.cfg": "[build_ext]\ninclude_dirs=/usr/local/cuda/include\n"})
    assert told(checked(root, "HEAD~1")) == [("E208", "setup.cfg")]
    commit(root, {"k.cu": KERNEL + "// more\n"})
    assert checked(root, "HEAD~1").passed, "the finding of before is the same"


def with_submodule(folder: Path, files: Mapping[str, str], inside: Mapping[str, str]) -> Path:
    """A repository with another one in `lib`."""
    library = repository(folder / "library", inside)
    root = repository(folder / "project", files)
    git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "lib")
    commit(root)
    return root


def test_what_another_commit_of_a_submodule_brings(tmp_path: Path) -> None:
    """The submodule is compared with the commit that the base has it at; what it had before is no one's fault."""
    root = with_submodule(
        tmp_path, {"use.cu": '#include "lib/a.cuh"\n' + KERNEL}, {"a.cuh": "#pragma once\n" + TEXTURE}
    )
    assert told(checked(root, "HEAD~1")) == [("A002", "lib/a.cuh")], "it is new with all that it holds"
    assert checked(root, "HEAD").passed
    commit(root / "lib", {"a.cuh": "#pragma once\n" + TEXTURE + SPIN})
    assert told(checked(root, "HEAD")) == [("S102", "lib/a.cuh")], "checked out, and not committed around it"
    commit(root)
    assert told(checked(root, "HEAD~1")) == [("S102", "lib/a.cuh")]
    write(root, {"lib/a.cuh": "#pragma once\n" + TEXTURE + SPIN + SPIN.replace("locked", "twice")})
    assert told(checked(root, "HEAD")) == [("S102", "lib/a.cuh")], "not committed at all"


def test_a_file_that_includes_a_submodule_is_the_same_in_the_base(tmp_path: Path) -> None:
    """What is found in it hangs on the submodule's header, which the base has as well."""
    helper = "__device__ float f(float v) { return __shfl_down_sync(0xffffffffu, v, 1); }\n"
    use = '#include "lib/a.cuh"\n__global__ void k(float *p) {\n  if (threadIdx.x < 5) *p = f(*p);\n}\n'
    root = with_submodule(tmp_path, {"use.cu": use}, {"a.cuh": "#pragma once\n" + helper})
    assert told(checked(root)) == [("W102", "use.cu")]
    commit(root, {"use.cu": use.replace("  if", "  p += 1;\n  if")})
    assert checked(root, "HEAD~1").passed


def test_a_submodule_whose_earlier_commit_is_not_here(tmp_path: Path) -> None:
    """As in a clone of depth 1: all counts as new, and a note says why. One that is not checked out is told, too."""
    root = with_submodule(tmp_path, {"use.cu": KERNEL}, {"a.cu": TEXTURE})
    commit(root / "lib", {"b.cu": KERNEL})
    commit(root)
    git(tmp_path, "clone", "--quiet", "--bare", str(root / "lib"), "whole.git")
    shutil.rmtree(root / "lib")
    git(tmp_path, "clone", "--quiet", "--depth", "1", (tmp_path / "whole.git").as_uri(), str(root / "lib"))
    result = checked(root, "HEAD~1")
    assert told(result) == [("A002", "lib/a.cu")]
    assert any(note.startswith("lib: git lacks the commit") for note in result.notes)
    shutil.rmtree(root / "lib")
    (root / "lib").mkdir()
    result = checked(root, "HEAD~1")
    assert result.passed
    assert any(note.startswith("lib: a submodule that is at another commit") for note in result.notes)


def test_submodules_of_submodules(tmp_path: Path) -> None:
    """Asked in their turn."""
    inner = repository(tmp_path / "inner", {"deep.cu": KERNEL})
    root = with_submodule(tmp_path, {"use.cu": KERNEL}, {"a.cu": KERNEL})
    git(root / "lib", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "inner")
    commit(root / "lib")
    commit(root)
    assert checked(root, "HEAD~1").passed
    commit(root / "lib" / "inner", {"deep.cu": KERNEL + SPIN})
    assert told(checked(root, "HEAD~1")) == [("S102", "lib/inner/deep.cu")]
    assert told(checked(root, "HEAD")) == [("S102", "lib/inner/deep.cu")]


def test_nothing_unchanged_is_parsed_again(tmp_path: Path) -> None:
    """A second check parses nothing; with a base only what changed and depends on it is ever parsed."""
    files = {f"k{number}.cu": KERNEL.replace("scale", f"k{number}") for number in range(30)}
    root = repository(tmp_path / "project", files)
    commit(root, {"k3.cu": files["k3.cu"] + SPIN})
    store = Store(tmp_path / "known.sqlite")
    first = checked(root, "HEAD~1", store=store)
    assert first.looked_at == ("k3.cu",)
    assert first.parsed == 2, "the file, and what it was in the base"
    again = checked(root, "HEAD~1", store=Store(tmp_path / "known.sqlite"))
    assert again.parsed == 0
    assert again.findings == first.findings
    assert checked(root, store=Store(tmp_path / "known.sqlite")).parsed == 29
    (root / "more.cu").write_text(KERNEL)
    assert checked(root, store=Store(tmp_path / "known.sqlite")).parsed == 1


def test_an_allow_comment_that_covers_nothing_is_a_note(tmp_path: Path, store: Store) -> None:
    """Told at its line, new once, and no reason to fail; what it covers is none."""
    root = repository(tmp_path / "project", {"a.cu": ALLOWED})
    assert not checked(root, store=store).with_state(State.NEW)
    kept = ALLOWED.replace("while (", "if (").replace("one thread", "each thread")
    commit(root, {"a.cu": kept})
    result = checked(root, "HEAD~1", store=store, fail_on=FailOn.REVIEW)
    assert result.passed
    (note,) = result.with_state(State.NEW)
    assert (note.code, note.effort, note.fails) == ("E011", "none", False)
    assert "allow[S102]" in kept.splitlines()[note.line - 1]
    commit(root, {"b.cu": KERNEL})
    assert checked(root, "HEAD~1", store=store).with_state(State.NEW) == ()
