"""A010: CUDA's headers and their counterparts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from porter.cpp.syntax import OPENS, Include, find_groups, group_at
from porter.engine.rule import Dialect, Edit, Effort, Finding, Rule, Span, Unit, clean, fixes
from porter.engine.support import FOLDER
from porter.names.table import NameRow


class RenamedHeader(Rule):
    """CUDA header that has a counterpart

    Only the exact names of CUDA's own headers are mapped, whether in angle brackets or in quotes. A header of the
    project that merely has such a name, or a name like `user-cuda.h`, stays. Where the counterpart declares something
    else than CUDA's header does, the finding says what. Where a line above, in the same branch of the preprocessor,
    includes the counterpart already, the line goes; one with a comment behind it stays.
    """

    code = "A010"
    dialect = Dialect.BOTH
    by_names = True
    settles = True
    examples = (
        fixes("#include <cuda_runtime.h>", "#include <hip/hip_runtime.h>", path="a.h"),
        fixes('#include "cuda_fp16.h"', '#include "hip/hip_fp16.h"', path="a.h"),
        fixes("#include <cudnn.h>", "#include <miopen/miopen.h>", path="a.h", effort=Effort.MANUAL),
        fixes("#include <cublas.h>", "#include <hipblas/hipblas.h>", path="a.h", effort=Effort.REVIEW),
        fixes(
            "#include <cuda.h>\n#include <cuda_runtime.h>\n#include <cuda_fp16.h>\n",
            "#include <hip/hip_runtime.h>\n#include <hip/hip_fp16.h>\n",
            path="a.h",
        ),
        fixes(
            "#ifdef A\n#include <cuda.h>\n#else\n#include <cuda_runtime.h>\n#endif\n",
            "#ifdef A\n#include <hip/hip_runtime.h>\n#else\n#include <hip/hip_runtime.h>\n#endif\n",
            path="a.h",
        ),
        fixes('#include "/usr/local/cuda-10.1/include/cuda_fp16.h"', '#include "hip/hip_fp16.h"', path="a.h"),
        clean('#include "/home/me/include/cuda_fp16.h"', path="a.h"),
        clean('#include "user-cuda.h"\n#include <my/cuda_runtime.h>', path="a.h"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per #include."""
        above: dict[tuple[Branch, str], int] = {}
        renamed = {include: row for include in unit.tokens.includes if (row := _row(unit, include)) is not None}
        if not renamed:
            return
        branch_of = _branches(unit)
        for include in unit.tokens.includes:
            row = renamed.get(include)
            if row is None or row.hip is None:
                above.setdefault((branch_of(include), include.name), unit.source.position(include.start)[0])
                continue
            span = Span(include.start, include.end)
            supplied = row.hip.startswith(FOLDER + "/")
            new = _RUNTIME if supplied else row.hip
            includes = (row.hip,) if supplied else ()
            message, effort = f"<{include.name}> is <{row.hip}>", Effort.NONE
            if row.signature:
                message = f"{message}: {row.signature}"
                effort = row.effort if row.effort is not Effort.NONE else Effort.REVIEW
            line = unit.source.position(include.start)[0]
            first = above.setdefault((branch_of(include), new), line)
            edit = _line_removal(unit, include) if first != line else None
            if edit is not None:
                message = f"{message}; line {first} includes <{new}>"
            yield self.finding(unit, span, message, effort, (edit or Edit(*span, new),), includes)


def _row(unit: Unit, include: Include) -> NameRow | None:
    """What is known of a header of CUDA's that has another name in HIP."""
    row = unit.names.header(_TOOLKIT.sub("", include.name) if include.name.startswith("/") else include.name)
    is_renamed = row is not None and row.hip is not None and row.hip != include.name
    return row if is_renamed and not unit.is_project_header(include.name) else None


_RUNTIME = "hip/hip_runtime.h"
_TOOLKIT = re.compile(r"^/(?:usr/local|opt)/cuda[^/]*/(?:targets/[^/]+/)?include/")
"""The toolkit's own folder, where a header is named with its place on the author's machine."""
Branch = tuple[int, int]
"""Where an innermost `#if` begins, and the branch of it."""


def _branches(unit: Unit) -> Callable[[Include], Branch]:
    """Tells the branch of the preprocessor that an #include stands in."""
    groups = find_groups(unit.tokens)
    balanced = len(groups) == sum(directive.name in OPENS for directive in unit.tokens.directives)

    def branch(include: Include) -> Branch:
        if not balanced:
            return include.start, 0
        group = group_at(groups, include.line_start)
        if group is None:
            return -1, 0
        return group.span.start, sum(directive.start < include.line_start for directive in group.directives)

    return branch


def _line_removal(unit: Unit, include: Include) -> Edit | None:
    """Takes out the whole line; None where it holds more, or where a source for both vendors keeps CUDA's line."""
    text = unit.source.text
    newline = text.find("\n", include.line_end)
    begins = include.line_start == unit.source.body_start or text[include.line_start - 1] == "\n"
    alone = begins and newline >= 0 and not text[include.end + 1 : newline].strip()
    if not alone or unit.settings.style == "dual" or _ALLOWANCE in text:
        return None
    return Edit(include.line_start, newline + 1, "")


_ALLOWANCE = "porter: allow["
"""A line above may keep CUDA's header then."""
