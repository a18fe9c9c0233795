// CUDA's libraries as far as kernels and host code are typed by them: cuRAND, cuBLAS, cuFFT, cuSPARSE, cuSOLVER, driver API.
#pragma once
#include "half.h"
#include "runtime.h"

#pragma clang force_cuda_host_device begin
// Complex numbers.
typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;
#define PORTER_COMPLEX(C, T, s, S)                  \
  C make_cu##S##Complex(T, T);                      \
  T cuCreal##s(C);                                  \
  T cuCimag##s(C);                                  \
  T cuCabs##s(C);                                   \
  C cuConj##s(C);                                   \
  C cuCadd##s(C, C);                                \
  C cuCsub##s(C, C);                                \
  C cuCmul##s(C, C);                                \
  C cuCdiv##s(C, C);                                \
  C cuCfma##s(C, C, C);
PORTER_COMPLEX(cuFloatComplex, float, f, Float)
PORTER_COMPLEX(cuDoubleComplex, double, , Double)
#undef PORTER_COMPLEX
cuComplex make_cuComplex(float, float);
cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex);
cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex);

// cuRAND.
struct curandStateXORWOW { unsigned int d, v[5]; int boxmuller_flag, boxmuller_flag_double; float boxmuller_extra; double boxmuller_extra_double; };
struct curandStateMRG32k3a { unsigned int s1[3], s2[3]; };
struct curandStatePhilox4_32_10 { uint4 ctr, output; uint2 key; unsigned int STATE; };
struct curandStateMtgp32 { unsigned int s[1024]; int offset; };
struct curandStateSobol32 { unsigned int i, x, c; };
struct curandStateScrambledSobol32 : curandStateSobol32 {};
struct curandStateSobol64 { unsigned long long i, x, c; };
typedef curandStateXORWOW curandState;
typedef curandStateXORWOW curandState_t;
typedef curandStateXORWOW curandStateXORWOW_t;
typedef curandStateMRG32k3a curandStateMRG32k3a_t;
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
typedef curandStateMtgp32 curandStateMtgp32_t;
typedef curandStateSobol32 curandStateSobol32_t;
typedef curandStateSobol64 curandStateSobol64_t;
typedef unsigned int curandDirectionVectors32_t[32];
typedef unsigned long long curandDirectionVectors64_t[64];
template <class S> __device__ void curand_init(unsigned long long, unsigned long long, unsigned long long, S *);
template <class S> __device__ void curand_init(unsigned int *, unsigned int, S *);
template <class S> __device__ unsigned int curand(S *);
template <class S> __device__ uint4 curand4(S *);
template <class S> __device__ float curand_uniform(S *);
template <class S> __device__ float4 curand_uniform4(S *);
template <class S> __device__ double curand_uniform_double(S *);
template <class S> __device__ double2 curand_uniform2_double(S *);
template <class S> __device__ float curand_normal(S *);
template <class S> __device__ float2 curand_normal2(S *);
template <class S> __device__ float4 curand_normal4(S *);
template <class S> __device__ double curand_normal_double(S *);
template <class S> __device__ double2 curand_normal2_double(S *);
template <class S> __device__ float curand_log_normal(S *, float, float);
template <class S> __device__ double curand_log_normal_double(S *, double, double);
template <class S> __device__ unsigned int curand_poisson(S *, double);
template <class S> __device__ void skipahead(unsigned long long, S *);
typedef struct curandGenerator_st *curandGenerator_t;
enum curandStatus_t { CURAND_STATUS_SUCCESS, CURAND_STATUS_VERSION_MISMATCH = 100, CURAND_STATUS_NOT_INITIALIZED, CURAND_STATUS_ALLOCATION_FAILED };
enum curandRngType_t {
  CURAND_RNG_PSEUDO_DEFAULT = 100, CURAND_RNG_PSEUDO_XORWOW, CURAND_RNG_PSEUDO_MRG32K3A = 121, CURAND_RNG_PSEUDO_MTGP32 = 141,
  CURAND_RNG_PSEUDO_MT19937, CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161, CURAND_RNG_QUASI_DEFAULT = 200, CURAND_RNG_QUASI_SOBOL32
};
enum curandOrdering_t { CURAND_ORDERING_PSEUDO_BEST = 100, CURAND_ORDERING_PSEUDO_DEFAULT, CURAND_ORDERING_PSEUDO_SEEDED, CURAND_ORDERING_PSEUDO_LEGACY, CURAND_ORDERING_PSEUDO_DYNAMIC, CURAND_ORDERING_QUASI_DEFAULT = 201 };
typedef curandRngType_t curandRngType;
typedef curandStatus_t curandStatus;
extern "C" {
curandStatus_t curandCreateGenerator(curandGenerator_t *, curandRngType_t);
curandStatus_t curandCreateGeneratorHost(curandGenerator_t *, curandRngType_t);
curandStatus_t curandDestroyGenerator(curandGenerator_t);
curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t, unsigned long long);
curandStatus_t curandSetGeneratorOffset(curandGenerator_t, unsigned long long);
curandStatus_t curandSetGeneratorOrdering(curandGenerator_t, curandOrdering_t);
curandStatus_t curandSetQuasiRandomGeneratorDimensions(curandGenerator_t, unsigned int);
curandStatus_t curandSetStream(curandGenerator_t, cudaStream_t);
curandStatus_t curandGenerate(curandGenerator_t, unsigned int *, size_t);
curandStatus_t curandGenerateUniform(curandGenerator_t, float *, size_t);
curandStatus_t curandGenerateUniformDouble(curandGenerator_t, double *, size_t);
curandStatus_t curandGenerateNormal(curandGenerator_t, float *, size_t, float, float);
curandStatus_t curandGenerateNormalDouble(curandGenerator_t, double *, size_t, double, double);
curandStatus_t curandGenerateLogNormal(curandGenerator_t, float *, size_t, float, float);
curandStatus_t curandGeneratePoisson(curandGenerator_t, unsigned int *, size_t, double);
curandStatus_t curandGenerateSeeds(curandGenerator_t);
}

