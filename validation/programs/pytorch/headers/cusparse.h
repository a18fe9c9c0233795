/* Where cuSPARSE is not installed: what PyTorch's CUDAContext.h and Exceptions.h name of it, and nothing else. */
#pragma once
#if __has_include_next(<cusparse.h>)
#include_next <cusparse.h>
#else
typedef struct cusparseContext *cusparseHandle_t;
typedef enum { CUSPARSE_STATUS_SUCCESS = 0, CUSPARSE_STATUS_NOT_SUPPORTED = 10 } cusparseStatus_t;
extern "C" const char *cusparseGetErrorString(cusparseStatus_t);
#endif
