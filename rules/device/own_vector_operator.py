"""D002: operators on CUDA's vector types that HIP has too."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.cpp.operators import Operator, find_operators
from porter.cpp.syntax import Groups, find_groups, group_at, knows_hip
from porter.engine.rule import Edit, Effort, Example, Finding, Rule, Settings, Span, Unit, clean, fixes, reports
from porter.names.table import version_key

_VECTOR = re.compile(r"(?:u?(?:char|short|int|long|longlong)|float|double)([1234])")
_COMPLEX = frozenset({"cuComplex", "cuFloatComplex", "cuDoubleComplex"})
_COMPLEX_SYMBOLS = frozenset({"+", "-", "*", "/", "==", "!=", "+=", "-=", "*=", "/="})
_COMPLEX_CALLS = {"+": ("cuCadd", "cuCaddf"), "-": ("cuCsub", "cuCsubf")}
_OLD = Settings(rocm="6.0")
_WITHOUT_COMPLEX = "6.4"
"""HIP's complex numbers are its vectors since, and have the operators of these."""
_MEMBERS = "xyzw"
_ARITHMETIC = frozenset("*/")
_COMPOUND = frozenset({"+=", "-=", "*=", "/="})
_PLAIN_HEAD = frozenset({"inline", "static", "constexpr", "extern", "__forceinline__", "__inline__", "const", "void"})
_GUARD = "#ifndef __HIPCC__  // HIP has this operator"
_PRODUCT_GUARD = "#ifndef __HIPCC__  // HIP's vectors have this operator, component by component"
_PRODUCT_CALLS = {"*": "cuCmul", "/": "cuCdiv"}
_SUPPORT = "porter/complex_operators.hpp"
_AMBIGUOUS = "with a const right side the operator stays ambiguous with that of HIP's vectors: cuCmul or cuCdiv there"
_BOTH = "__host__ __device__"
_TWO_DOUBLE = "const cuDoubleComplex &a, const cuDoubleComplex &b"
_WRITTEN_OUT = "return make_cuDoubleComplex(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);"


