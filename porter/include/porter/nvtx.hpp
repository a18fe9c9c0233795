// NVTX's marks and ranges, passed on to roctx where the program is linked to it (-lroctx64), and nothing where it is not:
// NVTX is headers alone, and so is this. Texts arrive; colours, categories, payloads and domains do not. Names that
// PyTorch's hipify takes for NVTX's are spelled in another way here.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stddef.h>
#include <stdint.h>

extern "C" {
__attribute__((weak)) void roctxMarkA(const char *message);
__attribute__((weak)) int roctxRangePushA(const char *message);
__attribute__((weak)) int roctxRangePop();
__attribute__((weak)) uint64_t roctxRangeStartA(const char *message);
__attribute__((weak)) void roctxRangeStop(uint64_t id);
}

namespace porter {

enum { NVTX_VERSION = 3 };
enum nvtxColorType_t { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 };
enum nvtxMessageType_t {
  NVTX_MESSAGE_UNKNOWN = 0,
  NVTX_MESSAGE_TYPE_ASCII = 1,
  NVTX_MESSAGE_TYPE_UNICODE = 2,
  NVTX_MESSAGE_TYPE_REGISTERED = 3
};
enum nvtxPayloadType_t {
  NVTX_PAYLOAD_UNKNOWN = 0,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
  NVTX_PAYLOAD_TYPE_INT64 = 2,
  NVTX_PAYLOAD_TYPE_DOUBLE = 3,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
  NVTX_PAYLOAD_TYPE_INT32 = 5,
  NVTX_PAYLOAD_TYPE_FLOAT = 6
};

typedef uint64_t nvtx_range_id;
typedef struct nvtxDomainRegistration_st *nvtxDomainHandle_t;
typedef const struct nvtxStringRegistration_st *nvtxStringHandle_t;

union nvtxMessageValue_t {
  const char *ascii;
  const wchar_t *unicode;
  nvtxStringHandle_t registered;
};

struct nvtxEventAttributes_t {
  uint16_t version, size;
  uint32_t category;
  int32_t colorType;
  uint32_t color;
  int32_t payloadType, reserved0;
  union {
    uint64_t ullValue;
    int64_t llValue;
    double dValue;
    uint32_t uiValue;
    int32_t iValue;
    float fValue;
  } payload;
  int32_t messageType;
  nvtxMessageValue_t message;
};
enum { NVTX_EVENT_ATTRIB_STRUCT_SIZE = sizeof(nvtxEventAttributes_t) };

inline const char *nvtx_text(const nvtxEventAttributes_t *event) {
  if (event == nullptr) return "";
  if (event->messageType == NVTX_MESSAGE_TYPE_ASCII && event->message.ascii != nullptr) return event->message.ascii;
  if (event->messageType == NVTX_MESSAGE_TYPE_REGISTERED && event->message.registered != nullptr)
    return reinterpret_cast<const char *>(event->message.registered);
  return "";
}

inline void nvtx_mark_a(const char *message) {
  if (::roctxMarkA != nullptr) ::roctxMarkA(message);
}
inline int nvtx_range_push_a(const char *message) { return ::roctxRangePushA != nullptr ? ::roctxRangePushA(message) : -2; }
inline int nvtx_range_pop() { return ::roctxRangePop != nullptr ? ::roctxRangePop() : -2; }
inline nvtx_range_id nvtx_range_start_a(const char *message) {
  return ::roctxRangeStartA != nullptr ? ::roctxRangeStartA(message) : 0;
}
inline void nvtx_range_end(nvtx_range_id id) {
  if (::roctxRangeStop != nullptr) ::roctxRangeStop(id);
}
inline void nvtx_mark(const char *message) { nvtx_mark_a(message); }
inline int nvtx_range_push(const char *message) { return nvtx_range_push_a(message); }
inline nvtx_range_id nvtx_range_start(const char *message) { return nvtx_range_start_a(message); }
inline void nvtxMarkEx(const nvtxEventAttributes_t *event) { nvtx_mark_a(nvtx_text(event)); }
inline int nvtxRangePushEx(const nvtxEventAttributes_t *event) { return nvtx_range_push_a(nvtx_text(event)); }
inline nvtx_range_id nvtxRangeStartEx(const nvtxEventAttributes_t *event) { return nvtx_range_start_a(nvtx_text(event)); }

inline nvtxDomainHandle_t nvtxDomainCreateA(const char *) { return nullptr; }
inline nvtxDomainHandle_t nvtxDomainCreate(const char *) { return nullptr; }
inline void nvtxDomainDestroy(nvtxDomainHandle_t) {}
inline void nvtxDomainMarkEx(nvtxDomainHandle_t, const nvtxEventAttributes_t *event) { nvtxMarkEx(event); }
inline int nvtxDomainRangePushEx(nvtxDomainHandle_t, const nvtxEventAttributes_t *event) {
  return nvtxRangePushEx(event);
}
inline int nvtxDomainRangePop(nvtxDomainHandle_t) { return nvtx_range_pop(); }
inline nvtx_range_id nvtxDomainRangeStartEx(nvtxDomainHandle_t, const nvtxEventAttributes_t *event) {
  return nvtxRangeStartEx(event);
}
inline void nvtxDomainRangeEnd(nvtxDomainHandle_t, nvtx_range_id id) { nvtx_range_end(id); }
inline nvtxStringHandle_t nvtxDomainRegisterStringA(nvtxDomainHandle_t, const char *text) {
  return reinterpret_cast<nvtxStringHandle_t>(text);
}
inline void nvtxInitialize(const void *) {}
inline void nvtxNameCategoryA(uint32_t, const char *) {}
inline void nvtxDomainNameCategoryA(nvtxDomainHandle_t, uint32_t, const char *) {}
inline void nvtxNameOsThreadA(uint32_t, const char *) {}
inline void nvtxNameOsThread(uint32_t, const char *) {}
// Names of streams, events, devices and contexts, of the runtime and of the driver API: roctx has none.
template <class Object>
inline void nvtx_name_object(Object, const char *) {}

}  // namespace porter
