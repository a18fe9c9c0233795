"""R030: the platform for which C++ registers functions with XLA."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes

_MACROS = (
    "XLA_FFI_REGISTER_HANDLER",
    "XLA_REGISTER_CUSTOM_CALL_TARGET",
    "XLA_REGISTER_CUSTOM_CALL_TARGET_WITH_SYM",
)
_CUDAS = '"CUDA"'


class XlaPlatform(Rule):
    """Platform of a function that XLA calls

    XLA looks a custom call up among those that were registered for its platform: `"ROCM"` on AMD's GPUs, where what is
    there for `"CUDA"` is never found. Compilers say nothing. K212 does the same for registrations in Python.
    """

    code = "R030"
    triggers = frozenset(_MACROS)
    settles = True
    examples = (
        fixes(
            'XLA_FFI_REGISTER_HANDLER(XLA_FFI_GetApi(), "rms", "CUDA", Rms);',
            'XLA_FFI_REGISTER_HANDLER(XLA_FFI_GetApi(), "rms", "ROCM", Rms);',
            path="a.cc",
        ),
        fixes(
            'XLA_REGISTER_CUSTOM_CALL_TARGET_WITH_SYM("f", F, "CUDA");',
            'XLA_REGISTER_CUSTOM_CALL_TARGET_WITH_SYM("f", F, "ROCM");',
            path="a.cc",
        ),
        clean('XLA_FFI_REGISTER_HANDLER(XLA_FFI_GetApi(), "CUDA", "Host", Rms);', path="a.cc"),
        clean('XLA_REGISTER_CUSTOM_CALL_TARGET(f, "Host"); const char *s = "CUDA";', path="a.cc"),
        clean('#ifdef USE_ROCM\n#else\nXLA_REGISTER_CUSTOM_CALL_TARGET(f, "CUDA");\n#endif', path="a.cc"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per registration."""
        tokens = unit.tokens
        for name in _MACROS:
            place = 2 if name == "XLA_FFI_REGISTER_HANDLER" else -1
            for index in tokens.names.get(name, ()):
                arguments = unit.arguments(index) if tokens.texts[index + 1] == "(" else ()
                if len(arguments) <= max(place, 1) or not unit.dialects.at(tokens.starts[index]).compiled:
                    continue
                platform = arguments[place]
                if tokens.text[platform.start : platform.end].strip() == _CUDAS:
                    at = tokens.text.index(_CUDAS, platform.start)
                    edits = (Edit(at, at + len(_CUDAS), '"ROCM"'),)
                    message = "XLA on AMD's GPUs takes what is registered for ROCM"
                    yield self.finding(unit, unit.span(index), message, Effort.NONE, edits)
