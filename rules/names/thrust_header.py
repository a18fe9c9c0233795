"""A015: parts of Thrust that another of its headers brought along."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.headers import headers_of, include_names
from porter.engine.renames import is_wrapped, namespace_aliases
from porter.engine.rule import Effort, Finding, Rule, Unit, clean, fixes

DECLARES = {
    "adjacent_difference": "adjacent_difference",
    "binary_search": "binary_search equal_range lower_bound upper_bound",
    "copy": "copy_if",
    "count": "count count_if",
    "device_malloc": "device_malloc",
    "device_free": "device_free",
    "device_ptr": "device_pointer_cast device_ptr",
    "device_vector": "device_vector",
    "equal": "equal",
    "execution_policy": "device host",
    "extrema": "max_element min_element minmax_element",
    "fill": "fill fill_n",
    "find": "find find_if find_if_not",
    "for_each": "for_each for_each_n",
    "gather": "gather gather_if",
    "generate": "generate generate_n",
    "host_vector": "host_vector",
    "inner_product": "inner_product",
    "iterator/constant_iterator": "constant_iterator make_constant_iterator",
    "iterator/counting_iterator": "counting_iterator make_counting_iterator",
    "iterator/discard_iterator": "discard_iterator make_discard_iterator",
    "iterator/permutation_iterator": "make_permutation_iterator permutation_iterator",
    "iterator/reverse_iterator": "make_reverse_iterator reverse_iterator",
    "iterator/transform_iterator": "make_transform_iterator transform_iterator",
    "iterator/zip_iterator": "make_zip_iterator zip_iterator",
    "logical": "all_of any_of none_of",
    "merge": "merge merge_by_key",
    "mismatch": "mismatch",
    "partition": "is_partitioned partition partition_copy partition_point stable_partition stable_partition_copy",
    "reduce": "reduce reduce_by_key",
    "remove": "remove remove_copy remove_copy_if remove_if",
    "replace": "replace replace_copy replace_copy_if replace_if",
    "reverse": "reverse reverse_copy",
    "scan": "exclusive_scan exclusive_scan_by_key inclusive_scan inclusive_scan_by_key",
    "scatter": "scatter scatter_if",
    "sequence": "sequence",
    "set_operations": "set_difference set_difference_by_key set_intersection set_intersection_by_key"
    " set_symmetric_difference set_symmetric_difference_by_key set_union set_union_by_key",
    "shuffle": "shuffle shuffle_copy",
    "sort": "is_sorted is_sorted_until sort sort_by_key stable_sort stable_sort_by_key",
    "swap": "swap_ranges",
    "tabulate": "tabulate",
    "transform": "transform transform_if",
    "transform_reduce": "transform_reduce",
    "transform_scan": "transform_exclusive_scan transform_inclusive_scan",
    "uninitialized_copy": "uninitialized_copy uninitialized_copy_n",
    "uninitialized_fill": "uninitialized_fill uninitialized_fill_n",
    "unique": "unique unique_by_key unique_by_key_copy unique_copy unique_count",
    "zip_function": "make_zip_function zip_function",
}
"""Header below thrust/ -> what it declares, and what no other has; from the headers themselves."""

_HEADER_OF = {name: header for header, names in DECLARES.items() for name in names.split()}

_ITERATORS = "iterator/counting_iterator iterator/zip_iterator"
_WITH_COPY = f"{_ITERATORS} fill for_each generate iterator/transform_iterator replace scan swap transform"
_WITH_VECTOR = (
    f"{_WITH_COPY} device_ptr device_vector equal find iterator/permutation_iterator iterator/reverse_iterator"
    " mismatch reduce scatter uninitialized_fill"
)
_WITH_SORT = f"{_WITH_VECTOR} copy execution_policy extrema merge reverse transform_reduce"
BRINGS = {
    **dict.fromkeys(("adjacent_difference", "binary_search", "device_ptr", "reverse"), f"{_ITERATORS} transform fill"),
    **dict.fromkeys(("copy", "transform_scan", "shuffle", "uninitialized_copy"), _WITH_COPY),
    **dict.fromkeys(
        ("device_vector", "host_vector", "universal_vector", "count", "equal", "find", "inner_product", "logical"),
        _WITH_VECTOR,
    ),
    **dict.fromkeys(("mismatch", "reduce", "transform_reduce"), _WITH_VECTOR),
    "unique": f"{_WITH_VECTOR} count transform_reduce",
    **dict.fromkeys(("execution_policy", "extrema", "merge", "set_operations", "sort"), _WITH_SORT),
    "partition": f"{_WITH_SORT} count remove sort",
    "remove": f"{_WITH_COPY} iterator/permutation_iterator scatter",
    "scatter": "for_each transform",
    "gather": "for_each transform",
}
"""Header -> headers that it includes in every rocThrust from 5.2 to 7; those of these are there too."""

_MOST_FILES = 400


class ThrustHeader(Rule):
    """Part of Thrust whose header came with another one

    CUDA's Thrust reaches most of its algorithms from every header: `thrust/device_vector.h` is enough to call
    `thrust::sort`. In rocThrust a header has what it needs itself, so the header of an algorithm, an iterator or an
    execution policy is included where a file uses it and neither includes it nor a header that has it.
    """

    code = "A015"
    triggers = frozenset({"thrust"})
    examples = (
        fixes(
            "#include <thrust/device_vector.h>\nvoid f(int *p) { thrust::sort(p, p + 9); }",
            "#include <thrust/device_vector.h>\nvoid f(int *p) { thrust::sort(p, p + 9); }",
        ),
        fixes(
            "#include <thrust/scan.h>\nint *f(int *p) { return thrust::inclusive_scan(thrust::device, p, p + 9, p); }",
            "#include <thrust/scan.h>\nint *f(int *p) { return thrust::inclusive_scan(thrust::device, p, p + 9, p); }",
        ),
        fixes(
            "#include <thrust/scan.h>\nvoid f(int *p) { mine::thrust::sequence(p, p + 9); }",
            "#include <thrust/scan.h>\nvoid f(int *p) { mine::thrust::sequence(p, p + 9); }",
        ),
        clean("#include <thrust/scan.h>\nvoid f(int *p) { a.thrust::sequence(p, p + 9); mine::sequence(p); }"),
        clean("#include <thrust/device_vector.h>\nint f(thrust::device_vector<int> &v) { return thrust::reduce(v); }"),
        clean("#include <thrust/sort.h>\nvoid f(int *p) { thrust::sort(thrust::device, p, p + 9); }"),
        clean('#include "algorithms.h"\nvoid f(int *p) { thrust::sort(p, p + 9); }'),
        clean("#include <thrust/device_vector.h>\nvoid f() { std::sort(p, p + 9); thrust::negate<int> n; }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per header, at the first use of a name it declares."""
        used = _used(unit)
        if not used:
            return
        included = _thrust_headers(unit)
        if not included:
            return
        there = included.union(*(BRINGS.get(header, "").split() for header in included))
        for header, index in sorted(used.items(), key=lambda item: item[1]):
            if header not in there:
                message = f"thrust::{unit.tokens.texts[index]} came with another header of Thrust"
                line = f"<thrust/{header}.h>"
                yield self.finding(unit, unit.span(index), message, Effort.NONE, includes=(line,))


def _used(unit: Unit) -> dict[str, int]:
    """Header -> the first token that names something it declares."""
    texts = unit.tokens.texts
    aliases = namespace_aliases(unit.tokens)
    used: dict[str, int] = {}
    for scope in {"thrust"} | {alias for alias, name in aliases.items() if name == "thrust"}:
        for index in unit.tokens.names.get(scope, ()):
            if texts[index + 1] == "::" and (unit.is_cuda(index) or is_wrapped(unit, index)):
                header = _HEADER_OF.get(texts[index + 2])
                if header is not None:
                    used[header] = min(used.get(header, index + 2), index + 2)
    return used


def _thrust_headers(unit: Unit) -> frozenset[str]:
    """Headers of Thrust that a file includes, itself or through the project's own headers (`sort`)."""
    names = set(unit.included)
    if unit.included_file is not None:
        for header in headers_of(unit.source, unit.included, unit.included_file, _MOST_FILES, "thrust/"):
            names.update(include_names(header))
    return frozenset(name[len("thrust/") : -len(".h")] for name in names if name.startswith("thrust/"))
