"""What stands in for a name that nothing defines: a number, a type or a usual macro, by its name and how it is used."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from porter.validation.draft.blocks import ASSUMED_BLOCK
from porter.validation.draft.expression import split_arguments
from porter.validation.draft.idioms import attribute, usual_macro
from porter.validation.draft.members import with_members

_HD = "__host__ __device__"
_OF_CUDA = re.compile(
    r"cu[a-z]*[A-Z]\w*|CU[a-z]\w*|nv[a-z]+[A-Z]\w*|__\w+|std|thrust|cub|cooperative_groups|cg|wmma|nvcuda|CUB_\w*"
)
"""Names of CUDA and the language: a missing one is no project's."""
_SIZED = re.compile(
    r"(?:.*[a-z_])?(?P<sign>[uU]int|[uU]Int|UINT|U|u|[iI]nt|INT|I|i|S|s|F|f|[fF]loat|FLOAT)_?(?P<bits>8|16|32|64)(?:_?[tT])?"
)
_INTEGERS = {"8": "char", "16": "short", "32": "int", "64": "long long"}
_NAMED = (
    (r"bool", "bool"),
    (r"double|fp64", "double"),
    (r"byte|uchar|pixel", "unsigned char"),
    (r"u_?int|unsigned|uidx", "unsigned int"),
    (r"int64|long|offset", "long long"),
    (r"float|real|scalar|data_?t|dtype|data|value|coord|weight|acc", "float"),
    (r"idx|index|int|size|count|id(?:_?t)?$|label|key|flag|len|dim|stride|node|vertex|vid|eid|lid|gid|num", "int"),
)
_KEYWORDS = r"(?:for|if|while|do|switch|return|else|operator)\b"
_CONVERSION = re.compile(r"convert|cast|transform_?type", re.IGNORECASE)
_EPSILON, _PI, _LARGE = r"eps|tol", r"^(?:M_|k)?(?:two)?pi(?!x)", r"inf(?:inity)?$|huge|max_?(?:float|val)|big"
_FACTOR = re.compile(r"alpha|beta|gamma|scale|factor|coef|const_?f|dt$|rate|delta", re.IGNORECASE)
_VALUE_NAMES = (
    (r"warp_?size|lanes?$", "32"),
    (r"warps?_per|num_?warps", "4"),
    (r"block|thread|tpb|cta|ntx", str(ASSUMED_BLOCK)),
    (r"tile|bm$|bn$|bk$", "16"),
)


@dataclass(frozen=True)
class StandIn:
    """Lines of C++ in front of a source, and what they take a name to be."""

    name: str
    line: str
    meaning: str

    @property
    def note(self) -> str:
        """For a person to confirm."""
        return f"nothing defines {self.name}: taken to be {self.meaning}"


def stand_ins(names: Iterable[str], text: str) -> tuple[StandIn, ...]:
    """One for each name whose use in a text leaves a reading that is usual; functions are never made up."""
    found = (stand_in(name, text) for name in dict.fromkeys(names))
    return tuple(one for one in found if one is not None)


def stand_in(name: str, text: str) -> StandIn | None:
    """For one name, `Real` or `ns::Real`; None for CUDA's own names and where too much would be made up."""
    scope, _, last = name.rpartition("::")
    if _OF_CUDA.fullmatch(name.partition("::")[0]) or not last.isidentifier():
        return None
    made = _plain(last, text if not scope else re.sub(rf"\b{re.escape(scope)}\s*::\s*", "", text))
    if made is None or not scope:
        return made
    if made.line.startswith("#"):
        return None
    parts = scope.split("::")
    line = "".join(f"namespace {part} {{ " for part in parts) + made.line + " }" * len(parts)
    return StandIn(name, line, made.meaning)


