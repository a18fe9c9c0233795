/* cuRAND's names for device code, over the generator of both sides. */
#ifndef CURAND_KERNEL_H_
#define CURAND_KERNEL_H_

#include <curand.h>

#define PORTER_JOINED(rest) curand##rest
#define RANDOM(rest) PORTER_JOINED(rest)
#include "generators.h"
#undef RANDOM
#undef PORTER_JOINED

#endif
