/* Where cuSOLVER is not installed: what PyTorch's CUDAContext.h and Exceptions.h name of it, and nothing else. */
#pragma once
#if __has_include_next(<cusolverDn.h>)
#include_next <cusolverDn.h>
#else
#include <cusolver_common.h>
typedef struct cusolverDnContext *cusolverDnHandle_t;
#endif
