#pragma once
// What PyTorch's CUDAContextLight.h names of hipBLASLt, where hipBLASLt is not installed: types only.

typedef void* hipblasLtHandle_t;
