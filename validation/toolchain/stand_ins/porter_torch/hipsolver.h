#pragma once
// What PyTorch's CUDAContextLight.h and Exceptions.h name of hipSOLVER, where hipSOLVER is not installed: types only.

typedef void* hipsolverHandle_t;
typedef hipsolverHandle_t hipsolverDnHandle_t;

typedef enum { HIPSOLVER_STATUS_SUCCESS = 0 } hipsolverStatus_t;
