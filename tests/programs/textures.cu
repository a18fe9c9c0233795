// Arrays, texture and surface objects: each line is what a kernel read, and the host's own answer where it differs.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

__global__ void read2d(cudaTextureObject_t t, const float2 *at, float *out, int n) {
    int i = threadIdx.x;
    if (i < n) out[i] = tex2D<float>(t, at[i].x, at[i].y);
}
__global__ void read_bytes(cudaTextureObject_t t, float4 *out) { out[threadIdx.x] = tex2D<float4>(t, threadIdx.x + 0.5f, 1.5f); }
__global__ void read1d(cudaTextureObject_t t, int *out) { out[threadIdx.x] = tex1Dfetch<int>(t, (int)threadIdx.x - 1); }
__global__ void read_layer(cudaTextureObject_t t, float *out) { out[threadIdx.x] = tex2DLayered<float>(t, 1.5f, 0.5f, threadIdx.x); }
__global__ void write2d(cudaSurfaceObject_t s, int width) {
    surf2Dwrite((float)(threadIdx.x + 10 * threadIdx.y), s, threadIdx.x * sizeof(float), threadIdx.y);
}
__global__ void read3d(cudaTextureObject_t t, float *out) { out[threadIdx.x] = tex3D<float>(t, 0.5f, 1.5f, threadIdx.x + 0.5f); }

static void show(const char *what, const float *device, int n) {
    float got[64];
    cudaMemcpy(got, device, n * sizeof *got, cudaMemcpyDeviceToHost);
    printf("%s:", what);
    for (int i = 0; i < n; i++) printf(" %g", got[i]);
    puts("");
}

static cudaTextureObject_t over(const cudaResourceDesc &from, cudaTextureAddressMode mode, cudaTextureFilterMode filter, cudaTextureReadMode read, bool normalised) {
    cudaTextureDesc how;
    memset(&how, 0, sizeof how);
    how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = mode;
    how.filterMode = filter;
    how.readMode = read;
    how.normalizedCoords = normalised;
    cudaTextureObject_t made = 0;
    if (cudaError_t e = cudaCreateTextureObject(&made, &from, &how, nullptr)) printf("refused: %s\n", cudaGetErrorName(e));
    return made;
}
static cudaResourceDesc of_array(cudaArray_t array) {
    cudaResourceDesc from;
    memset(&from, 0, sizeof from);
    from.resType = cudaResourceTypeArray;
    from.res.array.array = array;
    return from;
}