// Data types that the libraries share.
enum cudaDataType_t {
  CUDA_R_32F, CUDA_R_64F, CUDA_R_16F, CUDA_R_8I, CUDA_C_32F, CUDA_C_64F, CUDA_C_16F, CUDA_R_8U, CUDA_R_32I, CUDA_R_16BF = 14,
  CUDA_R_8F_E4M3 = 28, CUDA_R_8F_E5M2, CUDA_R_4I, CUDA_R_64I, CUDA_R_32U
};
typedef cudaDataType_t cudaDataType;
enum libraryPropertyType_t { MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL };

// Library functions whose parameters no kernel depends on: any argument list will do.
#define PORTER_CALL(R, name) template <class... A> R name(A &&...);

// cuBLAS and cuBLASLt.
typedef struct cublasContext *cublasHandle_t;
enum cublasStatus_t {
  CUBLAS_STATUS_SUCCESS, CUBLAS_STATUS_NOT_INITIALIZED, CUBLAS_STATUS_ALLOC_FAILED = 3, CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH, CUBLAS_STATUS_MAPPING_ERROR = 11, CUBLAS_STATUS_EXECUTION_FAILED = 13, CUBLAS_STATUS_INTERNAL_ERROR,
  CUBLAS_STATUS_NOT_SUPPORTED, CUBLAS_STATUS_LICENSE_ERROR
};
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C, CUBLAS_OP_HERMITAN = 2, CUBLAS_OP_CONJG };
enum cublasFillMode_t { CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER, CUBLAS_FILL_MODE_FULL };
enum cublasDiagType_t { CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT };
enum cublasSideMode_t { CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT };
enum cublasPointerMode_t { CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE };
enum cublasAtomicsMode_t { CUBLAS_ATOMICS_NOT_ALLOWED, CUBLAS_ATOMICS_ALLOWED };
enum cublasMath_t { CUBLAS_DEFAULT_MATH, CUBLAS_TENSOR_OP_MATH, CUBLAS_PEDANTIC_MATH, CUBLAS_TF32_TENSOR_OP_MATH };
enum cublasGemmAlgo_t { CUBLAS_GEMM_DFALT = -1, CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_ALGO0, CUBLAS_GEMM_ALGO1, CUBLAS_GEMM_DFALT_TENSOR_OP = 99, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99, CUBLAS_GEMM_ALGO0_TENSOR_OP, CUBLAS_GEMM_ALGO15_TENSOR_OP = 115 };
enum cublasComputeType_t {
  CUBLAS_COMPUTE_16F = 64, CUBLAS_COMPUTE_16F_PEDANTIC, CUBLAS_COMPUTE_32F = 68, CUBLAS_COMPUTE_32F_PEDANTIC, CUBLAS_COMPUTE_64F, CUBLAS_COMPUTE_64F_PEDANTIC,
  CUBLAS_COMPUTE_32I, CUBLAS_COMPUTE_32I_PEDANTIC, CUBLAS_COMPUTE_32F_FAST_16F, CUBLAS_COMPUTE_32F_FAST_16BF, CUBLAS_COMPUTE_32F_FAST_TF32
};
typedef cudaDataType cublasDataType_t;
typedef cublasStatus_t cublasStatus;
#define PORTER_TYPED(prefix, name) \
  PORTER_CALL(cublasStatus_t, prefix##S##name) PORTER_CALL(cublasStatus_t, prefix##D##name) \
  PORTER_CALL(cublasStatus_t, prefix##C##name) PORTER_CALL(cublasStatus_t, prefix##Z##name)
PORTER_CALL(cublasStatus_t, cublasCreate) PORTER_CALL(cublasStatus_t, cublasDestroy) PORTER_CALL(cublasStatus_t, cublasSetStream)
PORTER_CALL(cublasStatus_t, cublasGetStream) PORTER_CALL(cublasStatus_t, cublasSetPointerMode) PORTER_CALL(cublasStatus_t, cublasGetPointerMode)
PORTER_CALL(cublasStatus_t, cublasSetMathMode) PORTER_CALL(cublasStatus_t, cublasGetMathMode) PORTER_CALL(cublasStatus_t, cublasSetWorkspace)
PORTER_CALL(cublasStatus_t, cublasSetAtomicsMode) PORTER_CALL(cublasStatus_t, cublasGetVersion) PORTER_CALL(cublasStatus_t, cublasSetVector)
PORTER_CALL(cublasStatus_t, cublasGetVector) PORTER_CALL(cublasStatus_t, cublasSetMatrix) PORTER_CALL(cublasStatus_t, cublasGetMatrix)
PORTER_CALL(cublasStatus_t, cublasGemmEx) PORTER_CALL(cublasStatus_t, cublasGemmStridedBatchedEx) PORTER_CALL(cublasStatus_t, cublasGemmBatchedEx)
PORTER_CALL(cublasStatus_t, cublasDotEx) PORTER_CALL(cublasStatus_t, cublasAxpyEx) PORTER_CALL(cublasStatus_t, cublasNrm2Ex) PORTER_CALL(cublasStatus_t, cublasScalEx) PORTER_CALL(cublasStatus_t, cublasSgemmEx) PORTER_CALL(cublasStatus_t, cublasHgemm) PORTER_CALL(cublasStatus_t, cublasHgemmStridedBatched)
PORTER_CALL(cublasStatus_t, cublasHgemmBatched) PORTER_CALL(cublasStatus_t, cublasIsamax) PORTER_CALL(cublasStatus_t, cublasIdamax)
PORTER_CALL(cublasStatus_t, cublasIsamin) PORTER_CALL(cublasStatus_t, cublasIdamin) PORTER_CALL(cublasStatus_t, cublasScnrm2) PORTER_CALL(cublasStatus_t, cublasDznrm2)
PORTER_CALL(const char *, cublasGetStatusString) PORTER_CALL(const char *, cublasGetStatusName)
PORTER_TYPED(cublas, gemm) PORTER_TYPED(cublas, gemmStridedBatched) PORTER_TYPED(cublas, gemmBatched) PORTER_TYPED(cublas, gemv)
PORTER_TYPED(cublas, axpy) PORTER_TYPED(cublas, scal) PORTER_TYPED(cublas, copy) PORTER_TYPED(cublas, swap) PORTER_TYPED(cublas, dot)
PORTER_TYPED(cublas, dotu) PORTER_TYPED(cublas, dotc) PORTER_TYPED(cublas, nrm2) PORTER_TYPED(cublas, asum) PORTER_TYPED(cublas, ger)
PORTER_TYPED(cublas, geam) PORTER_TYPED(cublas, dgmm) PORTER_TYPED(cublas, symv) PORTER_TYPED(cublas, symm) PORTER_TYPED(cublas, syrk)
PORTER_TYPED(cublas, trsm) PORTER_TYPED(cublas, trmm) PORTER_TYPED(cublas, trsv) PORTER_TYPED(cublas, rot) PORTER_TYPED(cublas, getrfBatched)
PORTER_TYPED(cublas, gelsBatched) PORTER_TYPED(cublas, gemm_64) PORTER_TYPED(cublas, dgmm_64) PORTER_TYPED(cublas, axpy_64) PORTER_TYPED(cublas, getriBatched) PORTER_TYPED(cublas, getrsBatched) PORTER_TYPED(cublas, matinvBatched) PORTER_TYPED(cublas, trsmBatched)
typedef struct cublasLtContext *cublasLtHandle_t;
struct cublasLtMatmulDescOpaque_t { unsigned long long data[8]; };
struct cublasLtMatrixLayoutOpaque_t { unsigned long long data[8]; };
struct cublasLtMatmulPreferenceOpaque_t { unsigned long long data[8]; };
typedef struct cublasLtMatmulDescOpaque_t *cublasLtMatmulDesc_t;
typedef struct cublasLtMatrixLayoutOpaque_t *cublasLtMatrixLayout_t;
typedef struct cublasLtMatmulPreferenceOpaque_t *cublasLtMatmulPreference_t;
struct cublasLtMatmulAlgo_t { unsigned long long data[8]; };
struct cublasLtMatmulHeuristicResult_t { cublasLtMatmulAlgo_t algo; size_t workspaceSize; cublasStatus_t state; float wavesCount; };
enum cublasLtMatmulDescAttributes_t { CUBLASLT_MATMUL_DESC_TRANSA = 3, CUBLASLT_MATMUL_DESC_TRANSB, CUBLASLT_MATMUL_DESC_EPILOGUE = 7, CUBLASLT_MATMUL_DESC_BIAS_POINTER, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER = 17, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER };
enum cublasLtMatmulPreferenceAttributes_t { CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1 };
enum cublasLtEpilogue_t { CUBLASLT_EPILOGUE_DEFAULT = 1, CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_BIAS = 4, CUBLASLT_EPILOGUE_GELU = 32 };
PORTER_CALL(cublasStatus_t, cublasLtCreate) PORTER_CALL(cublasStatus_t, cublasLtDestroy) PORTER_CALL(cublasStatus_t, cublasLtMatmul)
PORTER_CALL(cublasStatus_t, cublasLtMatmulDescCreate) PORTER_CALL(cublasStatus_t, cublasLtMatmulDescDestroy) PORTER_CALL(cublasStatus_t, cublasLtMatmulDescSetAttribute)
PORTER_CALL(cublasStatus_t, cublasLtMatrixLayoutCreate) PORTER_CALL(cublasStatus_t, cublasLtMatrixLayoutDestroy) PORTER_CALL(cublasStatus_t, cublasLtMatrixLayoutSetAttribute)
PORTER_CALL(cublasStatus_t, cublasLtMatmulPreferenceCreate) PORTER_CALL(cublasStatus_t, cublasLtMatmulPreferenceDestroy)
PORTER_CALL(cublasStatus_t, cublasLtMatmulPreferenceSetAttribute) PORTER_CALL(cublasStatus_t, cublasLtMatmulDescInit) PORTER_CALL(cublasStatus_t, cublasLtMatrixLayoutInit) PORTER_CALL(cublasStatus_t, cublasLtMatmulPreferenceInit) PORTER_CALL(cublasStatus_t, cublasLtMatmulAlgoGetHeuristic)

// cuFFT.
typedef float cufftReal;
typedef double cufftDoubleReal;
typedef cuComplex cufftComplex;
typedef cuDoubleComplex cufftDoubleComplex;
typedef int cufftHandle;
enum cufftResult { CUFFT_SUCCESS, CUFFT_INVALID_PLAN, CUFFT_ALLOC_FAILED, CUFFT_INVALID_TYPE, CUFFT_INVALID_VALUE, CUFFT_INTERNAL_ERROR, CUFFT_EXEC_FAILED, CUFFT_SETUP_FAILED, CUFFT_INVALID_SIZE };
typedef cufftResult cufftResult_t;
enum cufftType { CUFFT_R2C = 0x2a, CUFFT_C2R = 0x2c, CUFFT_C2C = 0x29, CUFFT_D2Z = 0x6a, CUFFT_Z2D = 0x6c, CUFFT_Z2Z = 0x69 };
typedef cufftType cufftType_t;
#define CUFFT_FORWARD -1
#define CUFFT_INVERSE 1
PORTER_CALL(cufftResult, cufftPlan1d) PORTER_CALL(cufftResult, cufftPlan2d) PORTER_CALL(cufftResult, cufftPlan3d) PORTER_CALL(cufftResult, cufftPlanMany)
PORTER_CALL(cufftResult, cufftMakePlan1d) PORTER_CALL(cufftResult, cufftMakePlan2d) PORTER_CALL(cufftResult, cufftMakePlan3d) PORTER_CALL(cufftResult, cufftCreate)
PORTER_CALL(cufftResult, cufftDestroy) PORTER_CALL(cufftResult, cufftSetStream) PORTER_CALL(cufftResult, cufftExecC2C) PORTER_CALL(cufftResult, cufftExecR2C)
PORTER_CALL(cufftResult, cufftExecC2R) PORTER_CALL(cufftResult, cufftExecZ2Z) PORTER_CALL(cufftResult, cufftExecD2Z) PORTER_CALL(cufftResult, cufftExecZ2D)
PORTER_CALL(cufftResult, cufftSetAutoAllocation) PORTER_CALL(cufftResult, cufftSetWorkArea) PORTER_CALL(cufftResult, cufftGetSize) PORTER_CALL(cufftResult, cufftXtExec)

// cuSPARSE.
typedef struct cusparseContext *cusparseHandle_t;
typedef struct cusparseMatDescr *cusparseMatDescr_t;
typedef struct cusparseSpVecDescr *cusparseSpVecDescr_t;
typedef struct cusparseDnVecDescr *cusparseDnVecDescr_t;
typedef struct cusparseSpMatDescr *cusparseSpMatDescr_t;
typedef struct cusparseDnMatDescr *cusparseDnMatDescr_t;
typedef struct cusparseSpGEMMDescr *cusparseSpGEMMDescr_t;
typedef struct cusparseSpSVDescr *cusparseSpSVDescr_t;
typedef const struct cusparseSpMatDescr *cusparseConstSpMatDescr_t;
enum cusparseStatus_t { CUSPARSE_STATUS_SUCCESS, CUSPARSE_STATUS_NOT_INITIALIZED, CUSPARSE_STATUS_ALLOC_FAILED, CUSPARSE_STATUS_INVALID_VALUE };
enum cusparseIndexBase_t { CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_INDEX_BASE_ONE };
enum cusparseIndexType_t { CUSPARSE_INDEX_16U = 1, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_64I };
enum cusparseOperation_t { CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_TRANSPOSE, CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE };
enum cusparseOrder_t { CUSPARSE_ORDER_COL = 1, CUSPARSE_ORDER_ROW };
enum cusparseMatrixType_t { CUSPARSE_MATRIX_TYPE_GENERAL, CUSPARSE_MATRIX_TYPE_SYMMETRIC };
enum cusparseFillMode_t { CUSPARSE_FILL_MODE_LOWER, CUSPARSE_FILL_MODE_UPPER };
enum cusparseDiagType_t { CUSPARSE_DIAG_TYPE_NON_UNIT, CUSPARSE_DIAG_TYPE_UNIT };
enum cusparsePointerMode_t { CUSPARSE_POINTER_MODE_HOST, CUSPARSE_POINTER_MODE_DEVICE };
enum cusparseSpMVAlg_t { CUSPARSE_SPMV_ALG_DEFAULT, CUSPARSE_SPMV_COO_ALG1, CUSPARSE_SPMV_CSR_ALG1, CUSPARSE_SPMV_CSR_ALG2 };
enum cusparseSpMMAlg_t { CUSPARSE_SPMM_ALG_DEFAULT, CUSPARSE_SPMM_COO_ALG1, CUSPARSE_SPMM_CSR_ALG1 = 4, CUSPARSE_SPMM_CSR_ALG2 = 6 };
enum cusparseSpGEMMAlg_t { CUSPARSE_SPGEMM_DEFAULT };
enum cusparseSDDMMAlg_t { CUSPARSE_SDDMM_ALG_DEFAULT };
enum cusparseSpSVAlg_t { CUSPARSE_SPSV_ALG_DEFAULT };
enum cusparseSparseToDenseAlg_t { CUSPARSE_SPARSETODENSE_ALG_DEFAULT };
enum cusparseDenseToSparseAlg_t { CUSPARSE_DENSETOSPARSE_ALG_DEFAULT };
enum cusparseAction_t { CUSPARSE_ACTION_SYMBOLIC, CUSPARSE_ACTION_NUMERIC };
enum cusparseCsr2CscAlg_t { CUSPARSE_CSR2CSC_ALG_DEFAULT = 1, CUSPARSE_CSR2CSC_ALG1 = 1 };
#define PORTER_SPARSE(name) PORTER_CALL(cusparseStatus_t, name)
PORTER_SPARSE(cusparseCreate) PORTER_SPARSE(cusparseDestroy) PORTER_SPARSE(cusparseSetStream) PORTER_SPARSE(cusparseCreateMatDescr)
PORTER_SPARSE(cusparseDestroyMatDescr) PORTER_SPARSE(cusparseSetMatType) PORTER_SPARSE(cusparseSetMatIndexBase) PORTER_SPARSE(cusparseSetPointerMode)
PORTER_SPARSE(cusparseCreateCsr) PORTER_SPARSE(cusparseCreateCsc) PORTER_SPARSE(cusparseCreateCoo) PORTER_SPARSE(cusparseDestroySpMat) PORTER_SPARSE(cusparseCreateDnMat)
PORTER_SPARSE(cusparseDestroyDnMat) PORTER_SPARSE(cusparseCreateDnVec) PORTER_SPARSE(cusparseDestroyDnVec) PORTER_SPARSE(cusparseSpMV)
PORTER_SPARSE(cusparseSpMV_bufferSize) PORTER_SPARSE(cusparseSpMM) PORTER_SPARSE(cusparseSpMM_bufferSize) PORTER_SPARSE(cusparseSDDMM)
PORTER_SPARSE(cusparseSDDMM_bufferSize) PORTER_SPARSE(cusparseSDDMM_preprocess) PORTER_SPARSE(cusparseSpGEMM_createDescr) PORTER_SPARSE(cusparseSpGEMM_destroyDescr)
PORTER_SPARSE(cusparseSpGEMM_workEstimation) PORTER_SPARSE(cusparseSpGEMM_compute) PORTER_SPARSE(cusparseSpGEMM_copy) PORTER_SPARSE(cusparseSpMatGetSize)
PORTER_SPARSE(cusparseCsrSetPointers) PORTER_SPARSE(cusparseCsrSetStridedBatch) PORTER_SPARSE(cusparseDnMatSetStridedBatch) PORTER_SPARSE(cusparseSpSV_createDescr)
PORTER_SPARSE(cusparseSpSV_bufferSize) PORTER_SPARSE(cusparseSpSV_analysis) PORTER_SPARSE(cusparseSpSV_solve) PORTER_SPARSE(cusparseSparseToDense)
PORTER_SPARSE(cusparseSparseToDense_bufferSize) PORTER_SPARSE(cusparseDenseToSparse_bufferSize) PORTER_SPARSE(cusparseDenseToSparse_analysis)
PORTER_SPARSE(cusparseDenseToSparse_convert) PORTER_SPARSE(cusparseCsr2cscEx2) PORTER_SPARSE(cusparseCsr2cscEx2_bufferSize) PORTER_SPARSE(cusparseXcoo2csr)
PORTER_CALL(const char *, cusparseGetErrorString) PORTER_CALL(const char *, cusparseGetErrorName)
#undef PORTER_SPARSE

// cuSOLVER.
typedef struct cusolverDnContext *cusolverDnHandle_t;
typedef struct cusolverSpContext *cusolverSpHandle_t;
typedef struct cusolverDnParams *cusolverDnParams_t;
enum cusolverStatus_t { CUSOLVER_STATUS_SUCCESS, CUSOLVER_STATUS_NOT_INITIALIZED, CUSOLVER_STATUS_ALLOC_FAILED };
enum cusolverEigMode_t { CUSOLVER_EIG_MODE_NOVECTOR, CUSOLVER_EIG_MODE_VECTOR };
enum cusolverEigType_t { CUSOLVER_EIG_TYPE_1 = 1, CUSOLVER_EIG_TYPE_2 };
#define PORTER_SOLVER(name) PORTER_CALL(cusolverStatus_t, name)
PORTER_SOLVER(cusolverDnCreate) PORTER_SOLVER(cusolverDnDestroy) PORTER_SOLVER(cusolverDnSetStream)
#define PORTER_SOLVERS(name) PORTER_SOLVER(cusolverDnS##name) PORTER_SOLVER(cusolverDnD##name) PORTER_SOLVER(cusolverDnS##name##_bufferSize) PORTER_SOLVER(cusolverDnD##name##_bufferSize)
PORTER_SOLVERS(getrf) PORTER_SOLVERS(getrs) PORTER_SOLVERS(potrf) PORTER_SOLVERS(potrs) PORTER_SOLVERS(geqrf) PORTER_SOLVERS(ormqr) PORTER_SOLVERS(syevd) PORTER_SOLVERS(sygvd) PORTER_SOLVERS(gesvd)
#undef PORTER_SOLVERS
#undef PORTER_SOLVER

// NCCL.
typedef struct ncclComm *ncclComm_t;
struct ncclUniqueId { char internal[128]; };
enum ncclResult_t { ncclSuccess, ncclUnhandledCudaError, ncclSystemError, ncclInternalError, ncclInvalidArgument, ncclInvalidUsage };
enum ncclDataType_t { ncclInt8, ncclChar = 0, ncclUint8, ncclInt32, ncclInt = 2, ncclUint32, ncclInt64, ncclUint64, ncclFloat16, ncclHalf = 6, ncclFloat32, ncclFloat = 7, ncclFloat64, ncclDouble = 8, ncclBfloat16 };
enum ncclRedOp_t { ncclSum, ncclProd, ncclMax, ncclMin, ncclAvg };
#define PORTER_NCCL(name) PORTER_CALL(ncclResult_t, name)
PORTER_NCCL(ncclGetVersion) PORTER_NCCL(ncclCommInitRankConfig) PORTER_NCCL(ncclCommAbort) PORTER_NCCL(ncclCommSplit) PORTER_NCCL(ncclCommGetAsyncError) PORTER_NCCL(ncclCommFinalize)
PORTER_NCCL(ncclCommInitRank) PORTER_NCCL(ncclCommInitAll) PORTER_NCCL(ncclCommDestroy) PORTER_NCCL(ncclGetUniqueId) PORTER_NCCL(ncclAllReduce)
PORTER_NCCL(ncclReduce) PORTER_NCCL(ncclBroadcast) PORTER_NCCL(ncclBcast) PORTER_NCCL(ncclAllGather) PORTER_NCCL(ncclReduceScatter) PORTER_NCCL(ncclSend)
PORTER_NCCL(ncclRecv) PORTER_NCCL(ncclGroupStart) PORTER_NCCL(ncclGroupEnd) PORTER_NCCL(ncclCommCount) PORTER_NCCL(ncclCommUserRank)
PORTER_CALL(const char *, ncclGetErrorString)
#undef PORTER_NCCL

// Driver API and NVRTC.
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef cudaStream_t CUstream;
typedef cudaEvent_t CUevent;
typedef struct CUarray_st *CUarray;
typedef struct CUtexref_st *CUtexref;
typedef cudaTextureObject_t CUtexObject;
typedef cudaSurfaceObject_t CUsurfObject;
enum CUresult { CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_NOT_INITIALIZED, CUDA_ERROR_NO_DEVICE = 100, CUDA_ERROR_NOT_FOUND = 500, CUDA_ERROR_NOT_READY = 600, CUDA_ERROR_UNKNOWN = 999 };
enum CUdevice_attribute { CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR };
enum CUjit_option { CU_JIT_MAX_REGISTERS, CU_JIT_THREADS_PER_BLOCK, CU_JIT_WALL_TIME, CU_JIT_INFO_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER = 5 };
enum CUtensorMapDataType { CU_TENSOR_MAP_DATA_TYPE_UINT8 };
struct CUtensorMap { unsigned long long opaque[16]; };
struct CUuuid { char bytes[16]; };
#define CU_LAUNCH_PARAM_BUFFER_POINTER ((void *)1)
#define CU_LAUNCH_PARAM_BUFFER_SIZE ((void *)2)
#define CU_LAUNCH_PARAM_END ((void *)0)
#define PORTER_DRIVER(name) PORTER_CALL(CUresult, name)
PORTER_DRIVER(cuInit) PORTER_DRIVER(cuDeviceGet) PORTER_DRIVER(cuDeviceGetCount) PORTER_DRIVER(cuDeviceGetName) PORTER_DRIVER(cuDeviceGetAttribute)
PORTER_DRIVER(cuDeviceTotalMem) PORTER_DRIVER(cuCtxCreate) PORTER_DRIVER(cuCtxDestroy) PORTER_DRIVER(cuCtxSynchronize) PORTER_DRIVER(cuCtxSetCurrent)
PORTER_DRIVER(cuCtxGetCurrent) PORTER_DRIVER(cuModuleLoad) PORTER_DRIVER(cuModuleLoadData) PORTER_DRIVER(cuModuleLoadDataEx) PORTER_DRIVER(cuModuleUnload)
PORTER_DRIVER(cuModuleGetFunction) PORTER_DRIVER(cuModuleGetGlobal) PORTER_DRIVER(cuLaunchKernel) PORTER_DRIVER(cuMemAlloc) PORTER_DRIVER(cuMemFree)
PORTER_DRIVER(cuMemcpyHtoD) PORTER_DRIVER(cuMemcpyDtoH) PORTER_DRIVER(cuMemcpyDtoD) PORTER_DRIVER(cuMemcpyHtoDAsync) PORTER_DRIVER(cuMemcpyDtoHAsync)
PORTER_DRIVER(cuMemsetD8) PORTER_DRIVER(cuMemsetD32) PORTER_DRIVER(cuMemGetInfo) PORTER_DRIVER(cuStreamCreate) PORTER_DRIVER(cuStreamSynchronize)
PORTER_DRIVER(cuStreamDestroy) PORTER_DRIVER(cuEventCreate) PORTER_DRIVER(cuEventRecord) PORTER_DRIVER(cuEventSynchronize) PORTER_DRIVER(cuEventElapsedTime)
PORTER_DRIVER(cuEventDestroy) PORTER_DRIVER(cuFuncGetAttribute) PORTER_DRIVER(cuFuncSetAttribute) PORTER_DRIVER(cuGetErrorString) PORTER_DRIVER(cuGetErrorName)
PORTER_DRIVER(cuDevicePrimaryCtxRetain) PORTER_DRIVER(cuDevicePrimaryCtxRelease) PORTER_DRIVER(cuDriverGetVersion) PORTER_DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessor)
#undef PORTER_DRIVER
typedef struct nvrtcProgram_st *nvrtcProgram;
enum nvrtcResult { NVRTC_SUCCESS, NVRTC_ERROR_OUT_OF_MEMORY, NVRTC_ERROR_COMPILATION = 6 };
#define PORTER_NVRTC(name) PORTER_CALL(nvrtcResult, name)
PORTER_NVRTC(nvrtcCreateProgram) PORTER_NVRTC(nvrtcDestroyProgram) PORTER_NVRTC(nvrtcCompileProgram) PORTER_NVRTC(nvrtcGetPTX) PORTER_NVRTC(nvrtcGetPTXSize)
PORTER_NVRTC(nvrtcGetProgramLog) PORTER_NVRTC(nvrtcGetProgramLogSize) PORTER_NVRTC(nvrtcAddNameExpression) PORTER_NVRTC(nvrtcGetLoweredName)
PORTER_CALL(const char *, nvrtcGetErrorString)
#undef PORTER_NVRTC
PORTER_CALL(int, nvtxRangePushA) PORTER_CALL(int, nvtxRangePush) PORTER_CALL(int, nvtxRangePop) PORTER_CALL(void, nvtxMarkA)
#undef PORTER_TYPED
#undef PORTER_CALL
#pragma clang force_cuda_host_device end
