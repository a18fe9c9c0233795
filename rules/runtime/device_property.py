"""R020: fields of the device's properties that mean something else in HIP."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.cpp.syntax import chain_start, is_printed, number
from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes, reports
from porter.names.causes import one_cause
from porter.warp.device_properties import is_device_property

_STRUCT = "cudaDeviceProp"
_CAPABILITY = ("major", "minor")
_SAME_AS_VOLTA = {">=": 7, "<": 7, ">": 6, "<=": 6, "==": 6, "!=": 6}
"""Comparisons of the major number that come out for 9 as for 7 -> the largest number for which they do."""
_SHOWS = re.compile(r"print|error|warn|log|format|to_string|throw|exception", re.IGNORECASE)
_CHECKS = re.compile(r"assert|check", re.IGNORECASE)
_AFTER_TEST = frozenset({")", "&&", "||", ";", "?", ","})
_BETTER = {"sharedMemPerMultiprocessor": "maxSharedMemoryPerMultiProcessor"}


class DeviceProperty(Rule):
    """Field of the device's properties that HIP fills with something else

    HIP's structure has nearly all fields of CUDA's, so the code compiles. `major` and `minor` are 9 and 4 on gfx942,
    which passes every test for Ampere or Hopper. Tests that come out as for Volta (`major >= 7`) stay, as the port
    takes the code for Volta elsewhere, too, and so do values that are only printed. `sharedMemPerMultiprocessor` is
    the sum over all compute units before ROCm 7.2; `maxSharedMemoryPerMultiProcessor` is what CUDA means, always.
    """

    code = "R020"
    triggers = frozenset(
        {
            *_CAPABILITY,
            *_BETTER,
            *("maxBlocksPerMultiProcessor", "persistingL2CacheMaxSize", "accessPolicyMaxWindowSize"),
            *("unifiedAddressing", "singleToDoublePrecisionPerfRatio"),
            *("sparseCudaArraySupported", "deferredMappingCudaArraySupported"),
            *("deviceNumaConfig", "deviceNumaId", "mpsEnabled", "hostNumaId", "gpuPciDeviceID", "gpuPciSubsystemID"),
            "hostNumaMultinodeIpcSupported",
        }
    )
    hazards = ("compute-capability-9-4", "device-prop-fields")
    examples = (
        reports(
            "bool f() { cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); return p.major * 10 + p.minor >= 80; }",
            effort=Effort.REVIEW,
        ),
        reports("bool f(cudaDeviceProp *p) { return p->unifiedAddressing; }", effort=Effort.REVIEW),
        reports(
            "bool f() { auto *p = at::cuda::getCurrentDeviceProperties(); return p->major == 9 && p->minor == 0; }",
            effort=Effort.REVIEW,
        ),
        reports("int f(cudaDeviceProp p) { return p.gpuPciDeviceID; }"),
        fixes(
            "size_t f(const cudaDeviceProp &p) { return p.sharedMemPerMultiprocessor; }",
            "size_t f(const cudaDeviceProp &p) { return p.maxSharedMemoryPerMultiProcessor; }",
        ),
        clean("bool f(cudaDeviceProp p) { return p.major > 3 || (p.major == 3 && p.minor >= 5); }"),
        clean('void f(cudaDeviceProp p) { printf("compute capability %d.%d", p.major, p.minor); }'),
        clean('void f(cudaDeviceProp p) { CHECK_THAT(p.major >= 3, "too old: %d.%d", p.major, p.minor); }'),
        clean('void f(cudaDeviceProp p) { logInfo("unified: %s", p.unifiedAddressing ? "yes" : "no"); }'),
        clean("struct Version { int major, minor; }; bool f(Version v) { return v.major >= 8; }"),
        clean("int f(cudaDeviceProp p) { return p.multiProcessorCount; }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per field and line."""
        told: set[tuple[int, str]] = set()
        for name in sorted(unit.tokens.names.keys() & self.triggers):
            row = unit.names.field(_STRUCT, name)
            new = _BETTER.get(name) or (row.hip if row is not None else None)
            if row is None or (new == name and not row.signature):
                continue
            for index in self._places(unit, name):
                said = row.signature or f"HIP's field is {new}" if new else f"{row.gap}"
                line = unit.source.position(unit.tokens.starts[index])[0]
                if new == name and (line, said) in told:
                    continue
                told.add((line, said))
                yield self._found(unit, index, name, new, said)

    @staticmethod
    def _places(unit: Unit, name: str) -> Iterator[int]:
        """Where the field is read for anything but a print."""
        tokens = unit.tokens
        for index in tokens.names[name]:
            if tokens.texts[index - 1] not in (".", "->") or unit.next_is(index, "="):
                continue
            first = chain_start(tokens, index)
            if first == index or not is_device_property(unit, first, index) or _is_shown(unit, first, index):
                continue
            if name not in _CAPABILITY or not _comes_out_as_for_volta(unit, index):
                yield index

    def _found(self, unit: Unit, index: int, name: str, new: str | None, said: str) -> Finding:
        span = unit.span(index)
        if new is None:
            return self.finding(unit, span, f"{name}: {said} [device-prop-fields]", Effort.MANUAL)
        if new != name:
            edit = Edit(span.start, span.end, new)
            return self.finding(unit, span, f"{name} is {new} in HIP", Effort.NONE, (edit,))
        hazard = "compute-capability-9-4" if name in _CAPABILITY else "device-prop-fields"
        return self.finding(unit, span, f"{one_cause(f'{name}: ', said)} [{hazard}]", Effort.REVIEW)


def _is_shown(unit: Unit, first: int, last: int) -> bool:
    """Whether a value only goes into a message: a print, a stream, an argument of a check."""
    tokens = unit.tokens
    if tokens.texts[first - 1] == "<<" or is_printed(tokens, first):
        return True
    whole = tokens.texts[first - 1] in ("(", ",") and tokens.texts[last + 1] in (",", ")")
    place = first
    while place > 0 and tokens.texts[place] not in (";", "{", "}"):
        partner = tokens.partner.get(place)
        if tokens.texts[place] == "(" and partner is not None and partner > last:
            callee = tokens.texts[place - 1]
            if _SHOWS.search(callee) or (whole and _CHECKS.search(callee)):
                return True
        place -= 1
    return False


def _comes_out_as_for_volta(unit: Unit, index: int) -> bool:
    """Whether every test of the major number in a statement gives what it would for compute capability 7.0."""
    tokens = unit.tokens
    texts = tokens.texts
    first = last = index
    while first > 0 and texts[first - 1] not in (";", "{", "}"):
        first -= 1
    while last + 1 < len(unit.tokens) and texts[last + 1] not in (";", "{", "}"):
        last += 1
    majors = [place for place in range(first, last + 1) if texts[place] == "major" and texts[place + 1] != ","]
    return bool(majors) and all(_holds_as_for_volta(texts, place) for place in majors)


def _holds_as_for_volta(texts: list[str], index: int) -> bool:
    most = _SAME_AS_VOLTA.get(texts[index + 1])
    asked = number(texts[index + 2]) if most is not None else None
    return most is not None and asked is not None and asked <= most and texts[index + 3] in _AFTER_TEST
