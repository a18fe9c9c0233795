#pragma once
// What PyTorch's CUDAContextLight.h and Exceptions.h name of hipBLAS, where hipBLAS is not installed: types only.

typedef void* hipblasHandle_t;

typedef enum { HIPBLAS_STATUS_SUCCESS = 0 } hipblasStatus_t;
