// How many random cases a test draws.
#pragma once

#include <cstdint>

namespace gradweave::test {

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GW_TEST_SANITIZED
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define GW_TEST_SANITIZED
#endif

/// Of `all` cases those that are run: all; under sanitizers, which look at memory and not at results and take some
/// twenty times as long for a case, a sixteenth of them, rounded up.
constexpr std::uint64_t cases(std::uint64_t all) {
#ifdef GW_TEST_SANITIZED
  return (all + 15) / 16;
#else
  return all;
#endif
}

} // namespace gradweave::test
