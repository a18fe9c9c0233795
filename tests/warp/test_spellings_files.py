"""W108: files whose layout depends on the warp size, in many spellings, and near misses."""

from __future__ import annotations

import pytest

from tests.warp.spelled import codes, missed

DEPENDS = [
    "void f(FILE *f, unsigned *b, int n) { int words = (n + WARP_SIZE - 1) / WARP_SIZE; fwrite(b, 4, words, f); }",
    "void f(FILE *f, unsigned *b, int n) { fwrite(b, 4, n / WARP_SIZE, f); }",
    "void f(FILE *f, unsigned *b, int n) { std::fwrite(b, 4, n / warpSize, f); }",
    "void f(FILE *f, unsigned *b, int n) { fread(b, 4, n / C10_WARP_SIZE, f); }",
    'void f(FILE *f, int n) { fprintf(f, "%d", n / WARP_SIZE); }',
    'void f(FILE *f, int n) { int w = n / WARP_SIZE; fprintf(f, "%d", w); }',
    "void f(gzFile f, unsigned *b, int n) { gzwrite(f, b, n / WARP_SIZE); }",
    "void f(int fd, char *b, int n) { pwrite(fd, b, n / WARP_SIZE, 0); }",
    "void f(std::ofstream &o, char *b, int n) { o.write(b, n / WARP_SIZE); }",
    "void f(std::ifstream &i, char *b, int n) { i.read(b, n / WARP_SIZE); }",
    "void f(std::fstream *s, char *b, int n) { s->write(b, n / WARP_SIZE); }",
    "void f(std::ofstream &o, int n) { int p = n / WARP_SIZE; o.write((char *)&p, sizeof(p)); }",
    "void f(std::ofstream &o, int n) { o << n / WARP_SIZE << 1; }",
    'void f(int n) { std::ofstream o("a"); int w = n / WARP_SIZE; o << w; }',
    "void f(FILE *f, unsigned *b, int n) { auto a = n / WARP_SIZE, c = a * 2; fwrite(b, 4, c, f); }",
    "void f(FILE *f, unsigned *b, int n) { int words{n / WARP_SIZE}; fwrite(b, 4, words, f); }",
    "void f(FILE *f, unsigned *b, int n) { int words(n / WARP_SIZE); fwrite(b, 4, words, f); }",
    "void f(FILE *f, unsigned *b, int n) { int words; words = n; words /= WARP_SIZE; fwrite(b, 4, words, f); }",
    "void f(FILE *f, unsigned *b, int n) { int words = n >> LOG_WARP_SIZE; fwrite(b, 4, words, f); }",
    "#define WORDS(n) ((n) / WARP_SIZE)\nvoid f(FILE *f, unsigned *b, int n) { fwrite(b, 4, WORDS(n), f); }",
    "#define A WARP_SIZE\n#define B (2 * A)\nvoid f(FILE *f, unsigned *b) { fwrite(b, 4, B, f); }",
    "int words(int n) { return n / WARP_SIZE; } void f(FILE *f, char *b, int n) { fwrite(b, 4, words(n), f); }",
    "struct H { int w; }; void f(FILE *f, int n) { H h; h.w = n / WARP_SIZE; fwrite(&h, sizeof h, 1, f); }",
    "struct H { int w; }; void f(FILE *f, int n) { H h{n / WARP_SIZE}; fwrite(&h, sizeof h, 1, f); }",
    "struct H { int w; }; void f(FILE *f, H *h, int n) { h->w = n / WARP_SIZE; fwrite(h, sizeof *h, 1, f); }",
    "void f(FILE *f) { float x[WARP_SIZE]; fwrite(x, sizeof x, 1, f); }",
    "void f(FILE *f) { std::vector<float> x(WARP_SIZE); fwrite(x.data(), 4, x.size(), f); }",
    "void f(FILE *f) { int w = prop.warpSize; fwrite(&w, 4, 1, f); }",
    "void f(FILE *f) { int w = at::cuda::warp_size(); fwrite(&w, 4, 1, f); }",
    "void f(FILE *f) { int l; cudaDeviceGetAttribute(&l, cudaDevAttrWarpSize, 0); fwrite(&l, 4, 1, f); }",
    "struct S { int w = 4 * WARP_SIZE; void save(FILE *f) { fwrite(&w, 4, 1, f); } };",
    "void f(std::ofstream &o, char *b) { auto l = [&](int k) { o.write(b, k / WARP_SIZE); }; l(3); }",
    missed("void f(std::ostream &o, char *b, int n) { o.write(b, n / WARP_SIZE); }"),
    missed("void f(std::ifstream &i) { int w; i >> w; int n = w * WARP_SIZE; g(n); }"),
    missed("void f(int fd, char *b, int n) { ::write(fd, b, n / WARP_SIZE); }"),
    missed("struct H { float x[WARP_SIZE]; }; void f(FILE *f) { H h; fwrite(&h, sizeof(H), 1, f); }"),
    missed("void f(FILE *f, float (&x)[WARP_SIZE]) { fwrite(x, sizeof x, 1, f); }"),
    missed("void f(FILE *f, std::vector<int> x, int n) { x.resize(n * WARP_SIZE); fwrite(x.data(), 4, x.size(), f); }"),
    missed("struct S { int w; S() : w(WARP_SIZE) {} void save(FILE *f) { fwrite(&w, 4, 1, f); } };"),
    missed("void f(FILE *f, char *b, int n) { for (int i = 0; i < n; i += WARP_SIZE) fwrite(b + i, 4, 1, f); }"),
    missed("void f(FILE *f, char *b, int n) { if (n % WARP_SIZE) fwrite(b, 4, 1, f); }"),
]
DOES_NOT = [
    "void f(FILE *f, float *x, int n) { int g = n / WARP_SIZE; float t = sum(x, g); fwrite(&t, 4, 1, f); }",
    "void f(FILE *f, unsigned *b, int n) { dim3 block(WARP_SIZE, 8); fwrite(b, 4, n, f); }",
    "void f(FILE *f, unsigned *b, int n) { k<<<n / WARP_SIZE, WARP_SIZE>>>(b); fwrite(b, 4, n, f); }",
    "void f(FILE *f, unsigned *b, int n) { int g = n / WARP_SIZE; k<<<g, WARP_SIZE>>>(b); fwrite(b, 4, n, f); }",
    "void g(int n) { int w = n / WARP_SIZE; } void f(FILE *f, unsigned *b, int w) { fwrite(b, 4, w, f); }",
    "void f(FILE *f, unsigned *b, int n) { fwrite(b, 4, (n + 31) / 32, f); }",
    "void f(Queue &q, char *b, int n) { q.write(b, n / WARP_SIZE); }",
    'void f(FILE *f, unsigned *b, int n) { printf("%d", n / WARP_SIZE); fwrite(b, 4, n, f); }',
    'void f(FILE *f, unsigned *b, int n) { fprintf(stderr, "%d", n / WARP_SIZE); fwrite(b, 4, n, f); }',
    "void f(std::ofstream &o, int n) { std::cout << n / WARP_SIZE; o << n; }",
    "void f(FILE *f, unsigned *b, int n) { assert(n % WARP_SIZE == 0); fwrite(b, 4, n, f); }",
    "void f(FILE *f, unsigned *b, int n) { if (n > WARP_SIZE) throw 1; fwrite(b, 4, n, f); }",
    "void f(FILE *f, unsigned *b, int n) { int warmup = 3; fwrite(b, 4, warmup, f); }",
    "#define LOG(n) fprintf(stderr, n)\nvoid f(FILE *f, int n) { int w = WARP_SIZE; LOG(w); fwrite(&n, 4, 1, f); }",
    "int lanes(int n) { return n % WARP_SIZE; } void f(FILE *f, int n) { g(lanes(n)); fwrite(&n, 4, 1, f); }",
]


@pytest.mark.parametrize("text", DEPENDS)
def test_layouts_that_depend_on_the_width(text: str) -> None:
    assert "W108" in codes(text)


@pytest.mark.parametrize("text", DOES_NOT)
def test_layouts_that_do_not(text: str) -> None:
    assert "W108" not in codes(text)
