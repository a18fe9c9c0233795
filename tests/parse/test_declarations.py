"""Which names two texts of a header differ by: everything that can be seen from outside counts."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from porter.check.affected import reached
from porter.cpp.declarations import chunks, differing_names, names_declared
from porter.cpp.lex import lex

HEADER = """\
#pragma once
#include <cstdint>
#define WIDTH 32
#define BEGIN_NAMESPACE namespace outer {
BEGIN_NAMESPACE
template <class Q, unsigned int SizeX, unsigned int SizeY = 1> class first_of_all : Q { int n; };
namespace lib { inline namespace v1 {
template <class T, class = std::enable_if_t<(sizeof(T) > 4)>> INLINE DEVICE
typename std::enable_if<std::is_same<T, int>::value, T>::type twice(T v) { return 2 * v; }
template <> struct traits<float, void> : base<traits<float>> { static constexpr int size = 4; };
constexpr int a = 1, b = 2;
enum kind { first, second = 2 };
using other = traits<int>;
typedef unsigned long long mask;
__global__ LAUNCH_BOUNDS(WIDTH) void __launch_bounds__(256) kernel(float *x) {
#if WIDTH == 32
  x[0] = 1;
#else
  x[0] = 2;
#endif
}
#ifdef USE_ROCM
inline int lanes() { return 64; }
#else
inline int lanes() { return 32; }
#endif
} }
END_NAMESPACE
"""

EDITS: dict[str, tuple[str, str, set[str] | None]] = {
    "a body": ("2 * v", "3 * v", {"twice"}),
    "a type of a template": ("is_same<T, int>", "is_same<T, long>", {"twice"}),
    "a class behind a macro": ("int n;", "long n;", {"first_of_all"}),
    "a member": ("size = 4", "size = 8", {"traits"}),
    "a macro": ("#define WIDTH 32", "#define WIDTH 64", {"WIDTH"}),
    "one of two variables": ("b = 2", "b = 3", {"a", "b"}),
    "an enumerator": ("second = 2", "third = 2", {"kind", "first", "second", "third"}),
    "an alias": ("traits<int>", "traits<long>", {"other"}),
    "a typedef": ("unsigned long long mask", "unsigned mask", {"mask"}),
    "a condition in a body": ("#if WIDTH == 32", "#if WIDTH != 32", {"kernel"}),
    "the kind of a condition": ("#ifdef USE_ROCM", "#ifndef USE_ROCM", {"lanes"}),
    "the bounds of a kernel": ("(256)", "(512)", {"kernel"}),
    "a namespace": ("namespace v1", "namespace v2", {"twice", "traits", "a", "b", "kind", "first", "second", "other"}),
    "a function more": ("constexpr int a", "inline int more() { return 0; }\nconstexpr int a", {"more"}),
    "an include": ("#include <cstdint>", "#include <cstddef>", None),
    "an operator": ("constexpr int a", "inline bool operator<(kind a, kind b) { return true; }\nconstexpr int a", None),
    "a macro that declares": ("constexpr int a", "DECLARE(a, b);\nconstexpr int a", None),
    "a using": ("constexpr int a", "using namespace std;\nconstexpr int a", None),
    "an alias of a namespace": ("constexpr int a", "namespace s = std;\nconstexpr int a", None),
    "a function pointer": ("constexpr int a", "extern void (*hook)(int);\nconstexpr int a", None),
    "a bracket too many": ("2 * v", "2 * v }", None),
    "a comment": ("2 * v", "2 /* times */ * v", set()),
}


@pytest.mark.parametrize("edit", EDITS)
def test_differing_names(edit: str) -> None:
    old, new, names = EDITS[edit]
    assert HEADER.count(old) >= 1
    found = differing_names(lex(HEADER), lex(HEADER.replace(old, new, 1)))
    if names is None or found is None:
        assert found is names
    else:
        assert names <= found, found
        everybodys = {"T", "Q", "SizeY", "BEGIN_NAMESPACE", "LAUNCH_BOUNDS", "std", "type", "value", "x", "USE_ROCM"}
        assert not found & everybodys


def test_all_tokens_are_in_some_chunk() -> None:
    """No change of a token is overlooked: each stands in a declaration or around one."""
    tokens = lex(HEADER)
    words = {word for chunk in chunks(tokens) for part in chunk for word in part}
    assert set(tokens.texts) - {"{", "}", ""} <= words
    assert all(names_declared(chunk) is not None or chunk[-1][:2] == ("#", "pragma") for chunk in chunks(tokens))


@settings(max_examples=60)
@given(st.integers(0, 2**32))
def test_chains_of_calls_are_followed(seed: int) -> None:
    """Functions that call others, over several headers: who comes to the changed one is reached, whoever that is."""
    chance = random.Random(seed)
    count = chance.randrange(3, 12)
    calls = {n: {chance.randrange(n) for _ in range(chance.randrange(3))} if n else set() for n in range(count)}
    texts = {
        f"{n}.h": "".join(f'#include "{m}.h"\n' for m in range(n)) + f"int f{n}() {{ return "
        f"{' + '.join(f'f{m}()' for m in sorted(calls[n])) or '0'}; }}\n"
        for n in range(count)
    }
    users = {f"{n}.h": [f"{m}.h" for m in range(n + 1, count)] for n in range(count)}
    changed = chance.randrange(count)
    path = f"{changed}.h"
    wanted, before = {changed}, set()
    while wanted != before:
        before = set(wanted)
        wanted |= {n for n in calls if calls[n] & wanted}
    found = reached({path: (texts[path], texts[path].replace("return", "return 1 +"))}, users, texts.__getitem__)
    assert found == {f"{n}.h" for n in wanted - {changed}}
    assert reached({path: None}, users, texts.__getitem__) == set(users[path])


def test_names_put_together_count() -> None:
    texts = {"u.cu": "#define CALL(a, b) a ## b()\nint v = CALL(tw, ice);\n", "n.cu": "int w = 2;\n"}
    found = reached({"h.h": ("int twice();", "long twice();")}, {"h.h": ["u.cu", "n.cu"]}, texts.__getitem__)
    assert found == {"u.cu"}
