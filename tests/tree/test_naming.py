"""Names in the ported tree."""

from __future__ import annotations

from pathlib import Path

from porter.project.discovery import Entry, Kind, Project, is_code
from porter.project.naming import choose_names, support_path
from tests.tree.trees import KERNEL, make_tree, port


def names(*paths: str, **links: str) -> dict[str, str]:
    """Output names of files, and of links given as name=target with `__` for a dot."""
    entries = [Entry(path, Kind.CODE if is_code(path) else Kind.OTHER) for path in paths]
    entries += [Entry(name.replace("__", "."), Kind.LINK, target=target) for name, target in links.items()]
    chosen = choose_names(Project(Path("/nowhere"), tuple(entries)))
    return {entry.path: chosen.output(entry.path) for entry in entries}


def test_only_cuda_sources_get_a_new_name() -> None:
    """`.cu` in any case becomes `.hip`; headers and everything else keep their names."""
    assert names("a.cu", "B.CU", "c.cuh", "d.cpp", "e.h", "f.cu.txt") == {
        "a.cu": "a.hip",
        "B.CU": "B.hip",
        "c.cuh": "c.cuh",
        "d.cpp": "d.cpp",
        "e.h": "e.h",
        "f.cu.txt": "f.cu.txt",
    }


def test_two_sources_never_collapse() -> None:
    """A name that is taken, even in another case, is not used again."""
    assert names("a.cu", "a.hip")["a.cu"] == "a.cu.hip"
    assert names("a.cu", "A.HIP")["a.cu"] == "a.cu.hip"
    assert names("a.cu", "a.hip", "a.cu.hip")["a.cu"] == "a.cu-2.hip"
    both = names("A.cu", "a.cu")
    assert both == {"A.cu": "A.hip", "a.cu": "a.cu.hip"}


def test_names_do_not_depend_on_the_order() -> None:
    """The same files give the same names."""
    assert names("a.cu", "a.CU", "a.hip") == names("a.hip", "a.CU", "a.cu")


def test_copied_sources_keep_their_name() -> None:
    """A `.cu` file that is not ported is not renamed, and neither is a link to it."""
    entries = (Entry("a.cu", Kind.OTHER), Entry("b.cu", Kind.LINK, target="a.cu"))
    chosen = choose_names(Project(Path("/nowhere"), entries))
    assert not chosen.renamed
    assert not chosen.targets


def test_links_follow_renamed_files() -> None:
    """A link to a renamed file points to its new name, and is renamed itself when it was called `.cu`."""
    entries = (
        Entry("src/a.cu", Kind.CODE),
        Entry("b.cu", Kind.LINK, target="./src/../src/a.cu"),
        Entry("c.cu", Kind.LINK, target="b.cu"),
        Entry("latest", Kind.LINK, target="c.cu"),
        Entry("d.cu", Kind.LINK, target="/elsewhere/a.cu"),
    )
    chosen = choose_names(Project(Path("/nowhere"), entries))
    assert chosen.renamed == {"src/a.cu": "src/a.hip", "b.cu": "b.hip", "c.cu": "c.hip"}
    assert chosen.targets == {"b.cu": "./src/../src/a.hip", "c.cu": "b.hip", "latest": "c.hip"}


def test_support_headers_are_found_from_any_depth() -> None:
    """One `../` for each folder above the file."""
    assert support_path("a.hip") == ""
    assert support_path("x/y/a.hip") == "../../"


def test_two_sources_of_an_extension_have_two_objects(tmp_path: Path) -> None:
    """PyTorch's builder makes `x_hip.o` of `x.cpp` and of `x_cuda.hip`; elsewhere the usual name is good."""
    files = {"csrc/x.cpp": "int f();\n", "csrc/x_cuda.cu": KERNEL, "csrc/y_cuda.cu": KERNEL, "csrc/y_api.cpp": "\n"}
    port(make_tree(tmp_path / "plain", files), tmp_path / "one")
    assert (tmp_path / "one" / "csrc" / "x_cuda.hip").is_file()
    setup = (
        "from torch.utils.cpp_extension import CUDAExtension\ns = ['csrc/x.cpp', 'csrc/x_cuda.cu', 'csrc/y_cuda.cu']\n"
    )
    answer = port(make_tree(tmp_path / "torch", {**files, "setup.py": setup}), tmp_path / "two")
    assert (tmp_path / "two" / "csrc" / "x_cuda.cu.hip").is_file()
    assert (tmp_path / "two" / "csrc" / "y_cuda.hip").is_file()
    assert "['csrc/x.cpp', 'csrc/x_cuda.cu.hip', 'csrc/y_cuda.hip']" in (tmp_path / "two" / "setup.py").read_text()
    assert "E111" in {found.entry.code for found in answer.report.findings}