def _plain(name: str, text: str) -> StandIn | None:
    if re.search(rf"\b{name}\b", text) is None:
        return None
    if (of_scope := _scope(name, text)) is not None:
        return of_scope
    if re.search(rf"(?<![\w:]){name}\s*::", text):
        return None
    if _CONVERSION.search(name) and (made := _conversion(name, text)) is not None:
        return made
    calls = _calls(name, text)
    if re.search(rf"(?<![\w.>:]){name}\s*<[^;{{}}()]*>\s*::\s*type\b", text):
        return _trait(name, text)
    if calls and (usual := usual_macro(name, calls, text)) is not None:
        return StandIn(name, *usual)
    if is_type(name, text):
        return type_for(name, text)
    if calls or re.search(rf"(?<![\w.>:]){name}\s*<", text):
        return None
    if (written := attribute(name, text)) is not None:
        return StandIn(name, f"#define {name} {written}".rstrip(), written or "nothing")
    return _value(name, text)


def _calls(name: str, text: str) -> tuple[tuple[str, ...], ...]:
    """The arguments of each use of a name as a function."""
    found = []
    for match in re.finditer(rf"(?<![\w.>:]){name}\s*\(", text):
        depth, end = 1, match.end()
        while end < len(text) and depth:
            depth += (text[end] == "(") - (text[end] == ")")
            end += 1
        found.append(tuple(one for one in split_arguments(text[match.end() : end - 1]) if one))
    return tuple(found)


# -- types --------------------------------------------------------------------------------------------


def is_type(name: str, text: str) -> bool:
    """Whether a text declares variables of a type of this name, or casts to it."""
    behind = r"\b(?:const|static|volatile|extern|inline|__\w+__|return)"
    variable = rf"(?:const\s*)?[*&\s]\s*(?:const\s+|__restrict__\s+)?(?!{_KEYWORDS})[A-Za-z_]\w*\s*(?:[;,)=\[(]|\{{)"
    declares = rf"(?:^|[;{{}}(,<]|{behind})\s*{name}\s*{variable}"
    casts = rf"\(\s*(?:const\s+)?{name}\s*[*&]*\s*\)\s*[\w(&*-]"
    named = rf"\b(?:sizeof|static_cast|reinterpret_cast|const_cast)\s*[(<]\s*(?:const\s+)?{name}\s*[*&]*\s*[)>]"
    given = rf"[<,]\s*{name}\s*[*&]*\s*[>,]"
    return re.search(f"{declares}|{casts}|{named}|{given}", text, re.MULTILINE) is not None


def type_for(name: str, text: str) -> StandIn | None:
    """A plain number where nothing asks for members, else a class with those that are asked for."""
    variables = set(
        re.findall(
            rf"\b{name}\b\s*(?:const\s*)?[*&]*\s*(?:const\s+|__restrict__\s+|__restrict\s+)?([A-Za-z_]\w*)\s*[;,)=\[]",
            text,
        )
    )
    made = with_members(name, frozenset(variables), text)
    if made is None:
        return None
    if made.line:
        return StandIn(name, made.line, made.meaning)
    kind = _number_type(name, frozenset(variables), text)
    return StandIn(name, f"typedef {kind} {name};", kind)


def _number_type(name: str, variables: frozenset[str], text: str) -> str:
    sized = _SIZED.fullmatch(name)
    if sized is not None:
        if sized["sign"][0] in "fF":
            return {"64": "double"}.get(sized["bits"], "float")
        unsigned = "unsigned " if sized["sign"][0] in "uU" else "signed " if sized["bits"] == "8" else ""
        return f"{unsigned}{_INTEGERS[sized['bits']]}"
    for pattern, kind in _NAMED[:5]:
        if re.search(pattern, name, re.IGNORECASE):
            return kind
    if any(_is_index(variable, text) for variable in variables):
        return "int"
    return next((kind for pattern, kind in _NAMED[5:] if re.search(pattern, name, re.IGNORECASE)), "float")


