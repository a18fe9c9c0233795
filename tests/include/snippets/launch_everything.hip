#include <hip/hip_runtime.h>
#include "porter/launch.hpp"
struct Pair {
  int a;
  float b;
};
__global__ void none() { porter::trigger_programmatic_launch_completion(); }
template <class T> __global__ void three(T const *, T const, Pair) { porter::grid_dependency_synchronize(); }
hipError_t run(hipStream_t stream, hipEvent_t event, float *x, hipFunction_t loaded, void **arguments) {
  porter::launch_attribute attributes[2] = {};
  attributes[0].id = porter::launch_attribute_programmatic_event;
  attributes[0].val.programmaticEvent.event = event;
  attributes[0].val.programmaticEvent.flags = 0;
  attributes[0].val.programmaticEvent.triggerAtBlockStart = 1;
  attributes[1].id = porter::launch_attribute_cooperative;
  attributes[1].val.cooperative = 1;
  porter::launch_config const config = {dim3(1), 64, 0, stream, attributes, 2};
  hipError_t status = porter::launch_kernel_ex(&config, none);
  if (status == hipSuccess) status = porter::launch_kernel_ex(&config, three<float>, x, 2, Pair{1, 2.0f});
  auto const chosen = &three<double>;
  if (status == hipSuccess) status = porter::launch_kernel_ex(&config, chosen, nullptr, 2.0f, Pair());
  if (status == hipSuccess) status = porter::launch_kernel_ex_c(&config, reinterpret_cast<void const *>(none), arguments);
  porter::drv_launch_attribute one;
  one.id = porter::launch_attribute_programmatic_stream_serialization;
  one.value.programmaticStreamSerializationAllowed = 1;
  porter::drv_launch_config drv = {1, 1, 1, 64, 1, 1, 0, stream, &one, 1};
  return status == hipSuccess ? porter::drv_launch_kernel_ex(&drv, loaded, arguments, nullptr) : status;
}
