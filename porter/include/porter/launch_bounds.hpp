// The second argument of __launch_bounds__ in HIP's unit. SPDX-License-Identifier: Apache-2.0
#ifndef PORTER_LAUNCH_BOUNDS_HPP
#define PORTER_LAUNCH_BOUNDS_HPP

namespace porter {

/// Waves per SIMD that let `blocks` blocks of `threads` threads stay on one compute unit: it has four SIMDs with room
/// for eight waves each, and a wave has 64 lanes.
constexpr int waves_per_simd(int threads, int blocks) {
  return (blocks * ((threads + 63) / 64) + 3) / 4 > 8 ? 8 : (blocks * ((threads + 63) / 64) + 3) / 4;
}

}  // namespace porter

#endif  // PORTER_LAUNCH_BOUNDS_HPP
