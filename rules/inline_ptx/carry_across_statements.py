"""P103: carries that go from one inline assembly statement to the next."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Edit, Effort, Finding, Rule, Span, Unit, clean, fixes, reports
from porter.warp.ptx.chains import HINT, chains, strangers
from porter.warp.ptx.template import CARRY

_ADD = 'asm volatile("add.cc.u32 %0, %1, %2;" : "=r"(a) : "r"(b), "r"(c));'
_ADDC = 'asm volatile("addc.u32 %0, %1, %2;" : "=r"(d) : "r"(e), "r"(f));'
_ADDC_CC = _ADDC.replace("addc.", "addc.cc.")


class CarryAcrossStatements(Rule):
    """Carry between assembly statements

    Arithmetic on long numbers passes the carry of `add.cc` to an `addc` in another statement, mostly by macros, through
    NVIDIA's condition code register. gfx942 has none that outlives a statement. The function gets a variable for it,
    which the translated statements write and read in their order. A carry that comes into a function or leaves it -
    small functions of one instruction each - has no variable to live in, and is left by hand. What the last statement
    gives is nothing where no function in sight takes a carry.
    """

    code = "P103"
    text = "(?i:global|device)"
    in_sight = HINT.pattern
    examples = (
        fixes(
            f"__device__ void f(unsigned &a, unsigned &d) {{ {_ADD} {_ADDC} }}",
            f"__device__ void f(unsigned &a, unsigned &d) {{ bool {CARRY} = false; {_ADD} {_ADDC} }}",
        ),
        fixes(
            f"#define ADD(a, b, c) {_ADD}\n#define ADDC(d, e, f) {_ADDC}\n"
            "__global__ void k(unsigned *p) { ADD(p[0], p[1], 1u) ADDC(p[2], p[3], 0u) }",
            f"#define ADD(a, b, c) {_ADD}\n#define ADDC(d, e, f) {_ADDC}\n"
            f"__global__ void k(unsigned *p) {{ bool {CARRY} = false; ADD(p[0], p[1], 1u) ADDC(p[2], p[3], 0u) }}",
        ),
        fixes(
            f"__device__ void f(unsigned &a, unsigned &d) {{ {_ADD} {_ADDC_CC} }}",
            f"__device__ void f(unsigned &a, unsigned &d) {{ bool {CARRY} = false; {_ADD} {_ADDC_CC} }}",
        ),
        reports(
            f"__device__ void f(unsigned &a, unsigned &d) {{ {_ADD} {_ADDC_CC} }}\n"
            f"__device__ unsigned addc(unsigned e, unsigned f) {{ unsigned d; {_ADDC} return d; }}"
        ),
        reports(f"__device__ unsigned add(unsigned b, unsigned c) {{ unsigned a; {_ADD} return a; }}"),
        reports(f"__device__ unsigned addc(unsigned e, unsigned f) {{ unsigned d; {_ADDC} return d; }}"),
        clean(
            '__device__ void f(unsigned &a, unsigned &b) { asm("add.cc.u32 %0, %0, %1; addc.u32 %1, %1, 0;"'
            ' : "+r"(a), "+r"(b)); }'
        ),
        clean(f"#define ADD(a, b, c) {_ADD}\n__global__ void k(unsigned *p) {{ p[0] = 1; }}"),
        clean(f"__device__ void f(unsigned &a) {{ bool {CARRY} = false; {_ADD} {_ADDC} }}"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per function."""
        for chain in chains(unit):
            head = chain.head
            if chain.declared or head.body is None:
                continue
            span = unit.span(head.name_first)
            name = unit.tokens.texts[head.name_first]
            if not chain.closed:
                message = f"a carry comes into {name} or leaves it: write what passes it on in one function, or in C++"
                yield self.finding(unit, span, message, Effort.MANUAL)
                continue
            start = unit.tokens.end(head.body)
            edits = (Edit(start, start, f" bool {CARRY} = false;"),)
            yield self.finding(unit, span, f"{name} gets a variable for the carry of its PTX", Effort.NONE, edits)
        for header, macro in strangers(unit):
            name = header.path.rpartition("/")[2]
            place = next((one for one in unit.tokens.includes if one.name.endswith(name)), None)
            if place is not None:
                message = (
                    f"{name} uses {macro}, which passes a carry on, from a header that it does not include: include it "
                    f"there, and port again, so that its functions get a variable ({CARRY})"
                )
                yield self.finding(unit, Span(place.start, place.end), message, Effort.MANUAL)
