// What the stand-ins for cuBLAS, cuFFT, cuRAND and cuSPARSE answer: every result as a line, for the test to compare with NumPy.
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cufft.h>
#include <curand.h>
#include <cusparse.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

static void check(int status, const char *what) {
    if (status) std::printf("status %d: %s\n", status, what), std::exit(1);
}
#define OK(call) check((int)(call), #call)

template <class T> __global__ void fill(T *at, int count, int seed) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) at[i] = (T)((i * 7 + seed * 13) % 11 - 5);
}

template <class T> struct Array { // of `count` numbers, complex ones as pairs
    T *at;
    int count;
    Array(int count, int seed) : count(count) {
        OK(cudaMalloc(&at, count * sizeof(T)));
        fill<<<(count + 63) / 64, 64>>>(at, count, seed);
    }
    ~Array() { cudaFree(at); }
    void print(const char *name) {
        std::vector<T> host(count);
        OK(cudaMemcpy(host.data(), at, count * sizeof(T), cudaMemcpyDeviceToHost));
        std::printf("%s:", name);
        for (T value : host) std::printf(" %.10g", (double)value);
        std::printf("\n");
    }
};
typedef Array<float> Floats;
typedef Array<double> Doubles;
static cuComplex *complex(Floats &a) { return (cuComplex *)a.at; }
static cuDoubleComplex *complex(Doubles &a) { return (cuDoubleComplex *)a.at; }

enum { M = 3, N = 4, K = 5 };
const float two = 2, some = 0.5f;
const double two_d = 2, half_d = 0.5;
const cuComplex two_c = {2, 1}, half_c = {0.5f, -1};
const cuDoubleComplex two_z = {2, 1}, half_z = {0.5, -1};

static void vectors(cublasHandle_t h) {
    float host = 0;
    int place = 0;
    Floats x(6, 1), y(12, 2), z(6, 3), device(1, 0);
    OK(cublasSdot(h, 6, x.at, 1, y.at, 2, &host)), std::printf("dot: %.9g\n", host);
    OK(cublasSnrm2(h, 6, x.at, 1, &host)), std::printf("nrm2: %.9g\n", host);
    OK(cublasScasum(h, 6, complex(y), 1, &host)), std::printf("scasum: %.9g\n", host);
    OK(cublasIsamax(h, 6, x.at, 1, &place)), std::printf("amax: %d\n", place);
    OK(cublasSaxpy(h, 6, &two, x.at, 1, y.at, 2)), y.print("axpy");
    OK(cublasSscal(h, 6, &some, x.at, 1)), x.print("scal");
    OK(cublasCscal(h, 3, &two_c, complex(z), 1)), z.print("cscal");
    OK(cublasCsscal(h, 3, &some, complex(z), 1)), z.print("csscal");
    OK(cublasScopy(h, 6, y.at, -2, z.at, 1)), z.print("copy");
    OK(cublasSswap(h, 6, x.at, 1, z.at, 1)), x.print("swap");
    OK(cublasSrot(h, 6, x.at, 1, z.at, 1, &some, &two)), z.print("rot");
    cuComplex pair;
    OK(cublasCdotc(h, 3, complex(x), 1, complex(z), 1, &pair)), std::printf("cdotc: %.9g %.9g\n", pair.x, pair.y);
    OK(cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE));
    OK(cublasSdot(h, 6, x.at, 1, z.at, 1, device.at)), device.print("dot on the device");
    OK(cublasSetPointerMode(h, CUBLAS_POINTER_MODE_HOST));
    float block[6] = {1, 2, 3, 4, 5, 6}, back[6] = {};
    OK(cublasSetMatrix(2, 3, sizeof(float), block, 2, x.at, 2)), OK(cublasGetVector(3, sizeof(float), x.at, 2, back, 1));
    std::printf("set and get: %g %g %g\n", back[0], back[1], back[2]);
}

