#pragma once
// What PyTorch's CUDAContextLight.h and Exceptions.h name of hipSPARSE, where hipSPARSE is not installed: types only.

typedef void* hipsparseHandle_t;

typedef enum { HIPSPARSE_STATUS_SUCCESS = 0 } hipsparseStatus_t;

const char* hipsparseGetErrorString(hipsparseStatus_t status);
