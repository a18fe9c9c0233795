// Kernels that are compiled at run time: hiprtc behind NVRTC's ways. Our support headers are handed to every program
// that includes one, and NVRTC's options become clang's. For host code; works with HIP 5.2 and later, C++11 and later.
// SPDX-License-Identifier: Apache-2.0
#ifndef PORTER_RTC_HPP
#define PORTER_RTC_HPP

#include <hip/hiprtc.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "rtc_headers.hpp"

namespace porter {
namespace rtc {

/// What an option of NVRTC becomes. `%` stands for its value; where `when` is not empty, only that value counts.
struct Option {
  const char *longer, *shorter;
  bool takes_value;
  const char *when, *first, *second;
};

/// The row of an option's name; null for what hiprtc knows itself, or nobody does.
inline const Option* option_named(const std::string& name) {
  static const char* const approximate_division = "-fno-hip-fp32-correctly-rounded-divide-sqrt";
  // An architecture of NVIDIA's goes: hiprtc takes that of the current device.
  static const Option rows[] = {
      {"--gpu-architecture", "-arch", true, "", nullptr, nullptr},
      {"--std", "-std", true, "", "-std=%", nullptr},
      {"--define-macro", "-D", true, "", "-D%", nullptr},
      {"--undefine-macro", "-U", true, "", "-U%", nullptr},
      {"--include-path", "-I", true, "", "-I%", nullptr},
      {"--pre-include", "-include", true, "", "-include", "%"},
      {"--use_fast_math", "-use_fast_math", false, "", "-fgpu-flush-denormals-to-zero", approximate_division},
      {"--ftz", "-ftz", true, "true", "-fgpu-flush-denormals-to-zero", nullptr},
      {"--prec-sqrt", "-prec-sqrt", true, "false", approximate_division, nullptr},
      {"--prec-div", "-prec-div", true, "false", approximate_division, nullptr},
      {"--fmad", "-fmad", true, "false", "-ffp-contract=off", nullptr},
      {"--relocatable-device-code", "-rdc", true, "true", "-fgpu-rdc", nullptr},
      {"--device-c", "-dc", false, "", "-fgpu-rdc", nullptr},
      {"--device-w", "-dw", false, "", nullptr, nullptr},
      {"--device-as-default-execution-space", "-default-device", false, "", "-include", "porter/rtc_default_device.hpp"},
      {"--device-debug", "-G", false, "", "-g", nullptr},
      {"--generate-line-info", "-lineinfo", false, "", "-gline-tables-only", nullptr},
      {"--disable-warnings", "-w", false, "", "-w", nullptr},
      {"--maxrregcount", "-maxrregcount", true, "", nullptr, nullptr},
      {"--ptxas-options", "-Xptxas", true, "", nullptr, nullptr},
      {"--dopt", "-dopt", true, "", nullptr, nullptr},
      {"--Ofast-compile", "-Ofc", true, "", nullptr, nullptr},
      {"--split-compile", "-split-compile", true, "", nullptr, nullptr},
      {"--jump-table-density", "-jtd", true, "", nullptr, nullptr},
      {"--modify-stack-limit", "-modify-stack-limit", true, "", nullptr, nullptr},
      {"--builtin-move-forward", "-builtin-move-forward", true, "", nullptr, nullptr},
      {"--builtin-initializer-list", "-builtin-initializer-list", true, "", nullptr, nullptr},
      {"--brief-diagnostics", "-brief-diag", true, "", nullptr, nullptr},
      {"--diag-error", "-diag-error", true, "", nullptr, nullptr},
      {"--diag-suppress", "-diag-suppress", true, "", nullptr, nullptr},
      {"--diag-warn", "-diag-warn", true, "", nullptr, nullptr},
      {"--device-stack-protector", "-device-stack-protector", true, "", nullptr, nullptr},
      {"--time", "-time", true, "", nullptr, nullptr},
      {"--fdevice-time-trace", "-fdevice-time-trace", true, "", nullptr, nullptr},
      {"--extensible-whole-program", "-ewp", false, "", nullptr, nullptr},
      {"--extra-device-vectorization", "-extra-device-vectorization", false, "", nullptr, nullptr},
      {"--dlink-time-opt", "-dlto", false, "", nullptr, nullptr},
      {"--gen-opt-lto", "-gen-opt-lto", false, "", nullptr, nullptr},
      {"--optix-ir", "-optix-ir", false, "", nullptr, nullptr},
      {"--restrict", "-restrict", false, "", nullptr, nullptr},
      {"--device-int128", "-device-int128", false, "", nullptr, nullptr},
      {"--device-float128", "-device-float128", false, "", nullptr, nullptr},
      {"--no-source-include", "-no-source-include", false, "", nullptr, nullptr},
      {"--no-cache", "-no-cache", false, "", nullptr, nullptr},
      {"--minimal", "-minimal", false, "", nullptr, nullptr},
      {"--display-error-number", "-err-no", false, "", nullptr, nullptr},
      {"--no-display-error-number", "-no-err-no", false, "", nullptr, nullptr},
  };
  for (const Option& row : rows)
    if (name == row.longer || name == row.shorter) return &row;
  return nullptr;
}

inline void add(std::vector<std::string>& to, const char* pattern, const std::string& value) {
  if (pattern == nullptr) return;
  std::string text = pattern;
  std::size_t const place = text.find('%');
  if (place != std::string::npos) text.replace(place, 1, value);
  for (const std::string& known : to)
    if (known == text && text != "-include") return;
  to.push_back(text);
}

/// The name of an option and its value, joined by `=`, by a blank, or for some by nothing.
struct Split {
  std::string name, value;
  bool has_value;

