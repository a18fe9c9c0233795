"""P004: conditions on TensorFlow's build for CUDA."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.syntax import find_groups, group_at, knows_hip
from porter.engine.rule import Edit, Effort, Finding, Rule, Span, Unit, clean, fixes, reports

_CUDA, _ROCM = "GOOGLE_CUDA", "TENSORFLOW_USE_ROCM"
_WHOLE = {
    "ifdef": f"if defined({_CUDA}) || defined({_ROCM})",
    "elifdef": f"elif defined({_CUDA}) || defined({_ROCM})",
    "ifndef": f"if !defined({_CUDA}) && !defined({_ROCM})",
    "elifndef": f"elif !defined({_CUDA}) && !defined({_ROCM})",
}


class TensorflowGuard(Rule):
    """Condition on TensorFlow's build for CUDA

    `#if GOOGLE_CUDA` marks the kernels of TensorFlow's extensions. Its build for ROCm has the macro
    `TENSORFLOW_USE_ROCM` instead, so that the code behind such a condition would be left out without a word; it asks
    for both, as TensorFlow's own kernels do. Conditions that ask for HIP as well are the project's own choice and stay.
    """

    code = "P004"
    triggers = frozenset({_CUDA})
    examples = (
        clean("#if GOOGLE_CUDA || TENSORFLOW_USE_ROCM\nint a;\n#endif", path="a.cc"),
        clean("#if defined(GOOGLE_CUDA)\nint a;\n#elif defined(TENSORFLOW_USE_ROCM)\nint b;\n#endif", path="a.cc"),
        clean("const char *name = GOOGLE_CUDA_TEXT;\nint GOOGLE_CUDA = 1;", path="a.cc"),
        fixes(
            "#if GOOGLE_CUDA\nint a;\n#endif  // GOOGLE_CUDA",
            "#if GOOGLE_CUDA || TENSORFLOW_USE_ROCM\nint a;\n#endif  // GOOGLE_CUDA",
            path="a.cc",
        ),
        fixes(
            "#ifdef GOOGLE_CUDA // on the GPU\nint a;\n#endif",
            "#if defined(GOOGLE_CUDA) || defined(TENSORFLOW_USE_ROCM) // on the GPU\nint a;\n#endif",
            path="a.cc",
        ),
        fixes(
            "#ifndef GOOGLE_CUDA\nint a;\n#endif",
            "#if !defined(GOOGLE_CUDA) && !defined(TENSORFLOW_USE_ROCM)\nint a;\n#endif",
            path="a.cc",
        ),
        fixes(
            "#if !GOOGLE_CUDA || (defined(GOOGLE_CUDA) && N == 1)\nint a;\n#endif",
            "#if !(GOOGLE_CUDA || TENSORFLOW_USE_ROCM) || "
            "((defined(GOOGLE_CUDA) || defined(TENSORFLOW_USE_ROCM)) && N == 1)\nint a;\n#endif",
            path="a.cc",
        ),
        fixes("#if GOOGLE_CUDA\nint a;", "#if GOOGLE_CUDA || TENSORFLOW_USE_ROCM\nint a;", path="a.cc"),
        reports("#define GOOGLE_CUDA 1\n#define EIGEN_USE_GPU", effort=Effort.REVIEW, path="a.cc"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per macro in a directive."""
        tokens = unit.tokens
        groups = find_groups(tokens)
        for index in tokens.names.get(_CUDA, ()):
            directive = tokens.directive_of(index)
            if directive is None or knows_hip(group_at(groups, directive.start), tokens):
                continue
            if _ROCM in tokens.texts[directive.first : directive.last + 1]:  # of a group that does not end
                continue
            if directive.name == "define" and index == directive.first:
                message = (
                    f"{_CUDA} is set by hand here: TensorFlow's headers then ask for CUDA's; ROCm's macro is {_ROCM}"
                )
                yield self.finding(unit, unit.span(index), message, Effort.REVIEW)
                continue
            edit = _edit(unit, index, directive.name, directive.first, directive.last)
            if edit is not None:
                message = f"TensorFlow's build for ROCm has {_ROCM} instead"
                yield self.finding(unit, Span(edit.start, edit.end), message, Effort.NONE, (edit,))


def _edit(unit: Unit, index: int, name: str, first: int, last: int) -> Edit | None:
    """The condition with both macros."""
    tokens, directive = unit.tokens, unit.tokens.directive_of(index)
    if name in _WHOLE and directive is not None and index == first:
        start = tokens.text.index(name, directive.start)
        return Edit(start, tokens.end(index), _WHOLE[name])
    if name not in ("if", "elif"):
        return None
    texts = tokens.texts
    begin, end = index, index
    if texts[index - 1] == "(" and texts[index - 2] == "defined" and texts[index + 1] == ")":
        begin, end = index - 2, index + 1
    elif texts[index - 1] == "defined":
        begin = index - 1
    mark = "defined({})" if begin != index else "{}"
    both = f"{mark.format(_CUDA)} || {mark.format(_ROCM)}"
    alone = begin == first and end == last - 1
    return Edit(tokens.starts[begin], tokens.end(end), both if alone else f"({both})")