int main(int argc, char **) {
    enum { W = 5, H = 3 };
    float texels[W * H], *out;
    for (int i = 0; i < W * H; i++) texels[i] = i;
    cudaMalloc(&out, 64 * sizeof *out);
    cudaChannelFormatDesc one = cudaCreateChannelDesc<float>();

    cudaArray_t array;
    cudaMallocArray(&array, &one, W, H);
    cudaMemcpy2DToArray(array, 0, 0, texels, W * sizeof(float), W * sizeof(float), H, cudaMemcpyHostToDevice);
    float2 places[] = {{0.5f, 0.5f}, {1.0f, 0.5f}, {2.5f, 2.0f}, {-3, 9}, {4.75f, 1.5f}}, *at;
    cudaMalloc(&at, sizeof places);
    cudaMemcpy(at, places, sizeof places, cudaMemcpyHostToDevice);
    cudaTextureObject_t linear = over(of_array(array), cudaAddressModeClamp, cudaFilterModeLinear, cudaReadModeElementType, false);
    read2d<<<1, 32>>>(linear, at, out, 5);
    show("linear", out, 5);
    float2 turns[] = {{0.1f, 0.5f}, {1.1f, -0.5f}, {-0.1f, 1.5f}, {0.7f, 0.9f}, {2.3f, 0.1f}};
    cudaMemcpy(at, turns, sizeof turns, cudaMemcpyHostToDevice);
    cudaTextureObject_t wrapped = over(of_array(array), cudaAddressModeWrap, cudaFilterModePoint, cudaReadModeElementType, true);
    read2d<<<1, 32>>>(wrapped, at, out, 5);
    show("wrap", out, 5);

    // rows with a pitch, bytes as fractions
    unsigned char *rows;
    size_t pitch;
    cudaMallocPitch((void **)&rows, &pitch, 3 * 4, 2);
    unsigned char colours[2][12];
    for (int i = 0; i < 24; i++) colours[i / 12][i % 12] = 10 * i;
    cudaMemcpy2D(rows, pitch, colours, 12, 12, 2, cudaMemcpyHostToDevice);
    cudaResourceDesc from;
    memset(&from, 0, sizeof from);
    from.resType = cudaResourceTypePitch2D;
    from.res.pitch2D = {rows, cudaCreateChannelDesc<uchar4>(), 3, 2, pitch};
    cudaTextureObject_t bytes = over(from, cudaAddressModeClamp, cudaFilterModePoint, cudaReadModeNormalizedFloat, false);
    read_bytes<<<1, 3>>>(bytes, (float4 *)out);
    show("pitch", out, 12);

    // plain memory: zeros outside
    int *numbers, *read;
    cudaMalloc(&numbers, 4 * sizeof(int));
    cudaMalloc(&read, 6 * sizeof(int));
    const int values[] = {7, -8, 9, -10};
    cudaMemcpy(numbers, values, sizeof values, cudaMemcpyHostToDevice);
    memset(&from, 0, sizeof from);
    from.resType = cudaResourceTypeLinear;
    from.res.linear = {numbers, cudaCreateChannelDesc<int>(), sizeof values};
    cudaTextureObject_t plain = over(from, cudaAddressModeClamp, cudaFilterModePoint, cudaReadModeElementType, false);
    read1d<<<1, 6>>>(plain, read);
    int got[6];
    cudaMemcpy(got, read, sizeof got, cudaMemcpyDeviceToHost);
    printf("fetch: %d %d %d %d %d %d\n", got[0], got[1], got[2], got[3], got[4], got[5]);
    over(from, cudaAddressModeClamp, cudaFilterModeLinear, cudaReadModeElementType, false);

    // more described than there is: a fault where it is read
    from.res.linear.sizeInBytes = 2 * sizeof values;
    cudaTextureObject_t longer = over(from, cudaAddressModeClamp, cudaFilterModePoint, cudaReadModeElementType, false);
    read1d<<<1, argc > 1 ? 6 : 5>>>(longer, read);
    cudaMemcpy(got, read, sizeof got, cudaMemcpyDeviceToHost);
    printf("longer: %d %d %d %d %d\n", got[0], got[1], got[2], got[3], got[4]);

    // layers, and three dimensions, by one copy each
    for (int layered = 1; layered >= 0; layered--) {
        cudaArray_t deep;
        cudaMalloc3DArray(&deep, &one, make_cudaExtent(W, layered ? 1 : H, layered ? 3 : 1), layered ? cudaArrayLayered : 0);
        cudaMemcpy3DParms copy;
        memset(&copy, 0, sizeof copy);
        copy.srcPtr = make_cudaPitchedPtr(texels, W * sizeof(float), W, layered ? 1 : H);
        copy.dstArray = deep;
        copy.extent = make_cudaExtent(W, layered ? 1 : H, layered ? 3 : 1);
        copy.kind = cudaMemcpyHostToDevice;
        printf("copy: %s\n", cudaGetErrorName(cudaMemcpy3D(&copy)));
        cudaTextureObject_t t = over(of_array(deep), cudaAddressModeClamp, cudaFilterModePoint, cudaReadModeElementType, false);
        if (layered) read_layer<<<1, 3>>>(t, out);
        else read3d<<<1, 3>>>(t, out);
        show(layered ? "layers" : "depth", out, 3);
        cudaDestroyTextureObject(t);
        cudaFreeArray(deep);
    }

    // a surface of the first array
    cudaSurfaceObject_t surface = 0;
    cudaResourceDesc whole = of_array(array);
    cudaCreateSurfaceObject(&surface, &whole);
    write2d<<<1, dim3(W, H)>>>(surface, W);
    float back[H][W];
    cudaMemcpy2DFromArray(back, sizeof back[0], array, 0, 0, sizeof back[0], H, cudaMemcpyDeviceToHost);
    printf("surface: %g %g %g\n", back[0][4], back[1][0], back[2][3]);
    cudaDestroySurfaceObject(surface);
    cudaDestroyTextureObject(linear);
    cudaDestroyTextureObject(wrapped);
    cudaDestroyTextureObject(bytes);
    cudaDestroyTextureObject(plain);
    printf("freed: %s\n", cudaGetErrorName(cudaFreeArray(array)));
    puts("PASS");
}