def _is_index(variable: str, text: str) -> bool:
    """Whether a variable, or what it points to, is used as only integers are."""
    one = rf"(?<![\w.]){variable}\b(?:\s*\[[^\[\]]*\])?"
    return (
        re.search(rf"\[[^\[\];]*{one}[^\[\];]*\]|{one}\s*(?:%|<<|>>|&(?!&)|\^|\|(?!\|))|(?:%|<<|>>)\s*{one}", text)
        is not None
    )


def _trait(name: str, text: str) -> StandIn | None:
    """`acc<T>::type`, the argument itself."""
    match = re.search(rf"(?<![\w.>:]){name}\s*<([^;{{}}()]*?)>\s*::\s*type\b", text)
    parts = split_arguments(match[1]) if match else ()
    if not 1 <= len(parts) <= 3 or re.fullmatch(r"\d+|true|false", parts[0]):
        return None
    heads = ", ".join("auto" if re.fullmatch(r"\d+|true|false", one) else "typename" for one in parts[1:])
    line = f"template <typename T{', ' * bool(heads)}{heads}> struct {name} {{ typedef T type; }};"
    return StandIn(name, line, f"a trait whose type is its argument: {line}")


def _conversion(name: str, text: str) -> StandIn | None:
    """`Convert<From, To>::to(x)`, what a cast gives."""
    used = re.findall(rf"(?<![\w.>:]){name}\s*<([^;{{}}()]*?)>\s*::\s*(\w+)\s*\(", text)
    functions = list(dict.fromkeys(function for _, function in used))
    if not used or len(functions) > 1 or any(len(split_arguments(given)) != 2 for given, _ in used):
        return None
    line = (
        f"template <typename From, typename To> struct {name} "
        f"{{ static {_HD} To {functions[0]}(From from) {{ return static_cast<To>(from); }} }};"
    )
    return StandIn(name, line, f"a conversion: {line}")


# -- scopes -------------------------------------------------------------------------------------------


def _scope(name: str, text: str) -> StandIn | None:
    """A namespace that is only opened up, or an enumeration whose values alone are named."""
    if re.search(rf"\busing\s+namespace\s+{name}\s*;", text) and not re.search(rf"(?<![\w:]){name}\s*::", text):
        return StandIn(name, f"namespace {name} {{}}", "an empty namespace")
    uses = re.findall(rf"(?<![\w:]){name}\s*::\s*(\w+)\s*(\(|<|::|[A-Za-z_*&]?)", text)
    if not uses or any(after in ("(", "<", "::") for _, after in uses):
        return None
    members = list(dict.fromkeys(member for member, _ in uses))
    if not any(after for _, after in uses):
        line = f"enum class {name} : int {{ {', '.join(members)} }};"
        return StandIn(name, line, f"an enumeration: {line}")
    inside = re.sub(rf"(?<![\w:]){name}\s*::\s*", "", text)
    made = [_plain(member, inside) for member in members]
    if None in made or any(one.line.startswith("#") for one in made if one):
        return None
    line = f"namespace {name} {{ {' '.join(one.line for one in made if one)} }}"
    return StandIn(name, line, f"a namespace: {line}")


# -- values -------------------------------------------------------------------------------------------


def _value(name: str, text: str) -> StandIn | None:
    for pattern, value in ((_EPSILON, "1e-6f"), (_PI, "3.14159265358979f"), (_LARGE, "1e30f")):
        if re.search(pattern, name, re.IGNORECASE):
            return _constant(name, "float", value)
    if re.search(rf"\b{name}\s*\[|\*\s*(?:const\s+|__restrict__\s+)?\w+\s*=\s*&?\s*{name}\b", text):
        return None
    if _FACTOR.search(name) and not re.search(rf"\[[^\];]*\b{name}\b[^\];]*\]", text):
        return _constant(name, "float", "0.5f")
    value = next((value for pattern, value in _VALUE_NAMES if re.search(pattern, name, re.IGNORECASE)), "4")
    return _constant(name, "int", value)


def _constant(name: str, kind: str, value: str) -> StandIn:
    return StandIn(name, f"static constexpr {kind} {name} = {value};", value)
