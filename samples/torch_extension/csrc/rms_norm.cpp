#include <torch/extension.h>

#include "rms_norm.h"

#define CHECK_INPUT(tensor)                                                   \
  TORCH_CHECK((tensor).is_cuda(), #tensor " must be a CUDA tensor");          \
  TORCH_CHECK((tensor).is_contiguous(), #tensor " must be contiguous")

static void check(const at::Tensor& x, const at::Tensor& weight) {
  CHECK_INPUT(x);
  CHECK_INPUT(weight);
  TORCH_CHECK(x.dim() >= 1 && weight.dim() == 1 && x.size(-1) == weight.size(0), "weight must match the last dimension of x");
  TORCH_CHECK(x.scalar_type() == weight.scalar_type(), "x and weight must have the same dtype");
}

static std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& x, const at::Tensor& weight, double eps) {
  check(x, weight);
  return rms_norm_forward_cuda(x, weight, eps);
}

static std::tuple<at::Tensor, at::Tensor> backward(const at::Tensor& grad, const at::Tensor& x, const at::Tensor& weight,
                                                   const at::Tensor& rstd) {
  check(x, weight);
  CHECK_INPUT(grad);
  CHECK_INPUT(rstd);
  TORCH_CHECK(grad.sizes() == x.sizes(), "grad must have the shape of x");
  return rms_norm_backward_cuda(grad, x, weight, rstd);
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &forward, "RMS normalisation (CUDA)");
  m.def("backward", &backward, "Gradients of the RMS normalisation (CUDA)");
}
