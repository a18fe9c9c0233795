// The Python side of every harness: compiled once by the host compiler, linked with each kernel's side.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "harness.h"

namespace py = pybind11;

namespace {

struct RuntimeFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void check(const char *failed) {
  if (failed != nullptr) throw RuntimeFailed(failed);
}

struct Dimensions {
  PorterLaunch launch;
  std::vector<std::string> bytes;
  std::vector<void *> pointers;
};

Dimensions prepare(const std::vector<py::bytes> &arguments, const std::vector<unsigned> &grid,
                   const std::vector<unsigned> &block, unsigned shared, bool cooperative) {
  if (grid.size() != 3 || block.size() != 3) throw std::invalid_argument("grid and block have three sides");
  if (static_cast<int>(arguments.size()) != porter_harness.parameters)
    throw std::invalid_argument("the kernel has " + std::to_string(porter_harness.parameters) + " parameters, given are " +
                                std::to_string(arguments.size()));
  Dimensions made{{{grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]}, shared, cooperative}, {}, {}};
  for (size_t i = 0; i < arguments.size(); ++i) {
    made.bytes.push_back(static_cast<std::string>(arguments[i]));
    if (made.bytes.back().size() != porter_harness.sizes[i])
      throw std::invalid_argument("parameter " + std::to_string(i) + " has " + std::to_string(porter_harness.sizes[i]) +
                                  " bytes, given are " + std::to_string(made.bytes.back().size()));
  }
  for (std::string &bytes : made.bytes) made.pointers.push_back(bytes.data());
  return made;
}

}  // namespace

PYBIND11_MODULE(porter_harness_module, module) {
  py::register_exception<RuntimeFailed>(module, "RuntimeFailed", PyExc_RuntimeError);
  module.attr("kernel") = porter_harness.kernel;
  module.def("parameters", [] {
    std::vector<std::pair<unsigned, bool>> found;
    for (int i = 0; i < porter_harness.parameters; ++i)
      found.emplace_back(porter_harness.sizes[i], porter_harness.is_pointer[i] != 0);
    return found;
  });
  module.def("symbols", [] {
    std::vector<std::string> found(porter_harness.symbol_names, porter_harness.symbol_names + porter_harness.symbols);
    return found;
  });
  module.def("count", [] {
    int count = 0;
    check(porter_harness.count(&count));
    return count;
  });
  module.def("properties", [] {
    PorterProperties found;
    check(porter_harness.properties(&found));
    py::dict out;
    out["name"] = std::string(found.name);
    out["architecture"] = std::string(found.architecture);
    out["lanes"] = found.lanes;
    out["units"] = found.units;
    out["clock_khz"] = found.clock_khz;
    out["memory_clock_khz"] = found.memory_clock_khz;
    out["memory_bus_bits"] = found.memory_bus_bits;
    out["driver"] = found.driver;
    out["runtime"] = found.runtime;
    out["memory"] = found.memory;
    out["cache"] = found.cache;
    return out;
  });
  module.def("allocate", [](size_t bytes) {
    void *address = nullptr;
    check(porter_harness.allocate(&address, bytes));
    return reinterpret_cast<uintptr_t>(address);
  });
  module.def("release", [](uintptr_t address) { check(porter_harness.release(reinterpret_cast<void *>(address))); });
  module.def("copy_in", [](uintptr_t address, const py::buffer &from) {
    const py::buffer_info info = from.request();
    check(porter_harness.copy_in(reinterpret_cast<void *>(address), info.ptr, static_cast<size_t>(info.size * info.itemsize)));
  });
  module.def("copy_out", [](const py::buffer &to, uintptr_t address) {
    const py::buffer_info info = to.request(true);
    check(porter_harness.copy_out(info.ptr, reinterpret_cast<void *>(address), static_cast<size_t>(info.size * info.itemsize)));
  });
  module.def("make_image", [](const std::vector<size_t> &n, const py::buffer &texels) {
    if (porter_harness.make_image == nullptr)
      throw std::invalid_argument("the kernel's file names no texture or surface object, which an argument is");
    if (n.size() != 15) throw std::invalid_argument("an image has 15 numbers");
    const PorterImage image{n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], n[9], {n[10], n[11], n[12]}, n[13], n[14]};
    unsigned long long object = 0;
    check(porter_harness.make_image(&image, texels.request().ptr, &object));
    return object;
  });
  module.def("read_image", [](unsigned long long object, const py::buffer &texels) {
    check(porter_harness.read_image(object, texels.request(true).ptr));
  });
  module.def("release_images", [] {
    if (porter_harness.release_images != nullptr) check(porter_harness.release_images());
  });
  module.def("fill", [](uintptr_t address, int value, size_t bytes) {
    check(porter_harness.fill(reinterpret_cast<void *>(address), value, bytes));
  });
  module.def("set_symbol", [](int index, const py::buffer &from) {
    const py::buffer_info info = from.request();
    check(porter_harness.set_symbol(index, info.ptr, static_cast<size_t>(info.size * info.itemsize)));
  });
  module.def("get_symbol", [](int index, const py::buffer &to) {
    const py::buffer_info info = to.request(true);
    check(porter_harness.get_symbol(index, info.ptr, static_cast<size_t>(info.size * info.itemsize)));
  });
  module.def("launch", [](const std::vector<py::bytes> &arguments, const std::vector<unsigned> &grid,
                          const std::vector<unsigned> &block, unsigned shared, bool cooperative) {
    Dimensions made = prepare(arguments, grid, block, shared, cooperative);
    check(porter_harness.launch(&made.launch, made.pointers.data()));
  });
  module.def("time", [](const std::vector<py::bytes> &arguments, const std::vector<unsigned> &grid,
                        const std::vector<unsigned> &block, unsigned shared, bool cooperative, int warmup, int repeats,
                        uintptr_t flushed, size_t flush_bytes) {
    Dimensions made = prepare(arguments, grid, block, shared, cooperative);
    std::vector<float> ms(static_cast<size_t>(repeats));
    check(porter_harness.time(&made.launch, made.pointers.data(), warmup, repeats, reinterpret_cast<void *>(flushed),
                              flush_bytes, ms.data()));
    return ms;
  });
}
