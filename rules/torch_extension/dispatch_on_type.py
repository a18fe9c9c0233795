"""T004: AT_DISPATCH on what `Tensor::type()` gives."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes

_MACRO = "AT_DISPATCH_"
_TYPE = (".", "type", "(", ")")


class DispatchOnType(Rule):
    """AT_DISPATCH with `Tensor::type()`

    `AT_DISPATCH_FLOATING_TYPES(x.type(), ...)` is how extensions were written for PyTorch before 1.5. The conversion
    that it needs was deprecated since, and is gone: the original does not build with releases of today either.
    `x.scalar_type()` means the same, in all of them.
    """

    code = "T004"
    text = _MACRO
    examples = (
        fixes(
            'void f(at::Tensor x) { AT_DISPATCH_FLOATING_TYPES(x.type(), "f", ([&] { g<scalar_t>(); })); }',
            'void f(at::Tensor x) { AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "f", ([&] { g<scalar_t>(); })); }',
        ),
        fixes(
            'AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, all[0].type(), "f", [&] {});',
            'AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, all[0].scalar_type(), "f", [&] {});',
        ),
        clean('AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "f", [&] { y.type(); });'),
        clean('AT_DISPATCH_SWITCH(x.type().scalarType(), "f", [&] {});'),
    )

    def applies(self, unit: Unit) -> bool:
        """Whether there is such a macro."""
        return _MACRO in unit.source.text and ".type()" in unit.source.text

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per macro."""
        tokens = unit.tokens
        for name in sorted(one for one in tokens.names if one.startswith(_MACRO)):
            for index in tokens.names[name]:
                for span in unit.arguments(index)[:4]:
                    first, last = tokens.at(span.start), tokens.at(span.end) - 1
                    if last - 3 >= first and tuple(tokens.texts[last - 3 : last + 1]) == _TYPE:
                        place = last - 2
                        edit = Edit(tokens.starts[place], tokens.end(place), "scalar_type")
                        message = "Tensor::type() is no scalar type any more"
                        yield self.finding(unit, unit.span(place), message, Effort.NONE, (edit,))