static void matrices(cublasHandle_t h) {
    Floats a(M * K, 1), at(K * M, 1), b(K * N, 2), c(M * N, 3), x(K, 4), y(M, 5), s(M * M, 6), r(M * N, 7);
    Floats ca(2 * M * K, 1), cb(2 * N * K, 2), cc(2 * M * N, 3), cs(2 * M * M, 4);
    Doubles da(M * K, 1), db(K * N, 2), dc(M * N, 3), za(2 * K * M, 1), zb(2 * K * N, 2), zc(2 * M * N, 3);
    OK(cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &two, a.at, M, b.at, K, &some, c.at, M)), c.print("sgemm");
    OK(cublasSgemm(h, CUBLAS_OP_T, CUBLAS_OP_N, M, N, K, &two, at.at, K, b.at, K, &some, c.at, M)), c.print("sgemm transposed");
    OK(cublasDgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &two_d, da.at, M, db.at, K, &half_d, dc.at, M)), dc.print("dgemm");
    OK(cublasCgemm(h, CUBLAS_OP_N, CUBLAS_OP_C, M, N, K, &two_c, complex(ca), M, complex(cb), N, &half_c, complex(cc), M)), cc.print("cgemm");
    OK(cublasZgemm(h, CUBLAS_OP_T, CUBLAS_OP_N, M, N, K, &two_z, complex(za), K, complex(zb), K, &half_z, complex(zc), M)), zc.print("zgemm");
    OK(cublasSgemv(h, CUBLAS_OP_N, M, K, &two, a.at, M, x.at, 1, &some, y.at, 1)), y.print("sgemv");
    OK(cublasSger(h, M, K, &two, y.at, 1, x.at, 1, a.at, M)), a.print("sger");
    OK(cublasSsyrk(h, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, M, K, &two, a.at, M, &some, s.at, M)), s.print("ssyrk");
    const float one = 1, none = 0;
    OK(cublasCherk(h, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, M, K, &one, complex(ca), M, &none, complex(cs), M)), cs.print("cherk");
    OK(cublasSsymm(h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, M, N, &one, s.at, M, r.at, M, &none, c.at, M)), c.print("ssymm");
    OK(cublasStrmm(h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_UNIT, M, N, &two, s.at, M, r.at, M, c.at, M)), c.print("strmm");
    OK(cublasStrsm(h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T, CUBLAS_DIAG_UNIT, M, N, &one, s.at, M, r.at, M)), r.print("strsm");
    OK(cublasSgeam(h, CUBLAS_OP_T, CUBLAS_OP_N, M, K, &two, at.at, K, &some, a.at, M, a.at, M)), a.print("sgeam");
    OK(cublasSdgmm(h, CUBLAS_SIDE_RIGHT, M, K, a.at, M, x.at, 1, a.at, M)), a.print("sdgmm");
    Floats pa(2 * M * K, 1), pb(2 * K * N, 2), pc(2 * M * N, 3);
    OK(cublasSgemmStridedBatched(h, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &one, pa.at, M, M * K, pb.at, K, K * N, &none, pc.at, M, M * N, 2));
    pc.print("strided");
    float *lists[3][2] = {{pa.at, pa.at + M * K}, {pb.at + K * N, pb.at}, {pc.at, pc.at + M * N}}, **on_device;
    OK(cudaMalloc(&on_device, sizeof lists));
    OK(cudaMemcpy(on_device, lists, sizeof lists, cudaMemcpyHostToDevice));
    OK(cublasSgemmBatched(h, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &one, on_device, M, on_device + 2, K, &none, on_device + 4, M, 2));
    pc.print("batched");
}

