/* hipRAND's names for device code, over the generator of both sides. */
#ifndef HIPRAND_KERNEL_H_
#define HIPRAND_KERNEL_H_

#include <hip/hip_runtime.h>
#include <hiprand/hiprand.h>

#define PORTER_JOINED(rest) hiprand##rest
#define RANDOM(rest) PORTER_JOINED(rest)
#include "../generators.h"
#undef RANDOM
#undef PORTER_JOINED

#endif
