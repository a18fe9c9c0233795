"""W103, W104: host code that asks for the width, in the spellings that C++ has for it, and near misses."""

from __future__ import annotations

import pytest

from tests.warp.spelled import codes, missed, ported

FOUND = [
    "void f(int d) { int w; ASK(&w, ATTR_WarpSize, d); }",
    "void f(int d) { int w; ASK(&w, ATTR_WarpSize, 0); }",
    "void f(int d) { int w = 0; cudaError_t e = ASK(&w, ATTR_WarpSize, d); }",
    "void f(int d) { int w; ::ASK(&w, ::ATTR_WarpSize, d); }",
    "void f(int d) { int w; ASK(&w, cudaDeviceAttr::ATTR_WarpSize, d); }",
    missed("void f(int d) { int w; ASK(&w, (cudaDeviceAttr)10, d); }"),
    missed("void f(int d) { int w; ASK(&w, static_cast<cudaDeviceAttr>(10), d); }"),
    "void f(int d) { int w; auto a = ATTR_WarpSize; ASK(&w, a, d); }",
    "int get(cudaDeviceAttr a) { int v; ASK(&v, a, 0); return v; } int f() { return get(ATTR_WarpSize); }",
    (
        "void f(int d) { int v[2]; cudaDeviceAttr a[] = {ATTR_WarpSize, ATTR_MaxThreadsPerBlock}; for (int i "
        "= 0; i < 2; ++i) ASK(v + i, a[i], d); launch(v[0]); }"
    ),
    "#define ATTR ATTR_WarpSize\nvoid f(int d) { int w; ASK(&w, ATTR, d); }",
    (
        "template <cudaDeviceAttr A> int get() { int v; ASK(&v, A, 0); return v; } int f() { return "
        "get<ATTR_WarpSize>(); }"
    ),
    "void f(int d) { int w; auto q = ASK; q(&w, ATTR_WarpSize, d); }",
    "int f() { static int w = [] { int x; ASK(&x, ATTR_WarpSize, 0); return x; }(); return w; }",
    "void f(CUdevice d) { int w; cuDeviceGetAttribute(&w, CU_DEVICE_ATTRIBUTE_WARP_SIZE, d); }",
    "void f(CUdevice d) { int w; CU_CHECK(cuDeviceGetAttribute(&w, CU_DEVICE_ATTRIBUTE_WARP_SIZE, d)); }",
    "void f(CUdevice d) { int w; api->cuDeviceGetAttribute(&w, CU_DEVICE_ATTRIBUTE_WARP_SIZE, d); }",
    "struct D { int w_; D(int d) { ASK(&w_, ATTR_WarpSize, d); } int warp() const { return w_; } };",
    "struct D { int w_; D(int d) { ASK(&this->w_, ATTR_WarpSize, d); } };",
    "void f(int *w, int d) { ASK(w, ATTR_WarpSize, d); }",
    "void f(int d) { std::vector<int> w(2); ASK(w.data(), ATTR_WarpSize, d); launch(w[0]); }",
    "void f(int d) { @ launch(p.warpSize); }",
    "void f(int d) { cudaDeviceProp p{}; cudaGetDeviceProperties(&p, d); int w = p.warpSize; }",
    "void f(int d) { struct @ launch(p.warpSize); }",
    (
        "void f(int d) { auto p = std::make_unique<cudaDeviceProp>(); cudaGetDeviceProperties(p.get(), d); "
        "launch(p->warpSize); }"
    ),
    "void f(int d) { auto *p = new cudaDeviceProp; cudaGetDeviceProperties(p, d); launch(p->warpSize); }",
    "void f(int d) { std::vector<cudaDeviceProp> p(2); cudaGetDeviceProperties(&p[d], d); launch(p[d].warpSize); }",
    "void f(int d) { std::array<cudaDeviceProp, 4> p; cudaGetDeviceProperties(&p[d], d); launch(p[d].warpSize); }",
    "void f(int d) { cudaDeviceProp p[4]; cudaGetDeviceProperties(&p[d], d); launch(p[d].warpSize); }",
    "void f(int d) { @ const auto &q = p; launch(q.warpSize); }",
    "void f(int d) { @ auto q = &p; launch(q->warpSize); }",
    "void f(int d) { @ auto &w = p.warpSize; }",
    "void f(int d) { @ auto [w, n] = std::pair(p.warpSize, 1); }",
    "void f(int d) { @ launch((&p)->warpSize); }",
    "void f(int d) { @ launch((*(&p)).warpSize); }",
    "void f(int d) { @ auto m = &cudaDeviceProp::warpSize; launch(p.*m); }",
    "void f(int d) { @ auto l = [&] { return p.warpSize; }; launch(l()); }",
    "void f(int d) { @ auto l = [w = p.warpSize] { return w; }; launch(l()); }",
    "struct H { cudaDeviceProp props; int w() const { return props.warpSize; } };",
    "struct H { cudaDeviceProp props; }; int f(const H &h) { return h.props.warpSize; }",
    "struct H { const cudaDeviceProp &get() const; }; int f(const H &h) { return h.get().warpSize; }",
    "const cudaDeviceProp &props(); int f() { return props().warpSize; }",
    "cudaDeviceProp *props(); int f() { return props()->warpSize; }",
    "int f(cudaDeviceProp *p) { return p->warpSize; }",
    "int f(const cudaDeviceProp &p) { return p.warpSize; }",
    "int f(const struct cudaDeviceProp *p) { return p->warpSize; }",
    "using P = cudaDeviceProp; int f(P p) { return p.warpSize; }",
    "typedef cudaDeviceProp P; int f(P p) { return p.warpSize; }",
    "int f() { auto p = at::cuda::getCurrentDeviceProperties(); return p->warpSize; }",
    "int f() { const auto *p = at::cuda::getDeviceProperties(0); return p->warpSize; }",
    "int f() { auto &p = *at::cuda::getCurrentDeviceProperties(); return p.warpSize; }",
    "int f() { return at::cuda::warp_size(); }",
    "int f() { static const int w = at::cuda::warp_size(); return w; }",
    "int f() { using at::cuda::warp_size; return warp_size(); }",
    "int f() { return C10_WARP_SIZE; }",
    "__global__ void k(int *o) { o[0] = C10_WARP_SIZE; }",
    "int f() { return c10::cuda::get_device_properties(0)->warpSize; }",
    "int f() { return get_prop().warpSize; }",
    (
        "void f() { static cudaDeviceProp p; static bool once = cudaGetDeviceProperties(&p, 0) == "
        "cudaSuccess; launch(p.warpSize); }"
    ),
    "void f(int d) { @ switch (p.warpSize) { case 32: launch(1); } }",
    "void f(int d) { @ assert(p.warpSize == 32); }",
    "void f(int d) { @ if (p.warpSize != 32) throw 1; }",
    "#define WS(p) (p).warpSize\nvoid f(int d) { @ launch(WS(p)); }",
    "#define WS prop.warpSize\ncudaDeviceProp prop; void f() { launch(WS); }",
    "int f() { return raft::resource::get_device_properties(h).warpSize; }",
    "int f() { return dprops.warpSize; }",
    "int f(K *k) { return k->deviceProp->warpSize; }",
    (
        "int f() { int d; cudaGetDevice(&d); cudaDeviceProp prop; ask(&prop); return (256 + prop.warpSize - "
        "1) / prop.warpSize; }"
    ),
    "int f() { const cudaDeviceProp &p = ctx->prop(); return p.warpSize; }",
]
NOT = [
    "void f(int d) { int n; ASK(&n, ATTR_MaxThreadsPerBlock, d); launch(n); }",
    "struct Config { int warpSize; }; int f(Config c) { return c.warpSize; }",
    "struct Config { int warpSize = 32; }; int f(const Config &config) { return config.warpSize; }",
    "struct DeviceInfo { int warpSize; }; int f(DeviceInfo device) { return device.warpSize; }",
    "struct Props { int warpSize; }; int f(Props props) { return props.warpSize; }",
    "int f(Config c) { return c.warpSize; }",
    "int f(Traits t) { return Traits::warpSize; }",
    "void f(cudaDeviceProp &p) { p.warpSize = 32; }",
    'void f(cudaDeviceProp p) { printf("%d", p.warpSize); }',
    'void f(cudaDeviceProp p) { std::cout << "w " << p.warpSize << std::endl; }',
    "void f(cudaDeviceProp p) { LOG(INFO) << p.warpSize; }",
    "int f(cudaDeviceProp p) { return p.maxThreadsPerBlock; }",
    "int f(Solver s) { return s->warpSize; }",
    'const char *f(cudaDeviceAttr a) { switch (a) { case ATTR_WarpSize: return "warp"; } }',
    'Row r[] = {{ATTR_WarpSize, "warp size"}};',
    'Row r[] = {{"warp size", ATTR_WarpSize}};',
    "enum A { ATTR_WarpSize = 10 };",
    'void f(int d) { int w; ASK(&w, ATTR_WarpSize, d); printf("%d", w); }',
    "void f(int d) { @ std::cout << p.warpSize; }",
    'void f(int d) { @ fprintf(stderr, "%d", p.warpSize); }',
]


def _full(text: str) -> str:
    text = text.replace("@", "cudaDeviceProp p; cudaGetDeviceProperties(&p, d);")
    return text.replace("ASK", "cudaDeviceGetAttribute").replace("ATTR_", "cudaDevAttr")


@pytest.mark.parametrize("text", FOUND)
def test_queries_of_the_width(text: str) -> None:
    assert codes(_full(text)) & {"W103", "W104"}


@pytest.mark.parametrize("text", NOT)
def test_what_is_no_query(text: str) -> None:
    assert not codes(_full(text)) & {"W103", "W104"}


def test_functions_of_a_table_are_not_put_in_a_namespace() -> None:
    text = (
        "void f(Api *api, CUdevice d) { int w; api->cuDeviceGetAttribute(&w, CU_DEVICE_ATTRIBUTE_WARP_SIZE, d); g(w); }"
    )
    assert "->porter::" not in ported(text).data.decode()
