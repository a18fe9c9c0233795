// Compiles a kernel at run time with NVRTC, specialised by a polynomial's degree, and launches it with the driver API.
#include <cuda.h>
#include <nvrtc.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#define CHECK_CU(call)                                                            \
  do {                                                                            \
    const CUresult status_ = (call);                                              \
    if (status_ != CUDA_SUCCESS) {                                                \
      const char* text_ = nullptr;                                                \
      cuGetErrorString(status_, &text_);                                          \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, text_ ? text_ : "?"); \
      std::exit(EXIT_FAILURE);                                                    \
    }                                                                             \
  } while (0)

#define CHECK_NVRTC(call)                                                                   \
  do {                                                                                      \
    const nvrtcResult status_ = (call);                                                     \
    if (status_ != NVRTC_SUCCESS) {                                                         \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, nvrtcGetErrorString(status_)); \
      std::exit(EXIT_FAILURE);                                                              \
    }                                                                                       \
  } while (0)

static const char* const kSource = R"cuda(
#define FULL_MASK 0xffffffffu

// out[i] = p(x[i]); largest[w] = the largest value of the 32 elements of warp w.
extern "C" __global__ void polynomial(const float* x, const float* coefficients, float* out, float* largest, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = 0.0f;
  if (i < n) {
#pragma unroll
    for (int k = DEGREE; k >= 0; --k) value = fmaf(value, x[i], coefficients[k]);
    out[i] = value;
  } else {
    value = -INFINITY_F;
  }
  for (int offset = 16; offset > 0; offset >>= 1) value = fmaxf(value, __shfl_down_sync(FULL_MASK, value, offset));
  if ((threadIdx.x & 31) == 0 && i < n) largest[i / 32] = value;
}
)cuda";

static std::string compile(int degree, CUdevice device) {
  int major = 0, minor = 0;
  CHECK_CU(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  CHECK_CU(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
  const std::string arch = "--gpu-architecture=compute_" + std::to_string(major) + std::to_string(minor);
  const std::string define = "-DDEGREE=" + std::to_string(degree);
  const char* options[] = {arch.c_str(), define.c_str(), "-DINFINITY_F=__int_as_float(0x7f800000)", "--std=c++17"};

  nvrtcProgram program;
  CHECK_NVRTC(nvrtcCreateProgram(&program, kSource, "polynomial.cu", 0, nullptr, nullptr));
  const nvrtcResult result = nvrtcCompileProgram(program, 4, options);
  size_t log_size = 0;
  CHECK_NVRTC(nvrtcGetProgramLogSize(program, &log_size));
  std::string log(log_size, '\0');
  CHECK_NVRTC(nvrtcGetProgramLog(program, &log[0]));
  if (result != NVRTC_SUCCESS) {
    std::fprintf(stderr, "%s\n", log.c_str());
    std::exit(EXIT_FAILURE);
  }
  size_t ptx_size = 0;
  CHECK_NVRTC(nvrtcGetPTXSize(program, &ptx_size));
  std::string ptx(ptx_size, '\0');
  CHECK_NVRTC(nvrtcGetPTX(program, &ptx[0]));
  CHECK_NVRTC(nvrtcDestroyProgram(&program));
  return ptx;
}

static CUdeviceptr upload(const std::vector<float>& host) {
  CUdeviceptr device = 0;
  CHECK_CU(cuMemAlloc(&device, host.size() * sizeof(float)));
  CHECK_CU(cuMemcpyHtoD(device, host.data(), host.size() * sizeof(float)));
  return device;
}

int main() {
  constexpr int block = 128;
  int n = 5000, warps = (n + 31) / 32;
  std::vector<float> x(n), coefficients = {0.5f, -1.0f, 0.25f, 2.0f, -0.125f}, out(n), largest(warps);
  for (int i = 0; i < n; ++i) x[i] = static_cast<float>(i * 19 % 401) / 200.0f - 1.0f;

  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction polynomial;
  CHECK_CU(cuInit(0));
  CHECK_CU(cuDeviceGet(&device, 0));
  CHECK_CU(cuDevicePrimaryCtxRetain(&context, device));
  CHECK_CU(cuCtxSetCurrent(context));
  const std::string ptx = compile(static_cast<int>(coefficients.size()) - 1, device);
  CHECK_CU(cuModuleLoadData(&module, ptx.c_str()));
  CHECK_CU(cuModuleGetFunction(&polynomial, module, "polynomial"));

  CUdeviceptr dx = upload(x), dcoefficients = upload(coefficients), dout = upload(out), dlargest = upload(largest);
  void* arguments[] = {&dx, &dcoefficients, &dout, &dlargest, &n};
  CHECK_CU(cuLaunchKernel(polynomial, (n + block - 1) / block, 1, 1, block, 1, 1, 0, nullptr, arguments, nullptr));
  CHECK_CU(cuCtxSynchronize());
  CHECK_CU(cuMemcpyDtoH(out.data(), dout, n * sizeof(float)));
  CHECK_CU(cuMemcpyDtoH(largest.data(), dlargest, warps * sizeof(float)));

  int wrong = 0;
  std::vector<float> want_largest(warps, -INFINITY);
  for (int i = 0; i < n; ++i) {
    double want = 0.0;
    for (size_t k = coefficients.size(); k-- > 0;) want = want * x[i] + coefficients[k];
    wrong += !(std::fabs(out[i] - want) <= 1e-5);  // NaN is wrong
    want_largest[i / 32] = std::fmax(want_largest[i / 32], out[i]);
  }
  for (int w = 0; w < warps; ++w) wrong += largest[w] != want_largest[w];
  std::printf("nvrtc_string: %d wrong values\n", wrong);

  for (CUdeviceptr pointer : {dx, dcoefficients, dout, dlargest}) CHECK_CU(cuMemFree(pointer));
  CHECK_CU(cuModuleUnload(module));
  CHECK_CU(cuDevicePrimaryCtxRelease(device));
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
