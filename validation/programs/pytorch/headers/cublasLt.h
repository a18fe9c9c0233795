/* Where cuBLAS is not installed: what PyTorch's CUDAContext.h and Exceptions.h name of it, and nothing else. */
#pragma once
#if __has_include_next(<cublasLt.h>)
#include_next <cublasLt.h>
#else
#include <cublas_v2.h>
typedef struct cublasLtContext *cublasLtHandle_t;
#endif
