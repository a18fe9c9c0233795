"""R032: calls of HIP's own that ROCm answers with an error each time."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.functions import follows_type, is_defined
from porter.cpp.lex import Tokens
from porter.engine.rule import Dialect, Effort, Finding, Rule, Unit, clean, reports

_NOT_SUPPORTED = "hipErrorNotSupported"
_IN_USE = "hipErrorContextAlreadyInUse"
_REFUSED = {
    "hipCtxSynchronize": (_NOT_SUPPORTED, "hipDeviceSynchronize waits", Effort.MANUAL),
    "hipCtxGetCacheConfig": (_NOT_SUPPORTED, "hipDeviceGetCacheConfig works", Effort.MANUAL),
    "hipCtxSetCacheConfig": (_NOT_SUPPORTED, "hipDeviceSetCacheConfig works", Effort.MANUAL),
    "hipCtxSetSharedMemConfig": (_NOT_SUPPORTED, "hipDeviceSetSharedMemConfig works", Effort.MANUAL),
    "hipCtxGetFlags": (_NOT_SUPPORTED, "hipGetDeviceFlags works", Effort.MANUAL),
    "hipCtxGetApiVersion": (_NOT_SUPPORTED, "hipDriverGetVersion says what there is", Effort.MANUAL),
    "hipDevicePrimaryCtxSetFlags": (_IN_USE, "hipSetDeviceFlags sets those of the current device", Effort.MANUAL),
    "hipMemMapArrayAsync": (_NOT_SUPPORTED, "there is no other call", Effort.MANUAL),
    "hipSetValidDevices": (_NOT_SUPPORTED, "choose with hipSetDevice, or by HIP_VISIBLE_DEVICES", Effort.MANUAL),
    "hipProfilerStart": (_NOT_SUPPORTED, "roctxProfilerResume replaces it", Effort.REVIEW),
    "hipProfilerStop": (_NOT_SUPPORTED, "roctxProfilerPause replaces it", Effort.REVIEW),
}
"""What ROCm answers, what to call instead, and the work: programs seldom check the profiler's calls."""
_ERRORS = frozenset({_NOT_SUPPORTED, _IN_USE})
_ENDS = frozenset({";", "{", "}"})


class RefusedCall(Rule):
    """Call that ROCm answers with an error each time

    HIP declares `hipCtxSynchronize` and some other calls of contexts, and ROCm links them, but they do nothing and
    return hipErrorNotSupported: a program that checks its calls ends there, and one that does not goes on without
    having waited. The calls of devices do what is wanted. The profiler's calls are of the kind, too; roctx has others.
    What expects the error (`hipCtxSynchronize() == hipErrorNotSupported`), declares such a function or is one is left
    alone.
    """

    code = "R032"
    only_reports = True
    dialect = Dialect.BOTH
    triggers = frozenset(_REFUSED)
    hazards = ("context-api",)
    examples = (
        reports("void f() { CHECK(hipCtxSynchronize()); }", path="a.hip"),
        reports("hipError_t f() { return hipCtxSynchronize(); }", path="a.hip"),
        reports("void f() { (void)::hipCtxSetCacheConfig(hipFuncCachePreferL1); }", path="a.hip"),
        reports("#define SYNC() CHECK(hipCtxSynchronize())\nvoid f() { hipMalloc(&p, 4); SYNC(); }", path="a.cpp"),
        reports(
            """
            void wait() {
            #ifdef __HIP_PLATFORM_AMD__
              hipCtxSynchronize();
            #else
              cuCtxSynchronize();
            #endif
            }
            """
        ),
        reports("void f() { hipProfilerStart(); }", path="a.hip", effort=Effort.REVIEW),
        clean("void f() { hipDeviceSynchronize(); hipCtxGetCurrent(&c); }", path="a.hip"),
        clean("void f() { cuCtxSynchronize(); }"),
        clean("void f() { driver.hipCtxSynchronize(); driver->hipCtxSynchronize(); }", path="a.hip"),
        clean("void f() { mine::hipCtxSynchronize(); }", path="a.hip"),
        clean('extern "C" hipError_t hipCtxSynchronize(void);', path="a.hip"),
        clean("hipError_t hipCtxSynchronize() { return wait(); }\nvoid f() { hipCtxSynchronize(); }", path="a.hip"),
        clean('void *f() { return dlsym(library, "hipCtxSynchronize"); }', path="a.hip"),
        clean("void f() { check(hipCtxSynchronize() == hipErrorNotSupported); }", path="a.hip"),
        clean("// hipCtxSynchronize() returns an error\nauto wait = &hipCtxSynchronize;", path="a.hip"),
        clean(
            """
            void wait() {
            #ifdef __HIP_PLATFORM_NVIDIA__
              hipCtxSynchronize();
            #else
              hipDeviceSynchronize();
            #endif
            }
            """,
            path="a.hip",
        ),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per call."""
        for name in sorted(_REFUSED.keys() & unit.tokens.names.keys()):
            places = unit.tokens.names[name]
            if any(is_defined(unit.tokens, index) for index in places):
                continue
            error, instead, effort = _REFUSED[name]
            for index in places:
                meaning = unit.dialects.at(unit.tokens.starts[index])
                if meaning.compiled and unit.is_free(index) and _is_call(unit.tokens, index):
                    message = f"{name}: ROCm returns {error}, always; {instead}"
                    yield self.finding(unit, unit.span(index), message, effort)


def _is_call(tokens: Tokens, index: int) -> bool:
    """Whether a function is called there, and not one that is expected to fail."""
    texts = tokens.texts
    if texts[index + 1 : index + 2] != ["("] or follows_type(tokens, index):
        return False
    first, last = index, index
    while first and texts[first - 1] not in _ENDS:
        first -= 1
    while last < len(texts) and texts[last] not in _ENDS:
        last += 1
    return _ERRORS.isdisjoint(texts[first:last])
