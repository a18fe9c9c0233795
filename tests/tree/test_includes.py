"""Who includes whom."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from porter.cpp.include_graph import IncludeGraph, first_source, include_graph, reached_beyond, reached_from
from porter.cpp.prescan import Scan
from porter.project.reuse import Shown, file_keys, shown_names


def graph_of(**includes: tuple[str, ...]) -> dict[str, Scan]:
    """Scans of files given as `a__b_cu=("c.h",)`: `__` is a slash, `_` a dot."""
    return {name.replace("__", "/").replace("_", "."): Scan(found) for name, found in includes.items()}


def test_resolution() -> None:
    """Beside the file first, then from the root, then by the end of the path."""
    scans = graph_of(
        src__a_cu=("util.h", "inc/x.h", "y.h", "no.h"), src__util_h=(), util_h=(), inc__x_h=(), lib__y_h=()
    )
    graph = include_graph(scans)
    assert graph.edges["src/a.cu"] == ("src/util.h", "inc/x.h", "lib/y.h")
    assert graph.search_folders("src/a.cu") == ("", "lib")


def test_reachable_files_include_those_of_headers_and_survive_loops() -> None:
    """A header that includes its includer is no trap."""
    graph = include_graph(graph_of(a_cu=("b.h",), b_h=("c.h",), c_h=("b.h",), d_h=()))
    assert graph.reachable("a.cu") == ("b.h", "c.h")
    assert graph.users == {"b.h": ["a.cu", "c.h"], "c.h": ["b.h"]}


def test_names_are_shared_within_an_island_only() -> None:
    """A shim in one program says nothing about another program of the same repository."""
    scans = {
        "p/a.cu": Scan(("s.h",)),
        "p/s.h": Scan((), ("cudaX",)),
        "q/b.cu": Scan(("t.h",)),
        "q/t.h": Scan(),
    }
    names = {path: found.declared for path, found in shown_names(include_graph(scans), scans).items()}
    assert names == {"p/a.cu": ("cudaX",), "p/s.h": ("cudaX",), "q/b.cu": (), "q/t.h": ()}


def test_names_reach_a_header_through_the_sources_that_include_both() -> None:
    """Names reach a header through the sources that include it together with their declaration."""
    scans = {
        "common/help.h": Scan(("log.h",)),
        "common/log.h": Scan(("help.h",)),
        "p/a.cu": Scan(("../common/log.h", "dynlink.h")),
        "p/dynlink.h": Scan((), ("cuInit",)),
        "q/b.cu": Scan(("../common/help.h",)),
        "q/dynlink.h": Scan((), ("cuCtxCreate",)),
        "r/ring.h": Scan(("gnir.h",), ("cudaFree",)),
        "r/gnir.h": Scan(("ring.h",)),
    }
    names = {path: found.declared for path, found in shown_names(include_graph(scans), scans).items()}
    assert names["common/help.h"] == names["common/log.h"] == names["p/a.cu"] == ("cuInit",)
    assert names["q/b.cu"] == ()
    assert names["r/ring.h"] == names["r/gnir.h"] == ("cudaFree",)


def test_a_cuda_header_is_the_projects_only_where_a_build_would_find_it() -> None:
    """A copy of cuda_fp8.h in one test does not declare names for the rest: the port would not include it either."""
    scans = {
        "src/a.cu": Scan(("cuda_fp8.h", "util.h")),
        "tests/t/x.cu": Scan(("cuda_fp8.h",)),
        "tests/t/include/cuda_fp8.h": Scan((), ("__nv_fp8_e4m3",)),
        "lib/util.h": Scan(),
    }
    graph = include_graph(scans, lambda name: name == "cuda_fp8.h")
    assert graph.edges["src/a.cu"] == ("lib/util.h",)
    assert graph.edges["tests/t/x.cu"] == ("tests/t/include/cuda_fp8.h",)
    assert shown_names(graph, scans)["src/a.cu"] == Shown()


def test_keys_change_with_what_a_file_depends_on() -> None:
    """A source depends on what it includes; a header also on the sources that it is parsed through."""
    scans = graph_of(a_cu=("b.h",), b_h=(), c_cu=("b.h",), d_cu=())
    graph = include_graph(scans)
    digests = dict.fromkeys(scans, "same")

    def changed_by(path: str) -> list[str]:
        before = file_keys("k", digests, graph, {}, {})
        after = file_keys("k", {**digests, path: "other"}, graph, {}, {})
        return [name for name in before if before[name] != after[name]]

    assert changed_by("b.h") == ["a.cu", "b.h", "c.cu"]
    assert changed_by("a.cu") == ["a.cu", "b.h"]
    assert changed_by("d.cu") == ["d.cu"]
    assert file_keys("another", digests, graph, {}, {})["d.cu"] != file_keys("k", digests, graph, {}, {})["d.cu"]


def test_of_many_files_of_a_name_the_nearest_count() -> None:
    """Otherwise a repository with n copies of a program has n times n edges."""

    def graph_with(copies: int) -> dict[str, tuple[str, ...]]:
        scans: dict[str, Scan] = {"main.cu": Scan(("u.h",))}
        for number in range(copies):
            scans[f"p{number}/src/a.cu"] = Scan(("u.h",))
            scans[f"p{number}/lib/u.h"] = Scan()
            scans[f"p{number}0/lib/v.h"] = Scan(("u.h",))
        return dict(include_graph(scans).edges)

    few, many = graph_with(3), graph_with(30)
    assert few["p1/src/a.cu"] == ("p0/lib/u.h", "p1/lib/u.h", "p2/lib/u.h")
    assert many["p1/src/a.cu"] == ("p1/lib/u.h",)
    assert many["p20/lib/v.h"] == ("p20/lib/u.h",)
    assert len(many["p290/lib/v.h"]) == 30
    assert sum(map(len, many.values())) < 30 * 40


PATHS = tuple(f"{letter}.cu" for letter in "abcdefg")
NAMES = some.lists(some.sampled_from(("cudaA", "cudaB", "cudaC")), max_size=2).map(tuple)


@given(
    some.fixed_dictionaries({path: some.lists(some.sampled_from(PATHS), max_size=2).map(tuple) for path in PATHS}),
    some.fixed_dictionaries(dict.fromkeys(PATHS, NAMES)),
)
def test_names_and_keys_of_any_graph(edges: dict[str, tuple[str, ...]], names: dict[str, tuple[str, ...]]) -> None:
    """A unit is what nothing includes from outside of its circle; it shows all that it reaches together."""
    graph = IncludeGraph(edges, {})
    reached = {path: reached_from(edges, (path,)) for path in PATHS}
    units = [one for one in PATHS if all(other in reached[one] for other in PATHS if one in reached[other])]
    expected = {
        path: {name for unit in units if path in reached[unit] for other in reached[unit] for name in names[other]}
        for path in PATHS
    }
    found = shown_names(graph, {path: Scan((), names[path]) for path in PATHS})
    assert {path: set(one.declared) for path, one in found.items()} == expected
    before = file_keys("", dict.fromkeys(PATHS, "1"), graph, {}, {})
    after = file_keys("", {**dict.fromkeys(PATHS, "1"), "c.cu": "2"}, graph, {}, {})
    seen_with = {path for path in PATHS for one in PATHS if path in reached[one] and "c.cu" in reached[one]}
    assert {path for path in PATHS if before[path] != after[path]} == seen_with


def test_a_chain_of_includes_may_be_as_long_as_the_project() -> None:
    """Neither recursion nor work that grows faster than the chain."""
    paths = [f"{number}.h" for number in range(20_000)]
    graph = IncludeGraph(dict(zip(paths, ((path,) for path in paths[1:]), strict=False)), {})
    scans = {path: Scan() for path in paths} | {paths[-1]: Scan((), ("cudaX",))}
    assert set(shown_names(graph, scans).values()) == {Shown(("cudaX",))}
    assert len(set(file_keys("", dict.fromkeys(paths, "1"), graph, {}, {}).values())) == len(paths)


def test_the_source_that_a_header_is_seen_from() -> None:
    """CUDA's sources before others, the first of them; what no source includes is seen from none."""
    edges = {
        "a.cpp": ("h.h",),
        "b.cu": ("h.h", "i.inl"),
        "c.cu": ("i.inl",),
        "h.h": ("deep.h",),
        "deep.h": ("h.h",),
        "i.inl": (),
        "alone.h": ("deep.h",),
    }
    graph = IncludeGraph(edges, {})
    assert graph.units == {"h.h": "b.cu", "deep.h": "b.cu", "i.inl": "b.cu"}
    for path in edges:
        assert first_source(reached_beyond(graph.users, (path,))) == graph.units.get(path, "")
