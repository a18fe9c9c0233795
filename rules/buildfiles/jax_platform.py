"""K212: the platform for which Python registers functions with JAX."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from porter.buildfiles.python import literal, names_amd, nodes_of, tree
from porter.buildfiles.unit import BuildRule, BuildUnit, Kind
from porter.engine.rule import Edit, Effort, Finding, clean, fixes, reports

_TARGETS = frozenset(
    {"register_ffi_target", "register_ffi_type", "register_ffi_type_id", "register_custom_call_target"}
)
_WANTED = {
    **{name: {"CUDA": "ROCM", "gpu": "ROCM"} for name in _TARGETS},
    "register_lowering": {"cuda": "rocm"},
}
"""What is registered, and what each platform of CUDA's is on ROCm."""
_POSITION = 2
"""Where the platform stands that is given without its name; of `register_lowering` it never is."""


class JaxPlatform(BuildRule):
    """Platform of a function that JAX calls

    `jax.ffi.register_ffi_target(name, f, platform="CUDA")` gives a function to JAX's plugin for CUDA; the one for ROCm
    reads those of `"ROCM"`, and says that there is no such target when the program runs. `"gpu"` stands for `"CUDA"`
    there, and for both in `mlir.register_lowering`, where `"cuda"` is `"rocm"`. A file that names ROCm has its own way.
    """

    code = "K212"
    kinds = frozenset({Kind.PYTHON})
    at_run_time = True
    examples = (
        fixes(
            'jax.ffi.register_ffi_target("f", lib.f(), platform="CUDA")',
            'jax.ffi.register_ffi_target("f", lib.f(), platform="ROCM")',
            path="ops.py",
        ),
        fixes(
            "xla_client.register_custom_call_target(n, v, platform='gpu')",
            "xla_client.register_custom_call_target(n, v, platform='ROCM')",
            path="ops.py",
        ),
        fixes('register_ffi_target("f", f, "CUDA")', 'register_ffi_target("f", f, "ROCM")', path="ops.py"),
        fixes(
            'mlir.register_lowering(p, rule, platform="cuda")',
            'mlir.register_lowering(p, rule, platform="rocm")',
            path="ops.py",
        ),
        reports('jax.ffi.register_ffi_target("f", f(), platform=P)', path="ops.py", effort=Effort.REVIEW),
        clean('jax.ffi.register_ffi_target("f", lib.f(), platform="cpu")', path="ops.py"),
        clean('jax.ffi.register_ffi_target("f", lib.f())', path="ops.py"),
        clean('mlir.register_lowering(p, rule, platform="gpu")\nmlir.register_lowering(p, rule)', path="ops.py"),
        clean("@register_lowering(aten.mm)\ndef f(x): return x.to('cuda')", path="ops.py"),
        clean('for p in ("CUDA", "ROCM"):\n  jax.ffi.register_ffi_target("f", f(), platform=p)', path="ops.py"),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """One finding per registration."""
        if "register_" not in unit.text or names_amd(unit.text):
            return
        root = tree(unit)
        for node in nodes_of(root) if root is not None else ():
            if isinstance(node, ast.Call):
                yield from self._call(unit, node)

    def _call(self, unit: BuildUnit, call: ast.Call) -> Iterator[Finding]:
        name = ast.unparse(call.func).rpartition(".")[2]
        value = _platform(call, name) if name in _WANTED else None
        if value is None:
            return
        found = literal(unit, value)
        if found is not None:
            new = _WANTED[name].get(found.value)
            if new is not None:
                message = f"JAX's plugin for ROCm takes what is registered for {new!r}"
                yield self._renamed(unit, found.inner, found.inner_end, new, message)
        elif name in _TARGETS and not isinstance(value, ast.Constant):
            message = "JAX's plugin for ROCm takes what is registered for 'ROCM', whose value this has to have"
            start = unit.source.line_start(value.lineno) + value.col_offset
            yield self.finding(unit, start, start + len(ast.unparse(value)), message, Effort.REVIEW)

    def _renamed(self, unit: BuildUnit, start: int, end: int, new: str, message: str) -> Finding:
        if unit.settings.style == "dual":
            return self.finding(unit, start, end, f"{message}; choose between the two", Effort.MANUAL)
        return self.finding(unit, start, end, message, Effort.NONE, (Edit(start, end, new),))


def _platform(call: ast.Call, name: str) -> ast.expr | None:
    """What is given as the platform."""
    named = next((keyword.value for keyword in call.keywords if keyword.arg == "platform"), None)
    if named is not None or name not in _TARGETS or len(call.args) <= _POSITION:
        return named
    return call.args[_POSITION]
