"""The readers in C and those in Python say the same of any text."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from porter.cpp import compiled
from porter.cpp import lex as lexer
from porter.cpp.brackets import words
from porter.cpp.compiled import BLOCK, EXPRESSION, PYTHON, STATEMENTS, readers
from porter.cpp.cursor import DEEPEST, LONGEST_CHAIN, TOO_DEEP
from porter.cpp.lex import Tokens, lex, lex_in_python
from porter.cpp.nodes import Node
from porter.cpp.prescan import Wanted, scan, words_in_python
from porter.cpp.statements import parse_block, parse_expression, parse_in_python, parse_statements
from tests.kept import folder_made_by
from tests.outside import place

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "porter" / "cpp" / "compiled"
FILES = [
    *sorted(path for path in (ROOT / "samples").rglob("*") if path.suffix in (".cu", ".cuh", ".cpp")),
    *sorted(SOURCES.glob("*.c")),
]
HAVE_HEADERS = Path(sysconfig.get_path("include"), "Python.h").is_file()
is_compiled = pytest.mark.skipif(readers is None, reason="the readers in C are not compiled here")
PARSERS = {BLOCK: parse_block, EXPRESSION: parse_expression, STATEMENTS: parse_statements}

WORDS = words(
    """
    ( ) [ ] { } ; , : :: ? < > >> >>> <<< = * & && . -> ++ -- ~ || += + - == ! % if for while do switch return break
    continue goto case default else asm __asm__ try catch constexpr extern struct class union enum const volatile
    __restrict__ not new delete throw template __device__ __host__ __align__ alignas __attribute__ 1 2.5f 0x1f int float
    auto a b c f T "s" 'c' using typedef static_cast sizeof operator ... # ## \\ and or
    xor bitand bitor compl not_eq and_eq or_eq xor_eq consteval requires mutable _Pragma __pragma UNROLL PRAGMA_X
    [[ ]] ({
    """
)
PIECES = words(
    """
    " ' \\ / * # include define < > R"( )" u8 L R U u e+ . 1 0x x _ $ @ : - + & | = ^ % ( ) { } // /* */ import
    include_next "a.h" <b.h> R"x( )x" ! ~ if endif LR" u' u8" 1'0
    """
) | {" ", "\t", "\n", "\r\n", "\\\n", "\\\r\n", "\x00", "\x0b", "\x1c", "\x85", "\xa0", "\xb2", "\xd7", "\xe9", "\xff"}
CODE = (
    "for (int i = 0; i < n; ++i) if constexpr (a) x[i] += f<4, T>((float)y) ? p->q : -1; else z;",
    'asm volatile("a" : "=r"(x) : "r"(y + 1)); do { } while (int z = g{1, 2}); for (auto a : b) c();',
    'extern "C" const int *&a[3][b] = {1, {2}}, c(4), d{5, 6}, e : 3; new T(3); delete x;',
    "k<<<g, b>>>([=] __device__() { }); sizeof a; case 1: default: goto x; try { } catch (...) { }",
    "static_cast<T *>(a); a.template b<int>(c); (a::b<c>)d; __attribute__((x)) int q; else",
    "__shared__ union { int a; } u; const struct S { int a; } s{1}; static enum E { A } e; const struct T t{1}; int b;",
    "T::a<b, (c), int>::d{}; x<y> z; std::f<a && b>(c); struct S { int a; }; MACRO(a) { b }",
    "UNROLL for (;;) MAYBE if (a) DO else b; QUIET default: LOUD return 3; do X while (y); FALLS case 1: c;",
    "auto &[a, b] = f(c), d; [[x]] [[y(1)]] if (a) [[z]] return; __shared__ __align__(16) float s[4]; auto [q](c);",
    "if (int a = b; c && d[e]) f; else if !consteval { }",
    "switch (a; b) { } while (auto x = y) for (T q = r; auto s : t) u;",
    "if LIKELY(a) b; if not consteval c;",
    "x = ({ int y = 1; y; }); m({ if (a) b; c; }, if (d) e;); S t{.a = 1, [2] = {3}};",
    "a and (b = c) or not d xor e bitand compl f;",
    "g and_eq h; int i [[j]] = k l; (T){m}.n; S{}(v); p::template q<r>::s t(u);",
    "[a = b, &c = d, e]<class T> requires (f) [[g]] (T h) mutable noexcept(i) -> j<k> { l; };",
    "[&] { }(); is<m, n> || o; p q r;",
    '_Pragma("a") for (;;) if (b) UNROLL_N(4) for (; bool c = d;) case 1: here: e;',
    "while (f) default: g; __pragma(h) i;",
    "alignas(8) __attribute__((x)) const __align__(4) int __align__(2) a = 1; extern __align__(b) __shared__ T t[];",
)

texts = st.one_of(
    st.lists(st.sampled_from(sorted(PIECES)), max_size=60).map("".join),
    st.lists(st.sampled_from(sorted(PIECES)), max_size=60).map(lambda pieces: "\xef\xbb\xbf" + "".join(pieces)),
    st.binary(max_size=120).map(lambda data: data.decode("latin-1")),
)
codes = st.tuples(st.lists(st.sampled_from(sorted(WORDS)), max_size=80), st.sampled_from(" \n")).map(
    lambda one: one[1].join(one[0])
)


def all_of(node: Node) -> Iterator[tuple[Any, ...]]:
    """Every field of a node and of all below it, without the walk that is written in C."""
    stack = [node]
    while stack:
        one = stack.pop()
        yield one.kind, one.first, one.last, one.text, one.extra, one.count, len(one.kids)
        stack.extend(one.kids[::-1])


def parts(tokens: Tokens) -> tuple[Any, ...]:
    """What the lexers give."""
    return tokens.kinds, tokens.starts, tokens.texts, tokens.comments, tokens.directives, tokens.includes


def assert_same_tokens(text: str) -> tuple[Tokens, Tokens]:
    """The tokens by both lexers, with their names and brackets."""
    ours, pythons = lex(text), lex_in_python(text)
    assert parts(ours) == parts(pythons)
    assert list(map(type, parts(ours))) == list(map(type, parts(pythons)))
    assert {type(one) for one in ours.comments + ours.directives + ours.includes} == {
        type(one) for one in pythons.comments + pythons.directives + pythons.includes
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lexer, "readers", None)
        names, partner, firsts = pythons.names, pythons.partner, pythons.first_characters
    assert ours.names == names
    assert ours.first_characters == firsts
    assert ours.partner == partner
    return ours, pythons


def assert_same_trees(text: str) -> None:
    """The whole text as a block, an expression and statements."""
    ours, pythons = assert_same_tokens(text)
    for what, parse in PARSERS.items():
        tree, wanted = parse(ours, 0, len(ours)), parse_in_python(what, pythons, 0, len(pythons))
        assert list(all_of(tree)) == list(all_of(wanted))
        assert [id(node) for node in tree.walk()] == [id(node) for node in _walked(tree)]
    assert ours.memo.get(TOO_DEEP) == pythons.memo.get(TOO_DEEP)


def _walked(node: Node) -> Iterator[Node]:
    yield node
    for kid in node.kids:
        yield from _walked(kid)


@is_compiled
@given(texts)
@example('u8R"x()x" u8"a" u\'"\' LR"(\n#if\n)" R"0123456789abcdef()0123456789abcdef" R"0123456789abcdefg()"')
@example('/* */ # /* a */ in\\\nclude <x>\n#include_next "y" // z\n# include MACRO\n#import <a"b>\n#include "a\n')
@example("a #b\n \xa0 #c\n\x1c#d\n/*\n*/ #e\n \\\n #f \\\r\n g\n#\xe9 #\xd7")
@example("#define A(x) ) { #x\n(\n#if (\n)\n#endif\n} ( [ { ( [ { ( ] ) \\")
@example("1'000'000u + 0x1p-3f + 1e+ + .5 + 1.e'$ + 1''2 <=>= >>>= <<<= ->* .* ... ## #@")
def test_the_lexers_agree(text: str) -> None:
    """Whatever the bytes are."""
    assert_same_tokens(text)


DECLARING = (
    *(
        "cudaFoo",
        "float4",
        "x",
        "f",
        "final",
        "typedef ",
        "using ",
        "struct ",
        "enum class ",
        "template <class T> ",
        "\xe9",
    ),
    *(
        "alignas(8) ",
        "__align__(8) ",
        "__a__",
        "__global__ ",
        'extern "C" ',
        "#define ",
        "# include <a.h>",
        "return ",
        "$",
    ),
    *(
        "\n",
        "\n",
        "\r\n",
        " ",
        "\t",
        ";",
        ",",
        ":",
        "::",
        "=",
        "*",
        "&",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "<",
        ">",
        "/*",
        "*/",
    ),
)


def assert_same_scan(text: str) -> None:
    """The words of a file, and the names that it declares."""
    assert readers is not None
    data = text.encode("latin-1")
    assert readers.words(data) == words_in_python(data)
    wanted = Wanted(lambda words: True, frozenset({b"float4", b"S"}), (b"cu",))
    names = {"cudaFoo", "float4", "S"}
    assert scan(data, names.__contains__, wanted) == scan(data, names.__contains__)


@is_compiled
@given(texts)
def test_words_agree(text: str) -> None:
    """Whatever the bytes are."""
    assert_same_scan(text)


@is_compiled
@given(st.lists(st.sampled_from(DECLARING), max_size=60).map("".join))
@example("f(int a,\n  float4 b)\n{\n float4 c;")
@example("struct S\nfloat4 a;\nfloat4 b;")
@example("x = 1;\r\nstruct float4\r\n{ };")
def test_looking_at_lines_with_wanted_names_finds_what_looking_at_all_does(text: str) -> None:
    assert_same_scan(text)


@is_compiled
@given(codes)
@example(CODE[0])
@example(CODE[1])
@example(CODE[2])
@example(CODE[3])
@example(CODE[4])
@example(CODE[5])
@example(" ".join(CODE[9:19]))
def test_the_parsers_agree(text: str) -> None:
    """Whatever the tokens are."""
    assert_same_trees(text)


@is_compiled
@pytest.mark.parametrize(
    "text",
    [
        "(" * (2 * DEEPEST),
        "{" * (2 * DEEPEST) + "x;" + "}" * (2 * DEEPEST),
        "if (a) " * (2 * DEEPEST),
        "x = {" * (2 * DEEPEST),
        "a ? " * (2 * DEEPEST),
        "- " * (2 * DEEPEST),
        "[] {" * (2 * DEEPEST),
        "a + " * (2 * LONGEST_CHAIN),
        "a(b)[c].d" * (2 * LONGEST_CHAIN),
        "f<" * 700 + "int" + ">" * 700 + "(x)",
        ("(" + "a + " * LONGEST_CHAIN) * 20,
    ],
)
def test_the_limits_are_the_same(text: str) -> None:
    """What is too deep or too long ends at the same token."""
    ours, pythons = assert_same_tokens(text)
    for what, parse in PARSERS.items():
        tree = parse(ours, 0, len(ours))
        assert list(all_of(tree)) == list(all_of(parse_in_python(what, pythons, 0, len(pythons))))
        assert len(list(tree.walk())) == len(list(all_of(tree)))
    assert ours.memo.get(TOO_DEEP) == pythons.memo.get(TOO_DEEP)


@is_compiled
@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_real_files_are_read_alike(path: Path) -> None:
    """Those of the samples and the readers themselves."""
    assert_same_trees(path.read_bytes().decode("latin-1"))


@is_compiled
def test_a_text_beyond_latin_1_is_pythons() -> None:
    """Sources never have such characters: both lexers refuse it in the same way."""
    assert readers is not None
    assert readers.lex("\u20ac") is None
    with pytest.raises(UnicodeEncodeError):
        lex("int \u20ac;")


@is_compiled
def test_spellings_are_shared() -> None:
    """One object for each, as with Python's lexer, also when there were too many and they begin anew."""
    first, second = lex("alpha beta alpha"), lex("beta")
    assert first.texts[0] is first.texts[2]
    assert first.texts[1] is second.texts[0]
    for start in range(0, 1 << 18, 1 << 16):
        names = [f"name{number}" for number in range(start, start + (1 << 16))]
        assert lex(" ".join(names)).texts[: len(names)] == names


@is_compiled
def test_wrong_arguments_are_refused() -> None:
    """An exception, and no crash."""
    assert readers is not None
    tokens = lex("a + b")
    given_tokens = (tokens.texts, tokens.kinds, tokens.starts, tokens.partner, tokens.memo)
    for stretches in ([(0, 100)], [(-1, 2)], [0], ["ab"]):
        with pytest.raises((IndexError, TypeError)):
            readers.parse(EXPRESSION, *given_tokens, stretches, 0, 2)
    with pytest.raises(TypeError):
        readers.walk("no node")
    with pytest.raises(TypeError):
        readers.lex(b"int")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        readers.first_characters("int")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        readers.pair(tokens.texts, 3, ("define",))
    with pytest.raises(TypeError):
        readers.words("int")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        readers.lines(b"int", {b"int"}, ())  # type: ignore[arg-type]


@pytest.mark.skipif(not HAVE_HEADERS or not isinstance(place("C compiler"), str), reason="no compiler or Python.h")
def test_they_are_compiled_where_they_can_be() -> None:
    """And of the sources that stand here: after a change `pip install -e .` makes them anew."""
    if os.environ.get(PYTHON) == "python":
        pytest.skip(f"{PYTHON} is set")
    assert readers is not None
    assert getattr(readers, "sources", None) == compiled.digest()


@is_compiled
def test_what_was_compiled_of_other_sources_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    assert compiled._compiled() is not None
    monkeypatch.setattr(compiled, "digest", lambda: "of a source that changed")
    assert compiled._compiled() is None


def test_python_alone_does_the_same() -> None:
    """The variable switches them off."""
    code = "from porter.cpp import lex; print(lex.readers, lex.lex('a + b').kinds[:3])"
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, PYTHON: "python"}, capture_output=True, text=True
    )
    assert done.stdout == "None ipi\n"


