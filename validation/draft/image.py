"""Lines of a drafted case for texture and surface objects: what the kernel and the host's settings tell of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from porter.validation.cases.argument_rows import TODO
from porter.validation.draft.declarations import Function, matching
from porter.validation.draft.expression import split_arguments

_OBJECT = re.compile(r"(?:const\s+)?(?:cuda|CU)(Texture|tex|Surface|surf)Object(?:_t)?(?:\s+const)?")
_SAMPLE = r"\b(tex[123]D(?:fetch|Layered|Lod|Grad|gather)*)\s*(?:<\s*([\w ]+?)\s*>)?\s*\(\s*(?:&[^,]+,\s*)?{name}\s*,"
_MOVE = r"\b(surf[123]D(?:Layered)?)(read|write)\s*(?:<\s*([\w ]+?)\s*>)?\s*\(\s*(?:[^;]*?,\s*)?{name}\s*,"
_TEXEL = re.compile(r"(unsigned )?(u?char|u?short|u?int|float)([124]?)")
_BITS = {"char": "int8", "short": "int16", "int": "int32", "float": "float32"}
_DEEPEST = 3
_MODES = {"Wrap": "wrap", "Clamp": "clamp", "Mirror": "mirror", "Border": "border"}


def image_line(name: str, type_: str, body: str, text: str, functions: Sequence[Function] = ()) -> str | None:
    """The argument's line; None where the type is no texture or surface object."""
    found = _OBJECT.fullmatch(type_.strip())
    if found is None:
        return None
    body = _with_helpers(name, body, text, functions)
    return _texture(name, body, text) if found[1].lower().startswith("tex") else _surface(name, body)


def _with_helpers(name: str, body: str, text: str, functions: Sequence[Function], depth: int = 0) -> str:
    """A body, and those of the functions that it gives the object to, with its name in place of theirs."""
    found = [body]
    for function in functions if depth < _DEEPEST else ():
        for call in re.finditer(rf"(?<![\w.>]){re.escape(function.name)}\s*(?:<[^<>;]*>\s*)?\(", body):
            end = matching(body, call.end() - 1)
            given = split_arguments(body[call.end() : end - 1]) if end is not None else ()
            if name not in given or len(given) != len(function.parameters):
                continue
            own = function.parameters[given.index(name)][1]
            inside = re.sub(rf"\b{re.escape(own)}\b", name, text[function.start : function.end])
            found.append(_with_helpers(name, inside, text, functions, depth + 1))
            break
    return "\n".join(found)


def _texture(name: str, body: str, text: str) -> str:
    uses = re.findall(_SAMPLE.format(name=re.escape(name)), body)
    function, kind = uses[0] if uses else ("", "")
    dtype, channels = _element(kind)
    keys = _channels(channels) + ["layered"] * ("Layered" in function)
    if function == "tex1Dfetch":
        keys.append("memory=linear")
    else:
        keys += [key for key in _settings(text) if key != "filter=linear" or "int" not in dtype]
    if _agreed(text, r"readMode\s*=\s*cudaReadMode(\w+)") == "NormalizedFloat" and dtype == "float32":
        dtype, keys = f"{TODO}(uint8, int8, uint16 or int16)", [*keys, "read=normalized_float"]
    return f"texture {name}: {dtype}[{_sides(function, channels)}]{_braced(keys)}"


def _surface(name: str, body: str) -> str:
    uses = re.findall(_MOVE.format(name=re.escape(name)), body)
    function = uses[0][0] if uses else ""
    dtype, channels = _element(next((use[2] for use in uses if use[2]), "") or _written(name, body))
    ways = {use[1] for use in uses}
    access = ["access=both"] if ways == {"read", "write"} else ["access=read"] if ways == {"read"} else []
    keys = _channels(channels) + ["layered"] * ("Layered" in function) + access
    return f"surface {name}: {dtype}[{_sides(function, channels)}]{_braced(keys)}"


def _written(name: str, body: str) -> str:
    """The type of the variable that is written to a surface, where the call names none."""
    value = re.search(rf"\bsurf[123]D(?:Layered)?write\s*\(\s*(\w+)\s*,\s*{re.escape(name)}\s*,", body)
    declared = re.search(rf"\b((?:unsigned\s+)?\w+)\s+{value[1]}\s*[=;,)]", body) if value else None
    return " ".join(declared[1].split()) if declared else ""


def _element(kind: str) -> tuple[str, int]:
    """dtype and channels of a texel type."""
    found = _TEXEL.fullmatch(kind.replace("unsigned int", "uint").replace("signed char", "char"))
    if found is None:
        return TODO, 1
    is_unsigned = bool(found[1]) or found[2].startswith("u")
    dtype = ("u" if is_unsigned else "") + _BITS[found[2].removeprefix("u")]
    return dtype, int(found[3] or 1)


def _channels(count: int) -> list[str]:
    return [f"channels={count}"] if count > 1 else []


def _sides(function: str, channels: int) -> str:
    """One mark per dimension, and the channels."""
    found = re.match(r"(?:tex|surf)([123])D", function)
    count = (int(found[1]) if found else 1) + ("Layered" in function)
    return ", ".join([TODO] * count + [str(channels)] * (channels > 1))


def _settings(text: str) -> list[str]:
    """What the file sets, where it sets one thing only."""
    keys: list[str] = []
    if _agreed(text, r"filterMode\s*=\s*cudaFilterMode(\w+)") == "Linear":
        keys.append("filter=linear")
    if _agreed(text, r"normalizedCoords\s*=\s*(\w+)") in ("1", "true"):
        keys.append("normalized")
    mode = _agreed(text, r"addressMode\s*\[\s*\d\s*\]\s*=\s*cudaAddressMode(\w+)")
    if mode in _MODES and mode != "Clamp":
        keys.append(f"address={_MODES[mode]}")
    return keys


def _agreed(text: str, pattern: str) -> str | None:
    found = set(re.findall(pattern, text))
    return found.pop() if len(found) == 1 else None


def _braced(keys: list[str]) -> str:
    return f" {{{', '.join(keys)}}}" if keys else ""
