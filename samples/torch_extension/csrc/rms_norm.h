#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

// y = x * rstd * weight over the last dimension; also returns rstd, one value per row.
std::tuple<at::Tensor, at::Tensor> rms_norm_forward_cuda(const at::Tensor& x, const at::Tensor& weight, double eps);

// The gradients of x and weight.
std::tuple<at::Tensor, at::Tensor> rms_norm_backward_cuda(const at::Tensor& grad, const at::Tensor& x, const at::Tensor& weight,
                                                          const at::Tensor& rstd);