class OwnVectorOperator(Rule):
    """Operator on a vector type that HIP has too

    `float3` and its like are plain structs in CUDA, so code brings its own operators (`helper_math.h`). HIP's vector
    types have operators that work component by component. `a *= b` and `a / b` of two vectors are then ambiguous where
    the own operator is `__host__ __device__`. One that does the same as HIP's is kept for CUDA behind a guard; one that
    does something else (a dot product, a sum with a carry, a division by zero check) has to become a named function.
    `a += b` written as `a = a + b` means what the project's own `+` means. The same goes for `cuDoubleComplex` and its
    like, before ROCm 6.4, which takes no second `operator==(const cuDoubleComplex &, const cuDoubleComplex &)`.

    A product or quotient of complex numbers is ambiguous wherever it is used: HIP's vectors have one that goes
    component by component, with every release. One that does as `cuCmul` or `cuCdiv` becomes a set of overloads that
    the compiler prefers, unless the right side of a use is const: that stays ambiguous, and has to name `cuCmul`.
    """

    code = "D002"
    text = "(?:char|short|int|long|float|double)[1234]|cu(?:Float|Double)?Complex"
    triggers = frozenset({"operator"})
    hazards = ("vector-operators-ambiguous",)
    examples = (
        fixes(
            """
            inline __host__ __device__ float2 operator*(float2 a, float2 b)
            {
                return make_float2(a.x * b.x, a.y * b.y);
            }

            // compound
            inline __host__ __device__ void operator+=(float2 &a, const float2 &b) { a.x += b.x; a.y += b.y; }
            int after;
            """,
            """
            #ifndef __HIPCC__  // HIP has this operator
            inline __host__ __device__ float2 operator*(float2 a, float2 b)
            {
                return make_float2(a.x * b.x, a.y * b.y);
            }

            // compound
            inline __host__ __device__ void operator+=(float2 &a, const float2 &b) { a.x += b.x; a.y += b.y; }
            #endif
            int after;
            """,
            path="a.h",
        ),
        fixes(
            """
            static __host__ __device__ uint2& operator+=(uint2& a, const uint2& b)
            {
                a.x += b.x;
                a.y += b.y;
                return a;
            }
            """,
            """
            #ifndef __HIPCC__  // HIP has this operator
            static __host__ __device__ uint2& operator+=(uint2& a, const uint2& b)
            {
                a.x += b.x;
                a.y += b.y;
                return a;
            }
            #endif
            """,
            path="a.h",
        ),
        reports(
            """
            inline __host__ __device__ float operator*(float3 a, float3 b)
            {
                return a.x * b.x + a.y * b.y + a.z * b.z;
            }
            """,
            path="a.h",
        ),
        fixes(
            """
            __host__ __device__ float2 operator+(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
            __host__ __device__ void operator+=(float2 &a, float2 b) { a = a + b; }
            """,
            """
            __host__ __device__ float2 operator+(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
            #ifndef __HIPCC__  // HIP has this operator
            __host__ __device__ void operator+=(float2 &a, float2 b) { a = a + b; }
            #endif
            """,
            path="a.h",
        ),
        reports(
            """
            __host__ __device__ uint2 operator+(uint2 a, uint2 b) { return as_pair(as_long(a) + as_long(b)); }
            __host__ __device__ void operator+=(uint2 &a, uint2 b) { a = a + b; }
            """,
            path="a.h",
        ),
        reports("__host__ __device__ void operator+=(uint2 &a, uint2 b) { a = a + b; }", path="a.h"),
        clean(
            """
            #define INLINE __device__ __forceinline__
            INLINE uint2 operator+(uint2 a, uint2 b) { return as_pair(as_long(a) + as_long(b)); }
            INLINE void operator+=(uint2 &a, uint2 b) { a = a + b; }
            """,
            path="a.h",
        ),
        Example(
            "inline cuComplex operator+(const cuComplex& a, const cuComplex& b)\n"
            "{ return make_cuComplex(a.x + b.x, a.y + b.y); }",
            "#ifndef __HIPCC__  // HIP has this operator\n"
            "inline cuComplex operator+(const cuComplex& a, const cuComplex& b)\n"
            "{ return make_cuComplex(a.x + b.x, a.y + b.y); }\n#endif",
            Effort.NONE,
            "a.h",
            _OLD,
        ),
        Example(
            "__device__ cuComplex operator-(const cuComplex &a, const cuComplex &b)\n{ return cuCsubf(a, b); }",
            f"{_GUARD}\n__device__ cuComplex operator-(const cuComplex &a, const cuComplex &b)\n"
            "{ return cuCsubf(a, b); }\n#endif",
            Effort.NONE,
            "a.h",
            _OLD,
        ),
        *(
            Example(text, f"{_PRODUCT_GUARD}\n{text}\n#else\n{macro}\n#endif", Effort.REVIEW, "a.h", settings)
            for settings in (_OLD, Settings())
            for macro, text in (
                (
                    "PORTER_COMPLEX_OPERATOR(hipFloatComplex, *, hipCmulf)",
                    f"{_BOTH} cuComplex operator*(cuComplex a, cuComplex b) {{ return cuCmulf(a, b); }}",
                ),
                (
                    "PORTER_COMPLEX_OPERATOR(hipDoubleComplex, /, hipCdiv)",
                    f"{_BOTH} cuDoubleComplex operator/({_TWO_DOUBLE}) {{ return cuCdiv(a, b); }}",
                ),
                (
                    "PORTER_COMPLEX_ASSIGNMENT(hipFloatComplex, *=, hipCmulf)",
                    f"{_BOTH} void operator*=(cuComplex &a, cuComplex b) {{ a = cuCmulf(a, b); }}",
                ),
                (
                    "PORTER_COMPLEX_ASSIGNMENT(hipFloatComplex, /=, hipCdivf)",
                    f"{_BOTH} cuComplex &operator/=(cuComplex &a, cuComplex b) {{ a = cuCdivf(a, b); return a; }}",
                ),
                (
                    "PORTER_COMPLEX_OPERATOR(hipDoubleComplex, *, hipCmul)",
                    f"{_BOTH} cuDoubleComplex operator*({_TWO_DOUBLE})\n{{ {_WRITTEN_OUT} }}",
                ),
            )
        ),
        Example(
            f"{_BOTH} cuDoubleComplex operator-({_TWO_DOUBLE}) {{ return cuCsub(a, b); }}\n"
            f"{_BOTH} cuDoubleComplex operator*({_TWO_DOUBLE}) {{ return cuCmul(a, b); }}",
            f"{_GUARD}\n{_BOTH} cuDoubleComplex operator-({_TWO_DOUBLE}) {{ return cuCsub(a, b); }}\n#endif\n"
            f"{_PRODUCT_GUARD}\n{_BOTH} cuDoubleComplex operator*({_TWO_DOUBLE}) {{ return cuCmul(a, b); }}\n"
            "#else\nPORTER_COMPLEX_OPERATOR(hipDoubleComplex, *, hipCmul)\n#endif",
            Effort.REVIEW,
            "a.h",
            _OLD,
        ),
        *(
            Example(text, text, Effort.MANUAL, "a.h", _OLD)
            for text in (
                "inline bool operator==(const cuDoubleComplex &a, const cuDoubleComplex &b) { return near(a, b); }",
                f"{_BOTH} cuComplex operator*(cuComplex a, cuComplex b) {{ return cuCmulf(a, cuConjf(b)); }}",
                f"{_BOTH} cuComplex operator*(cuComplex a, cuComplex b) {{ return cuCdivf(a, b); }}",
                f"{_BOTH} cuComplex operator/(cuComplex a, cuComplex b) {{ return cuCdivf(b, a); }}",
                f"{_BOTH} void operator*=(cuComplex &a, cuComplex b) {{ a = a * b; a.x = 0; }}",
                f"{_BOTH} void operator*=(cuComplex &a, cuComplex b) {{ a *= b; }}",
                f"{_BOTH} cuDoubleComplex operator*({_TWO_DOUBLE}) {{ {_WRITTEN_OUT.replace(' - ', ' + ')} }}",
            )
        ),
        clean("inline bool operator==(const cuDoubleComplex &a, const cuDoubleComplex &b) { return near(a, b); }"),
        *(
            Example(text, None, None, "a.h", _OLD)
            for text in (
                "bool operator==(cuDoubleComplex a, cuDoubleComplex b) { return a.x == b.x; }",
                "__device__ cuDoubleComplex operator*(cuDoubleComplex a, cuDoubleComplex b) { return a; }",
                "inline cuComplex operator*(const cuComplex &a, float b) { return a; }",
            )
        ),
        clean("struct v { float x; __host__ __device__ v operator*(v b) const { return b; } };", path="a.h"),
        clean("__device__ float2 operator*(float2 a, float2 b) { return a; }", path="a.h"),
        clean("inline __host__ __device__ float2 operator*(float2 a, float s) { return a; }", path="a.h"),
        clean("inline __host__ __device__ vec operator*(vec a, vec b) { return a; }", path="a.h"),
        clean(
            "#ifndef __HIPCC__\n__host__ __device__ void operator+=(int2 &a, int2 b) { a.x += b.x; }\n#endif",
            path="a.h",
        ),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per stretch of operators that HIP has, one per operator that means something else."""
        groups = find_groups(unit.tokens)
        run: list[Operator] = []
        for operator in find_operators(unit.tokens):
            if not _collides(unit, operator) or knows_hip(group_at(groups, operator.span.start), unit.tokens):
                continue
            if not (_means_the_same(unit, operator) and _stands_alone(unit, operator.span)):
                message = f"operator{operator.symbol} on {operator.parameters[0][0]} is ambiguous with HIP's own"
                yield self.finding(unit, operator.span, message, Effort.MANUAL)
                continue
            together = run and _guard(run[-1]) == _guard(operator) and _adjacent(unit, run[-1], operator, groups)
            if run and not together:
                yield self._guarded(unit, run)
                run = []
            run.append(operator)
        if run:
            yield self._guarded(unit, run)

    def _guarded(self, unit: Unit, run: list[Operator]) -> Finding:
        guard = _guard(run[0])
        newline = unit.source.newline
        span = Span(run[0].span.start, run[-1].span.end)
        instead = [_overloads(operator) for operator in run] if guard == _PRODUCT_GUARD else []
        edits = (
            Edit(span.start, span.start, f"{guard}{newline}"),
            Edit(span.end, span.end, newline.join(("", *(("#else", *instead) if instead else ()), "#endif"))),
        )
        names = ", ".join(dict.fromkeys(f"{operator.parameters[0][0]} {operator.symbol}" for operator in run))
        if instead:
            return self.finding(unit, span, f"{names}: {_AMBIGUOUS}", Effort.REVIEW, edits, (_SUPPORT,))
        return self.finding(unit, span, f"HIP's vector types have these operators: {names}", Effort.NONE, edits)


def _guard(operator: Operator) -> str:
    """The condition under which the project's own operator is compiled."""
    return _PRODUCT_GUARD if _is_product(operator) else _GUARD


def _overloads(operator: Operator) -> str:
    """The overloads that the compiler prefers to those of HIP's headers."""
    is_double = operator.parameters[0][0] == "cuDoubleComplex"
    type_, suffix = ("hipDoubleComplex", "") if is_double else ("hipFloatComplex", "f")
    name = f"hipC{'mul' if operator.symbol[0] == '*' else 'div'}{suffix}"
    kind = "ASSIGNMENT" if operator.symbol in _COMPOUND else "OPERATOR"
    return f"PORTER_COMPLEX_{kind}({type_}, {operator.symbol}, {name})"


def _is_product(operator: Operator) -> bool:
    """Whether it multiplies or divides complex numbers."""
    return operator.parameters[0][0] in _COMPLEX and operator.symbol[0] in _PRODUCT_CALLS


def _is_old(unit: Unit) -> bool:
    """Whether the port has to compile where HIP's complex numbers have operators of their own."""
    rocm = unit.settings.rocm
    return rocm is not None and version_key(rocm) < version_key(_WITHOUT_COMPLEX)


def _collides(unit: Unit, operator: Operator) -> bool:
    """Whether HIP declares an operator that is exactly as good a match for host and device callers."""
    if len(operator.parameters) != 2:
        return False
    left, right = (type_ for type_, _ in operator.parameters)
    if left in _COMPLEX:
        is_one = left == right and operator.symbol in _COMPLEX_SYMBOLS
        has_references = _is_old(unit) and _takes_references(unit, operator)
        has_both = (_is_old(unit) or _is_product(operator)) and _is_host_device(unit, operator)
        return is_one and (has_both or has_references)
    if operator.symbol not in _ARITHMETIC | _COMPOUND:
        return False
    return left == right and _VECTOR.fullmatch(left) is not None and _is_host_device(unit, operator)


def _takes_references(unit: Unit, operator: Operator) -> bool:
    """Whether the parameters are those of HIP's operators on complex numbers, which are declared but once."""
    words = unit.tokens.texts[operator.first : operator.last]
    words = words[words.index("operator") :]
    parameters = words[: words.index("{")]
    return parameters.count("&") == 2 and parameters.count("const") == 2 - (operator.symbol in _COMPOUND)


def _is_host_device(unit: Unit, operator: Operator) -> bool:
    """Both attributes, or a macro that may stand for them."""
    words = frozenset(operator.head) - _PLAIN_HEAD
    if {"__host__", "__device__"} <= words:
        return True
    macros = [word for word in words if word.isupper() and len(word) > 1]
    if not macros or words & {"__host__", "__device__"}:
        return False
    texts = [text for word in macros for text in _texts_of_macro(unit, word)]
    return not texts or any("__host__" in text or "__device__" not in text for text in texts)


def _texts_of_macro(unit: Unit, name: str) -> Iterator[frozenset[str]]:
    """The words of each definition of a macro in sight."""
    for tokens in unit.program.all_tokens:
        for index in tokens.names.get(name, ()):
            directive = tokens.directive_of(index)
            if directive is not None and tokens.defines(index):
                yield frozenset(tokens.texts[index + 1 : directive.last])


def _means_the_same(unit: Unit, operator: Operator) -> bool:
    """Whether the body does as HIP does, itself or by way of the project's own plain operator."""
    if _is_as_in_hip(operator):
        return True
    (type_, left), (_, right) = operator.parameters
    symbol = operator.symbol.removesuffix("=")
    body = [text for text in operator.body if text not in "()"]
    through = [left, "=", left, symbol, right, ";"]
    if symbol == operator.symbol or body not in (through, [*through, "return", left, ";"]):
        return False
    plain = [
        other
        for tokens in unit.program.all_tokens
        for other in find_operators(tokens)
        if other.symbol == symbol and [kind for kind, _ in other.parameters] == [type_, type_]
    ]
    return bool(plain) and all(map(_is_as_in_hip, plain))


def _is_as_in_hip(operator: Operator) -> bool:
    """Whether the body itself says what HIP's operator does."""
    if _is_product(operator):
        return _is_complex_product(operator)
    return _is_component_wise(operator)


def _is_complex_product(operator: Operator) -> bool:
    """Whether the body is CUDA's product or quotient of both, in this order, or the product written out."""
    (type_, left), (_, right) = operator.parameters
    body = " ".join(operator.body)
    call = _PRODUCT_CALLS[operator.symbol[0]] + ("" if type_ == "cuDoubleComplex" else "f")
    values = [f"{call} ( {left} , {right} )"]
    if operator.symbol[0] == "*":
        values += _written_products(type_, left, right)
    if operator.symbol in _COMPOUND:
        stored = [f"{left} = {value} ;" for value in values]
        return body in (*stored, *(f"{text} return {left} ;" for text in stored))
    return body in [f"return {value} ;" for value in values]


def _written_products(type_: str, left: str, right: str) -> list[str]:
    """`make_cuComplex(a.x * b.x - a.y * b.y, ...)`, with the parts of the sum in either order."""
    crossed = (f"{left} . x * {right} . y", f"{left} . y * {right} . x")
    real = f"{left} . x * {right} . x - {left} . y * {right} . y"
    made = (f"make_{type_}",) if type_ != "cuComplex" else ("make_cuComplex", "make_cuFloatComplex")
    return [f"{name} ( {real} , {one} + {other} )" for name in made for one, other in (crossed, crossed[::-1])]


def _is_component_wise(operator: Operator) -> bool:
    """Whether the body is `a.x op b.x` for each component and nothing else."""
    (type_, left), (_, right) = operator.parameters
    match = _VECTOR.fullmatch(type_)
    members = _MEMBERS[: int(match[1])] if match is not None else _MEMBERS[:2]
    body = "".join(f" {text}" for text in operator.body if text not in "()").strip()
    if match is None and operator.symbol.rstrip("=") not in _COMPLEX_CALLS:
        return False
    if match is None and body in [f"return {name} {left} , {right} ;" for name in _COMPLEX_CALLS[operator.symbol[0]]]:
        return True
    symbol = operator.symbol.rstrip("=")
    pairs = [f"{left} . {m} {symbol} {right} . {m}" for m in members]
    if operator.symbol in _COMPOUND:
        statements = [f"{left} . {m} {operator.symbol} {right} . {m}" for m in members]
        long_statements = [f"{left} . {m} = {pair}" for m, pair in zip(members, pairs, strict=True)]
        whole = f"{left} = make_{type_} {' , '.join(pairs)}"
        found = [part.strip() for part in body.split(";") if part.strip()]
        if found and found[-1] == f"return {left}":
            found = found[:-1]
        return sorted(found) in (sorted(statements), sorted(long_statements)) or found == [whole]
    values = " , ".join(pairs)
    returned = (f"make_{type_} {values}", f"{type_} {values}", f"{type_} {{ {values} }}", f"{{ {values} }}")
    return body in [f"return {text} ;" for text in returned]


def _stands_alone(unit: Unit, span: Span) -> bool:
    """Whether directives fit around the function: nothing else on its first and last line."""
    text = unit.source.text
    after = text.find("\n", span.end)
    head = text[text.rfind("\n", 0, span.start) + 1 : span.start]
    tail = text[span.end : after if after >= 0 else len(text)]
    return not head.strip() and not tail.strip()


def _adjacent(unit: Unit, before: Operator, after: Operator, groups: Groups) -> bool:
    """Whether one guard can hold both: no code and no directive between them."""
    same_group = group_at(groups, before.span.start) is group_at(groups, after.span.start)
    between = (directive.start for directive in unit.tokens.directives)
    return (
        before.last == after.first
        and same_group
        and not any(before.span.end <= start < after.span.start for start in between)
    )