static void mixed(cublasHandle_t h) {
    const float one = 1, none = 0;
    const int one_i = 1, none_i = 0;
    signed char a[8] = {1, -2, 3, -4, 5, 6, 7, 8};
    unsigned short halves[8] = {0x3c00, 0x4000, 0x4200, 0x4400, 0xbc00, 0x3800, 0x3c00, 0x4000}; // 1 2 3 4 -1 0.5 1 2
    void *at;
    Array<int> whole(4, 0);
    Floats wide(4, 0);
    OK(cudaMalloc(&at, 64));
    OK(cudaMemcpy(at, a, sizeof a, cudaMemcpyHostToDevice));
    OK(cublasGemmEx(h, CUBLAS_OP_T, CUBLAS_OP_N, 2, 2, 4, &one_i, at, CUDA_R_8I, 4, at, CUDA_R_8I, 4, &none_i, whole.at, CUDA_R_32I, 2, CUBLAS_COMPUTE_32I, CUBLAS_GEMM_DEFAULT));
    whole.print("bytes");
    OK(cudaMemcpy(at, halves, sizeof halves, cudaMemcpyHostToDevice));
    OK(cublasGemmEx(h, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, at, CUDA_R_16F, 2, (char *)at + 8, CUDA_R_16F, 2, &none, wide.at, CUDA_R_32F, 2, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    wide.print("halves");
}

static void solvers(cublasHandle_t h) {
    double a[2][9] = {{2, 1, 1, 4, 3, 3, 8, 7, 9}, {1, 0, 2, 5, 1, 0, 3, 2, 7}}, b[2][3] = {{1, 2, 3}, {4, 5, 6}};
    double *room, **lists, *each[6];
    int *pivots, *info, done;
    OK(cudaMalloc(&room, 60 * sizeof(double))), OK(cudaMalloc(&pivots, 8 * sizeof(int))), OK(cudaMalloc(&lists, sizeof each));
    info = pivots + 6;
    OK(cudaMemcpy(room, a, sizeof a, cudaMemcpyHostToDevice)), OK(cudaMemcpy(room + 18, b, sizeof b, cudaMemcpyHostToDevice));
    for (int i = 0; i < 2; i++) each[i] = room + 9 * i, each[2 + i] = room + 18 + 3 * i, each[4 + i] = room + 24 + 9 * i;
    OK(cudaMemcpy(lists, each, sizeof each, cudaMemcpyHostToDevice));
    OK(cublasDgetrfBatched(h, 3, lists, 3, pivots, info, 2));
    OK(cublasDgetrsBatched(h, CUBLAS_OP_N, 3, 1, lists, 3, pivots, lists + 2, 3, &done, 2));
    OK(cublasDgetriBatched(h, 3, lists, 3, pivots, lists + 4, 3, info, 2));
    double host[24];
    OK(cudaMemcpy(host, room + 18, sizeof host, cudaMemcpyDeviceToHost));
    std::printf("solved:");
    for (double value : host) std::printf(" %.9g", value);
    std::printf("\n");
}

static void transforms() {
    cufftHandle plan;
    Floats a(2 * 24, 1), b(2 * 24, 0), r(24, 2), c(2 * 20, 0);
    Doubles d(2 * 15, 3);
    OK(cufftPlan1d(&plan, 8, CUFFT_C2C, 3));
    OK(cufftExecC2C(plan, (cufftComplex *)a.at, (cufftComplex *)b.at, CUFFT_FORWARD)), b.print("c2c"), OK(cufftDestroy(plan));
    OK(cufftPlan2d(&plan, 4, 6, CUFFT_R2C));
    OK(cufftExecR2C(plan, r.at, (cufftComplex *)c.at)), c.print("r2c"), OK(cufftDestroy(plan));
    OK(cufftPlan2d(&plan, 4, 6, CUFFT_C2R));
    OK(cufftExecC2R(plan, (cufftComplex *)c.at, r.at)), r.print("c2r"), OK(cufftDestroy(plan));
    OK(cufftPlan2d(&plan, 3, 5, CUFFT_Z2Z));
    OK(cufftExecZ2Z(plan, (cufftDoubleComplex *)d.at, (cufftDoubleComplex *)d.at, CUFFT_INVERSE)), d.print("z2z"), OK(cufftDestroy(plan));
    int n[1] = {6}, embed[1] = {6};
    OK(cufftPlanMany(&plan, 1, n, embed, 4, 1, embed, 4, 1, CUFFT_C2C, 4)); // columns of a matrix of 6 x 4
    OK(cufftExecC2C(plan, (cufftComplex *)a.at, (cufftComplex *)a.at, CUFFT_FORWARD)), a.print("columns"), OK(cufftDestroy(plan));
    Floats in_place(2 * 5 * 2, 4); // two real rows of 8, each with room for 5 complex numbers
    OK(cufftPlan1d(&plan, 8, CUFFT_R2C, 2));
    OK(cufftExecR2C(plan, in_place.at, (cufftComplex *)in_place.at)), in_place.print("in place"), OK(cufftDestroy(plan));
}

static void random_numbers() {
    curandGenerator_t g;
    Floats u(20000, 0), z(20000, 0), q(64 * 2, 0);
    Array<unsigned> w(8, 0), p(20000, 0);
    OK(curandCreateGenerator(&g, CURAND_RNG_PSEUDO_PHILOX4_32_10));
    OK(curandSetPseudoRandomGeneratorSeed(g, 0));
    OK(curandGenerate(g, w.at, 8)), w.print("words");
    OK(curandSetPseudoRandomGeneratorSeed(g, 0x123456789abcdefULL));
    OK(curandGenerateUniform(g, u.at, 20000)), u.print("uniform");
    OK(curandGenerateNormal(g, z.at, 20000, 3, 2)), z.print("normal");
    OK(curandGeneratePoisson(g, p.at, 20000, 40)), p.print("poisson");
    OK(curandDestroyGenerator(g));
    OK(curandCreateGenerator(&g, CURAND_RNG_QUASI_SOBOL32));
    OK(curandSetQuasiRandomGeneratorDimensions(g, 2));
    OK(curandGenerateUniform(g, q.at, 128)), q.print("sobol");
    OK(curandDestroyGenerator(g));
}

static void sparse() {
    // [2 0 0 1 0; 0 3 0 0 4; 5 0 6 0 0; 0 7 0 8 0] and the lower triangle [2 . .; 1 4 .; 3 0 5]
    const int starts[5] = {0, 2, 4, 6, 8}, columns[8] = {0, 3, 1, 4, 0, 2, 1, 3}, rows[8] = {0, 0, 1, 1, 2, 2, 3, 3};
    const int low_starts[4] = {0, 1, 3, 5}, low_columns[5] = {0, 0, 1, 0, 2};
    const float values[8] = {2, 1, 3, 4, 5, 6, 7, 8}, low[5] = {2, 1, 4, 3, 5};
    char *room;
    OK(cudaMalloc(&room, 1024));
    auto put = [&](int at, const void *from, size_t bytes) { OK(cudaMemcpy(room + at, from, bytes, cudaMemcpyHostToDevice)); return room + at; };
    void *s = put(0, starts, sizeof starts), *c = put(64, columns, sizeof columns), *r = put(128, rows, sizeof rows), *v = put(192, values, sizeof values);
    void *ls = put(256, low_starts, sizeof low_starts), *lc = put(320, low_columns, sizeof low_columns), *lv = put(384, low, sizeof low);
    Floats x(5, 1), y(4, 2), b(15, 3), out(12, 4), solved(3, 5), dense(20, 6);
    cusparseHandle_t h;
    cusparseSpMatDescr_t csr, coo, triangle;
    cusparseDnVecDescr_t dx, dy, first, last;
    cusparseDnMatDescr_t db, dout, ddense;
    cusparseSpSVDescr_t solve;
    const float one = 1;
    size_t size;
    OK(cusparseCreate(&h));
    OK(cusparseCreateCsr(&csr, 4, 5, 8, s, c, v, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    OK(cusparseCreateCoo(&coo, 4, 5, 8, r, c, v, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    OK(cusparseCreateCsr(&triangle, 3, 3, 5, ls, lc, lv, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    OK(cusparseCreateDnVec(&dx, 5, x.at, CUDA_R_32F)), OK(cusparseCreateDnVec(&dy, 4, y.at, CUDA_R_32F));
    OK(cusparseCreateDnVec(&first, 3, b.at, CUDA_R_32F)), OK(cusparseCreateDnVec(&last, 3, solved.at, CUDA_R_32F));
    OK(cusparseCreateDnMat(&db, 5, 3, 3, b.at, CUDA_R_32F, CUSPARSE_ORDER_ROW)), OK(cusparseCreateDnMat(&dout, 4, 3, 4, out.at, CUDA_R_32F, CUSPARSE_ORDER_COL));
    OK(cusparseCreateDnMat(&ddense, 4, 5, 5, dense.at, CUDA_R_32F, CUSPARSE_ORDER_ROW));
    OK(cusparseSpMV_bufferSize(h, CUSPARSE_OPERATION_NON_TRANSPOSE, &two, csr, dx, &some, dy, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, &size));
    OK(cusparseSpMV(h, CUSPARSE_OPERATION_NON_TRANSPOSE, &two, csr, dx, &some, dy, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, nullptr)), y.print("spmv");
    OK(cusparseSpMV(h, CUSPARSE_OPERATION_TRANSPOSE, &one, coo, dy, &some, dx, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, nullptr)), x.print("spmv transposed");
    OK(cusparseSpMM(h, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &two, csr, db, &some, dout, CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT, nullptr)), out.print("spmm");
    OK(cusparseSparseToDense(h, coo, ddense, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, nullptr)), dense.print("dense");
    for (auto way : {CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_TRANSPOSE}) {
        OK(cusparseSpSV_createDescr(&solve));
        OK(cusparseSpSV_analysis(h, way, &two, triangle, first, last, CUDA_R_32F, CUSPARSE_SPSV_ALG_DEFAULT, solve, nullptr));
        OK(cusparseSpSV_solve(h, way, &two, triangle, first, last, CUDA_R_32F, CUSPARSE_SPSV_ALG_DEFAULT, solve));
        solved.print(way == CUSPARSE_OPERATION_TRANSPOSE ? "spsv transposed" : "spsv");
        OK(cusparseSpSV_destroyDescr(solve));
    }
    OK(cusparseDestroySpMat(csr)), OK(cusparseDestroyDnVec(dx)), OK(cusparseDestroyDnMat(db)), OK(cusparseDestroy(h));
}

// Played twice; the host's scalar is taken when the call is captured, the device's when it is played.
static void captured(cublasHandle_t h) {
    Floats x(6, 1), y(6, 2), a(36, 3), z(6, 4), scalar(1, 5), got(1, 0);
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    float alpha = 2, beta = 1;
    const int lines[3] = {0, 2, 3}, columns[3] = {0, 5, 2}; // [1 . . . . 1; . . 1 . . .], of what x holds
    int *places;
    Floats ones(3, 0), product(2, 7);
    cusparseHandle_t sparse;
    cusparseSpMatDescr_t csr;
    cusparseDnVecDescr_t from, into;
    OK(cudaMalloc(&places, sizeof lines + sizeof columns));
    OK(cudaMemcpy(places, lines, sizeof lines, cudaMemcpyHostToDevice)), OK(cudaMemcpy(places + 3, columns, sizeof columns, cudaMemcpyHostToDevice));
    OK(cusparseCreate(&sparse));
    OK(cusparseCreateCsr(&csr, 2, 6, 3, places, places + 3, ones.at, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    OK(cusparseCreateDnVec(&from, 6, x.at, CUDA_R_32F)), OK(cusparseCreateDnVec(&into, 2, product.at, CUDA_R_32F));
    OK(cudaStreamCreate(&stream)), OK(cublasSetStream(h, stream)), OK(cusparseSetStream(sparse, stream)), OK(cudaDeviceSynchronize());
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(cublasSaxpy(h, 6, &alpha, x.at, 1, y.at, 1));
    OK(cublasSgemv(h, CUBLAS_OP_T, 6, 6, &alpha, a.at, 6, x.at, 1, &beta, z.at, 1));
    OK(cusparseSpMV(sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, csr, from, &beta, into, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, nullptr));
    OK(cusparseDestroySpMat(csr)), OK(cusparseDestroyDnVec(from)), OK(cusparseDestroyDnVec(into)), OK(cusparseDestroy(sparse));
    alpha = beta = 100;
    OK(cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE));
    OK(cublasSscal(h, 6, scalar.at, z.at, 1));
    OK(cublasSdot(h, 6, x.at, 1, y.at, 1, got.at));
    OK(cublasSetPointerMode(h, CUBLAS_POINTER_MODE_HOST));
    OK(cudaStreamEndCapture(stream, &graph)), OK(cudaGraphInstantiate(&ready, graph, 0));
    y.print("before");
    for (int times = 0; times < 2; times++) OK(cudaGraphLaunch(ready, stream)), OK(cudaStreamSynchronize(stream));
    y.print("axpy"), z.print("gemv"), got.print("dot"), product.print("spmv");
}

int main(int count, char **words) {
    const char *mode = count > 1 ? words[1] : "";
    cublasHandle_t h;
    OK(cublasCreate(&h));
    if (!std::strcmp(mode, "vectors")) vectors(h);
    if (!std::strcmp(mode, "matrices")) matrices(h);
    if (!std::strcmp(mode, "mixed")) mixed(h), Floats(1, 1).print("launched");
    if (!std::strcmp(mode, "solvers")) solvers(h), Floats(1, 1).print("launched");
    if (!std::strcmp(mode, "transforms")) transforms();
    if (!std::strcmp(mode, "sparse")) sparse();
    if (!std::strcmp(mode, "random")) random_numbers();
    if (!std::strcmp(mode, "captured")) captured(h);
    if (!std::strcmp(mode, "captured result")) {
        Floats a(9, 1);
        float host = 0;
        cudaStream_t stream;
        OK(cudaStreamCreate(&stream)), OK(cublasSetStream(h, stream));
        OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        std::printf("refused: %d\n", cublasSdot(h, 9, a.at, 1, a.at, 1, &host) != CUBLAS_STATUS_SUCCESS);
    }
    if (!std::strcmp(mode, "beyond")) {
        Floats a(9, 1);
        std::printf("status %d\n", (int)cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 3, 3, 3, &two, a.at, 3, a.at, 3, &some, a.at + 1, 3));
    }
    if (!std::strcmp(mode, "absent")) {
        Floats a(9, 1);
        std::printf("refused: %d\n", cublasSspr(h, CUBLAS_FILL_MODE_LOWER, 3, &two, a.at, 1, a.at + 3) != CUBLAS_STATUS_SUCCESS);
    }
    OK(cublasDestroy(h));
    return 0;
}
