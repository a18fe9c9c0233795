/* The MODE register: rounding, denormals of f32 and FP16_OVFL may change while a kernel runs (3.3, "Mode register"). */
#include "lanes.h"

#include <fenv.h>

enum { MODE_CAN_CHANGE = 0x3f | 1 << 23 }; /* rounding, denormals of f32, FP16_OVFL */

/* S_SETREG of MODE; other bits are not supported. */
int gfx_set_mode(Lanes *w, uint32_t site, uint32_t offset, uint32_t width, uint32_t value) {
    uint32_t field = (width == 32 ? 0xffffffffu : (1u << width) - 1) << offset;
    uint32_t mode = (w->mode & ~field) | (value << offset & field);
    if ((mode ^ w->mode) & ~(uint32_t)MODE_CAN_CHANGE) {
        core_fault(&w->core, FAULT_UNSUPPORTED, site, 0, mode, 0);
        return 1;
    }
    w->mode = mode;
    return 0;
}

/* 0 nearest even, 1 up, 2 down, 3 towards zero */
void gfx_round(uint32_t mode) {
    static const int host[4] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    fesetround(host[mode & 3]);
}
