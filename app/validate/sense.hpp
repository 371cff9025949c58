// Whether random streams mean anything on an NPU. A stream that ends by an error nobody drew is equal on both sides and
// shows little: what should have followed never ran.
#pragma once

#include "app/validate/run.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave::runtime {

/// Equal streams of a kind for which no error was drawn.
struct UndrawnEnds {
  std::uint64_t streams = 0;
  std::map<std::string_view, std::uint64_t> errors; ///< those that ended by one, by its name

  void add(const ValidationVerdict &verdict);
  void add(const UndrawnEnds &other);
  std::uint64_t failed() const;
  /// More than kMostUndrawn of them failed.
  bool senseless() const;
};

inline constexpr double kMostUndrawn = 0.05; ///< share of a kind

/// "npu x: 41 of 100 data streams end by an error that was not drawn for them (41 WATCHDOG): 41.0 %, ...; remedy".
std::string complaint(std::string_view npu, std::string_view kind, const UndrawnEnds &ends);

} // namespace gradweave::runtime
