/* Where a call ends that is not implemented. */
#include "api.h"

int missing_call(const char *name) {
    BEGIN;
    keep_error(NOT_SUPPORTED);
    return refuse(name, NULL);
}