@pytest.mark.slow
@is_compiled
def test_what_tests_the_readers_passes_with_python_alone() -> None:
    """The same tests, without what is compiled; but for those that ask clang alone."""
    tests = [
        "tests/parse",
        "--ignore=tests/parse/test_stubs.py",
        "--deselect=tests/parse/test_parse.py::test_long_header",
        "tests/core/test_lex.py",
        "tests/core/test_declared.py",
        "tests/warp/test_sight.py",
    ]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, PYTHON: "python"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]


WATCHED = """
import random, sys, importlib.util
spec = importlib.util.spec_from_file_location("porter.cpp.compiled._c", sys.argv[1])
watched = importlib.util.module_from_spec(spec)
spec.loader.exec_module(watched)
sys.modules["porter.cpp.compiled._c"] = watched
from porter.cpp import compiled
assert compiled.readers is watched
from tests.core.test_compiled import DECLARING, PIECES, WORDS, assert_same_scan, assert_same_tokens, assert_same_trees
chance = random.Random(7)
pieces, words = sorted(PIECES), sorted(WORDS)
for _ in range(1500):
    assert_same_tokens("".join(chance.choice(pieces) for _ in range(chance.randint(0, 60))))
    assert_same_trees(chance.choice(" \\n").join(chance.choice(words) for _ in range(chance.randint(0, 60))))
    assert_same_scan("".join(chance.choice(DECLARING) for _ in range(chance.randint(0, 60))))
assert_same_scan(" ".join(f"name{number}" for number in range(5000)))
for text in ("(" * 600, "f<" * 700 + "int" + ">" * 700, "a + " * 1100, "x = {" * 600, "[] {" * 600):
    assert_same_trees(text)
print("the end")
"""


