/* Where cuBLAS is not installed: what PyTorch's CUDAContext.h and Exceptions.h name of it, and nothing else. */
#pragma once
#if __has_include_next(<cublas_v2.h>)
#include_next <cublas_v2.h>
#else
typedef struct cublasContext *cublasHandle_t;
typedef enum { CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_NOT_SUPPORTED = 15 } cublasStatus_t;
#endif