  explicit Split(const std::string& option) : name(option), has_value(false) {
    std::size_t stop = option.find_first_of("= "), start = stop;
    if (option.size() > 2 && (option.compare(0, 2, "-D") == 0 || option.compare(0, 2, "-U") == 0 ||
                              option.compare(0, 2, "-I") == 0))
      stop = start = 2;
    else if (stop == std::string::npos)
      return;
    else
      ++start;
    name = option.substr(0, stop);
    start = option.find_first_not_of(' ', start);
    value = start == std::string::npos ? std::string() : option.substr(start);
    has_value = true;
  }
};

/// Options for hiprtc. What is not NVRTC's stays as it is; without a dialect NVRTC's own, C++17, is asked for.
inline std::vector<std::string> translated(int count, const char* const* options) {
  std::vector<std::string> kept;
  bool has_dialect = false;
  for (int i = 0; i < count; ++i) {
    Split option(options[i]);
    const Option* const row = option_named(option.name);
    if (row == nullptr || (std::strcmp(row->shorter, "-arch") == 0 && option.value.compare(0, 3, "gfx") == 0)) {
      kept.push_back(options[i]);
      continue;
    }
    if (row->takes_value && !option.has_value && i + 1 < count) option.value = options[++i];
    has_dialect = has_dialect || std::strcmp(row->shorter, "-std") == 0;
    if (*row->when != '\0' && option.value != row->when) continue;
    add(kept, row->first, option.value);
    add(kept, row->second, option.value);
  }
  if (!has_dialect) kept.push_back("-std=c++17");
  return kept;
}

/// What NVRTC declares by itself and hiprtc does not.
inline const char* prelude() {
  return "typedef long clock_t;\n"
         "#if !defined(assert) && defined(NDEBUG)\n#define assert(condition) ((void)0)\n"
         "#elif !defined(assert)\n#define assert(condition) ((condition) ? (void)0 : __builtin_trap())\n#endif\n";
}

inline bool has(const std::string& text, const char* word) { return text.find(word) != std::string::npos; }

/// The source with what goes before it. One that uses our functions and includes none of our headers, because it was put
/// together or stringized, gets them all.
inline std::string completed(const std::string& source, const std::string& all_texts) {
  std::string before;
  if (has(all_texts, "clock_t") || has(all_texts, "assert")) before = "#include \"porter/rtc_prelude.hpp\"\n";
  if ((has(source, "porter::") || has(source, "PORTER_")) && !has(source, "porter/"))
    for (const Header* header = headers(); header->name != nullptr; ++header)
      before.append("#include \"").append(header->name).append("\"\n");
  return before.empty() ? source : before + "#line 1\n" + source;
}

/// The headers of a program: the caller's, ours if one of its texts includes any, and those that are built into hiprtc.
struct Headers {
  std::string source;  // with what goes before it
  std::vector<std::string> spelled;
  std::vector<const char*> names, texts;

  void add(const std::string& name, const char* text) {
    for (const char* known : names)
      if (name == known) return;
    names.push_back(nullptr);
    texts.push_back(text);
    spelled.push_back(name);
    for (std::size_t i = 0; i < spelled.size(); ++i) names[i] = spelled[i].c_str();
  }

  Headers(const char* main, int count, const char* const* caller_texts, const char* const* caller_names) {
    std::string all = main;
    for (int i = 0; i < count; ++i) {
      if (caller_texts[i] == nullptr || caller_names[i] == nullptr) continue;
      add(caller_names[i], *caller_texts[i] != '\0' ? caller_texts[i] : "\n");  // hiprtc refuses a header without text
      all.append("\n").append(caller_texts[i]);
    }
    source = completed(main, all);
    all.append("\n").append(source);
    add("porter/rtc_prelude.hpp", prelude());
    add("porter/rtc_default_device.hpp", "#pragma clang force_cuda_host_device begin\n");
    std::string up;
    for (int depth = 0; depth < 8; ++depth, up += "../") {
      if (all.find("\"" + up + "porter/") == std::string::npos) continue;
      for (const Header* header = headers(); header->name != nullptr; ++header) add(up + header->name, header->text);
    }
    for (const char* built_in : {"hip/hip_runtime.h", "hip/hip_fp16.h", "hip/hip_cooperative_groups.h"})
      add(built_in, "\n");
  }
};

}  // namespace rtc

/// NVRTC's function of that name.
inline hiprtcResult hiprtcCreateProgram(hiprtcProgram* program, const char* source, const char* name, int count,
                                        const char* const* texts, const char* const* names) {
  if (source == nullptr || count < 0 || (count > 0 && (texts == nullptr || names == nullptr)))
    return HIPRTC_ERROR_INVALID_INPUT;
  rtc::Headers all(source, count, texts, names);
  return ::hiprtcCreateProgram(program, all.source.c_str(), name != nullptr && *name != '\0' ? name : "default_program",
                               static_cast<int>(all.names.size()), all.texts.data(), all.names.data());
}

/// NVRTC's function of that name, with NVRTC's options.
inline hiprtcResult hiprtcCompileProgram(hiprtcProgram program, int count, const char* const* options) {
  if (count < 0 || (count > 0 && options == nullptr)) return HIPRTC_ERROR_INVALID_INPUT;
  std::vector<std::string> const kept = rtc::translated(count, options);
  std::vector<const char*> pointers;
  for (const std::string& option : kept) pointers.push_back(option.c_str());
  return ::hiprtcCompileProgram(program, static_cast<int>(pointers.size()), pointers.data());
}

}  // namespace porter

#endif  // PORTER_RTC_HPP