@pytest.mark.slow
@pytest.mark.skipif(not HAVE_HEADERS, reason="Python.h is not there")
def test_no_byte_out_of_bounds() -> None:
    """Compiled with all warnings as errors, and watched over by the compiler's sanitizers."""
    compiler = "gcc"
    library = subprocess.run([compiler, "-print-file-name=libasan.so"], capture_output=True, text=True).stdout.strip()
    if not Path(library).is_absolute():
        pytest.skip("gcc has no sanitizers here")
    watching = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"]
    flags = ["-Wall", "-Wextra", "-Werror", "-O1", "-g", "-fPIC", "-shared", *watching]
    include = sysconfig.get_path("include")
    flags = [*flags, f'-DSOURCES="{compiled.digest()}"']
    words = [compiler, *flags, f"-I{include}", *map(str, sorted(SOURCES.glob("*.c")))]

    def fill(folder: Path) -> None:
        subprocess.run([*words, "-o", folder / "_c.so"], check=True)

    made = folder_made_by(fill, *words)
    environment = {
        **os.environ,
        "LD_PRELOAD": library,
        "ASAN_OPTIONS": "detect_leaks=0",
        "PYTHONMALLOC": "malloc",
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, "-c", WATCHED, str(made / "_c.so")]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.stdout == "the end\n", done.stderr[-3000:]
