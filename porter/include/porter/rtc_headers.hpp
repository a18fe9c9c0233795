// The support headers of this tree as text, for kernels that are compiled at run time.
// As it stands here it has none: porter writes it anew for each tree.
// SPDX-License-Identifier: Apache-2.0
#ifndef PORTER_RTC_HEADERS_HPP
#define PORTER_RTC_HEADERS_HPP

namespace porter {
namespace rtc {

struct Header {
  const char *name, *text;
};

/// Ends with a header without a name.
inline const Header* headers() {
  static const Header list[] = {
      {nullptr, nullptr},
  };
  return list;
}

}  // namespace rtc
}  // namespace porter

#endif  // PORTER_RTC_HEADERS_HPP
