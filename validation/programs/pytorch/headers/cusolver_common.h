/* Where cuSOLVER is not installed: what PyTorch's CUDAContext.h and Exceptions.h name of it, and nothing else. */
#pragma once
#if __has_include_next(<cusolver_common.h>)
#include_next <cusolver_common.h>
#else
typedef enum { CUSOLVER_STATUS_SUCCESS = 0, CUSOLVER_STATUS_EXECUTION_FAILED = 6, CUSOLVER_STATUS_NOT_SUPPORTED = 9 } cusolverStatus_t;
#endif
