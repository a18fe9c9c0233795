"""What PTX instructions give, from exact arithmetic: Python integers and fractions, rounded once, by definition."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from fractions import Fraction

Number = Fraction | str
"""A value, or one of nan, inf, -inf, -0."""


@dataclass(frozen=True)
class Format:
    """A binary floating-point format."""

    bits: int
    mantissa: int
    """Bits after the point."""

    @property
    def bias(self) -> int:
        return (1 << (self.bits - self.mantissa - 2)) - 1

    @property
    def infinity(self) -> int:
        return ((1 << (self.bits - 1 - self.mantissa)) - 1) << self.mantissa


F16, BF16, F32, F64 = Format(16, 10), Format(16, 7), Format(32, 23), Format(64, 52)
FORMATS = {"f16": F16, "bf16": BF16, "f32": F32, "f64": F64}


def decode(pattern: int, form: Format) -> Number:
    """The value of a pattern."""
    sign = -1 if pattern >> (form.bits - 1) else 1
    size = pattern & ((1 << (form.bits - 1)) - 1)
    if size > form.infinity:
        return "nan"
    if size == form.infinity:
        return "inf" if sign > 0 else "-inf"
    if size == 0:
        return Fraction(0) if sign > 0 else "-0"
    exponent, mantissa = size >> form.mantissa, size & ((1 << form.mantissa) - 1)
    if exponent:
        mantissa |= 1 << form.mantissa
    return sign * Fraction(mantissa) * Fraction(2) ** (max(exponent, 1) - form.bias - form.mantissa)


def value(number: Number) -> Fraction:
    """A finite number as a fraction."""
    return Fraction(0) if number == "-0" else Fraction(number)


def negative(number: Number) -> bool:
    """Its sign bit."""
    return number in ("-0", "-inf") if isinstance(number, str) else number < 0


def integral(exact: Fraction, mode: str) -> int:
    """A fraction as an integer, rounded: n to even, z, m, p."""
    floor = exact.numerator // exact.denominator
    rest = exact - floor
    if mode == "m" or rest == 0:
        return floor
    if mode == "p":
        return floor + 1
    if mode == "z":
        return floor if exact > 0 else floor + 1
    if rest == Fraction(1, 2):
        return floor + (floor & 1)
    return floor + (rest > Fraction(1, 2))


def encode(number: Number, form: Format, mode: str = "n", zero_sign: bool = False) -> int:
    """The pattern of a number, rounded once; NaN is any."""
    top = 1 << (form.bits - 1)
    if isinstance(number, str):
        return {"nan": form.infinity + 1, "inf": form.infinity, "-inf": form.infinity | top, "-0": top}[number]
    if number == 0:
        return top if zero_sign else 0
    sign = top if number < 0 else 0
    size = abs(number)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if size < Fraction(2) ** exponent:
        exponent -= 1
    exponent = max(exponent, 1 - form.bias)
    step = Fraction(2) ** (exponent - form.mantissa)
    mirrored = {"m": "p", "p": "m"}.get(mode, mode) if sign else mode
    steps = integral(size / step, mirrored)
    if steps == 0:
        return sign
    if steps >> (form.mantissa + 1):
        steps >>= 1
        exponent += 1
    if steps >> form.mantissa:
        pattern = (exponent + form.bias) << form.mantissa | (steps & ((1 << form.mantissa) - 1))
    else:
        pattern = steps
    if pattern >= form.infinity:
        overflow = mode == "n" or (mode == "p" and not sign) or (mode == "m" and bool(sign))
        pattern = form.infinity if overflow else form.infinity - 1
    return sign | pattern


def add(a: Number, b: Number, mode: str) -> tuple[Number, bool]:
    """Sum, and the sign of a sum that is zero."""
    if "nan" in (a, b) or {a, b} == {"inf", "-inf"}:
        return "nan", False
    for number in (a, b):
        if number in ("inf", "-inf"):
            return number, False
    total = value(a) + value(b)
    both = negative(a) and negative(b)
    either = negative(a) or negative(b)
    return total, both or (mode == "m" and either)


def multiply(a: Number, b: Number) -> Number:
    """Product; a zero keeps its sign."""
    minus = negative(a) != negative(b)
    if "nan" in (a, b):
        return "nan"
    zero = [number for number in (a, b) if (not isinstance(number, str) and number == 0) or number == "-0"]
    if a in ("inf", "-inf") or b in ("inf", "-inf"):
        return "nan" if zero else "-inf" if minus else "inf"
    if zero:
        return "-0" if minus else Fraction(0)
    return value(a) * value(b)


def flush(pattern: int, form: Format) -> int:
    """Denormals become zero."""
    top = 1 << (form.bits - 1)
    return pattern & top if pattern & ~top < 1 << form.mantissa else pattern


def saturate(pattern: int, form: Format) -> int:
    """Between 0 and 1; NaN becomes 0."""
    number = decode(pattern, form)
    if number == "nan" or negative(number):
        return 0
    one = encode(Fraction(1), form)
    return min(pattern, one)


def arithmetic(name: str, form: Format, mode: str, patterns: list[int]) -> int:
    """add, sub, mul, fma, div, sqrt, rcp on patterns."""
    numbers = [decode(p, form) for p in patterns]
    if name == "sub":
        numbers[1] = decode(patterns[1] ^ 1 << (form.bits - 1), form)
    if name in ("add", "sub"):
        total, minus = add(numbers[0], numbers[1], mode)
        return encode(total, form, mode, minus)
    if name == "mul":
        return encode(multiply(numbers[0], numbers[1]), form, mode)
    if name == "fma":
        total, minus = add(multiply(numbers[0], numbers[1]), numbers[2], mode)
        return encode(total, form, mode, minus)
    if name == "sqrt":
        return square_root(numbers[0], form, mode)
    if name == "rcp":
        numbers = [Fraction(1), numbers[0]]
    return divide(numbers[0], numbers[1], form, mode)


def divide(a: Number, b: Number, form: Format, mode: str) -> int:
    """Quotient."""
    minus = negative(a) != negative(b)
    zero_a, zero_b = ((not isinstance(n, str) and n == 0) or n == "-0" for n in (a, b))
    infinite_a, infinite_b = a in ("inf", "-inf"), b in ("inf", "-inf")
    if "nan" in (a, b) or (zero_a and zero_b) or (infinite_a and infinite_b):
        return encode("nan", form)
    if infinite_a or zero_b:
        return encode("-inf" if minus else "inf", form)
    if zero_a or infinite_b:
        return encode("-0" if minus else Fraction(0), form)
    return encode(value(a) / value(b), form, mode)


def square_root(a: Number, form: Format, mode: str) -> int:
    """Root, from an integer root with bits to spare and a sticky one."""
    if a == "nan" or (negative(a) and a != "-0"):
        return encode("nan", form)
    if a in ("inf", "-0") or a == 0:
        return encode(a, form)
    scale = 2 * (2 * form.bits + form.bias)
    whole = value(a) * Fraction(4) ** (scale // 2)
    root = math.isqrt(whole.numerator // whole.denominator)
    exact = Fraction(root)
    if exact * exact != whole:
        exact += Fraction(1, 2)
    return encode(exact / Fraction(2) ** (scale // 2), form, mode)


def same(got: int, want: int, form: Format) -> bool:
    """The same pattern, or NaN both."""
    return got == want or (decode(got, form) == "nan" and decode(want, form) == "nan")


def signed(pattern: int, bits: int) -> int:
    """Two's complement."""
    pattern &= (1 << bits) - 1
    return pattern - (1 << bits) if pattern >> (bits - 1) else pattern


def f32_of(number: float) -> int:
    """The pattern of a float."""
    return int(struct.unpack("<I", struct.pack("<f", number))[0])
