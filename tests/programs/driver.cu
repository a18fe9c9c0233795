// The driver API and NVRTC: a source compiled while the program runs, launched in both ways, looked at and changed.
#include <cuda.h>
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vector>

static const char *const source =
    "#include \"twice.h\"\n"
    "__constant__ float bias[2];\n"
    "template <class T> __global__ void scale(T *values, int n) {\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n) values[i] = twice(values[i]) + bias[1];\n"
    "}\n"
    "extern \"C\" __global__ void fill(int *values, int value, int n) {\n"
    "    extern __shared__ int kept[];\n"
    "    kept[threadIdx.x] = value;\n"
    "    __syncthreads();\n"
    "    if (threadIdx.x < n) values[threadIdx.x] = kept[threadIdx.x] + int(threadIdx.x);\n"
    "}\n";
static const char *const header = "template <class T> __device__ T twice(T value) { return value + value; }\n";

#define MUST(call)                                                                \
    do {                                                                          \
        int status_ = (int)(call);                                                \
        if (status_) return printf("FAIL %s: %d\n", #call, status_), 1;           \
    } while (0)

static int compiled(const char *text, std::vector<char> *code, std::vector<char> *name) {
    nvrtcProgram program;
    const char *headers[] = {header}, *names[] = {"twice.h"};
    MUST(nvrtcCreateProgram(&program, text, "made.cu", 1, headers, names));
    if (name) MUST(nvrtcAddNameExpression(program, "scale<float>"));
    const char *options[] = {"--std=c++17", "-DUNUSED=1"};
    if (nvrtcCompileProgram(program, 2, options) != NVRTC_SUCCESS) {
        size_t size;
        MUST(nvrtcGetProgramLogSize(program, &size));
        std::vector<char> log(size);
        MUST(nvrtcGetProgramLog(program, log.data()));
        printf("not compiled; the log names it: %d\n", strstr(log.data(), "no_such_thing") != NULL);
        fprintf(stderr, "%s\n", log.data());
        return -1;
    }
    size_t size;
    MUST(nvrtcGetPTXSize(program, &size));
    code->resize(size);
    MUST(nvrtcGetPTX(program, code->data()));
    if (name) {
        const char *lowered;
        MUST(nvrtcGetLoweredName(program, "scale<float>", &lowered));
        name->assign(lowered, lowered + strlen(lowered) + 1);
    }
    MUST(nvrtcDestroyProgram(&program));
    return 0;
}

int main() {
    std::vector<char> code, name;
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction scale, fill;
    CUdeviceptr floats, ints, bias;
    size_t bytes;
    const int n = 100;
    MUST(cuInit(0));
    MUST(cuDeviceGet(&device, 0));
    CUctxCreateParams parameters = {}; // as CUDA 13 wants it
    MUST(cuCtxCreate(&context, &parameters, 0, device));
    if (compiled("no_such_thing x;", &code, NULL) != -1) return printf("FAIL: it compiled\n"), 1;
    MUST(compiled(source, &code, &name));
    MUST(cuModuleLoadDataEx(&module, code.data(), 0, NULL, NULL));
    MUST(cuModuleGetFunction(&scale, module, name.data()));
    MUST(cuModuleGetFunction(&fill, module, "fill"));
    MUST(cuModuleGetGlobal(&bias, &bytes, module, "bias"));
    float two[2] = {0, 0.5f};
    MUST(cuMemcpyHtoD(bias, two, bytes));

    std::vector<float> values(n);
    for (int i = 0; i < n; i++) values[i] = float(i);
    MUST(cuMemAlloc(&floats, n * sizeof(float)));
    MUST(cuMemAlloc(&ints, 64 * sizeof(int)));
    MUST(cuMemcpyHtoD(floats, values.data(), n * sizeof(float)));
    int count = n;
    void *arguments[] = {&floats, &count};
    MUST(cuLaunchKernel(scale, 4, 1, 1, 32, 1, 1, 0, 0, arguments, NULL));
    MUST(cuCtxSynchronize());
    MUST(cuMemcpyDtoH(values.data(), floats, n * sizeof(float)));
    for (int i = 0; i < n; i++)
        if (values[i] != 2.0f * i + 0.5f) return printf("FAIL at %d: %g\n", i, values[i]), 1;

    struct { // as it lies in the kernel's parameters
        CUdeviceptr values;
        int value, n;
    } packed = {ints, 7, 64};
    size_t size = sizeof packed;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    MUST(cuMemsetD32(ints, 3, 64));
    MUST(cuLaunchKernel(fill, 1, 1, 1, 64, 1, 1, 64 * sizeof(int), 0, NULL, extra));
    int found[64];
    MUST(cuMemcpyDtoH(found, ints, sizeof found));
    for (int i = 0; i < 64; i++)
        if (found[i] != 7 + i) return printf("FAIL at %d: %d\n", i, found[i]), 1;
    MUST(cuMemFree(floats));
    MUST(cuMemFree(ints));
    MUST(cuModuleUnload(module));
    MUST(cuCtxDestroy(context));
    printf("PASS %s\n", name.data());
    return 0;
}
