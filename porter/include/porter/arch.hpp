// Versions that ported code sees where the original asks for CUDA's.
//
// PORTER_CUDA_ARCH stands for __CUDA_ARCH__: defined in the device pass alone. 700 selects code for GPUs with fp16
// arithmetic, double atomics and the *_sync warp functions, and never code that is inline PTX for newer ones.
// PORTER_CUDA_ARCH_SOLE stands for it where code for newer GPUs has no alternative, and can be compiled here.
#pragma once

#if defined(__HIP_DEVICE_COMPILE__) && __HIP_DEVICE_COMPILE__
#define PORTER_CUDA_ARCH 700
#define PORTER_CUDA_ARCH_SOLE 800
#endif

// PORTER_CUDA_ARCH_HAS_FEATURE stands for __CUDA_ARCH_HAS_FEATURE__, which asks for what one NVIDIA GPU alone has.
#define PORTER_CUDA_ARCH_HAS_FEATURE(feature) 0

// PORTER_CUDA_VERSION stands for the version macros of CUDA: 12.0, whose API HIP follows most closely.
#define PORTER_CUDA_VERSION 12000
#define PORTER_CUDA_VERSION_MAJOR 12
#define PORTER_CUDA_VERSION_MINOR 0
#define PORTER_CUDA_VERSION_BUILD 0
