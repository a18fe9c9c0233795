#include "porter/device.hpp"
#include "porter/sync.hpp"

extern "C" __global__ void sleeping(unsigned* p) {
  porter::nanosleep(100);
  porter::nanosleep(p[0]);
  porter::prof_trigger(3);
  p[1] = 1;
}
extern "C" __global__ void trapping(int* p) {
  if (p[0]) porter::trap();
  if (p[1]) porter::brkpt();
}
extern "C" __global__ void timing(unsigned long long* p) { p[0] = porter::globaltimer(); }
