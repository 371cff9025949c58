// Which sources decide about a time, in the RTL and in the timing model.
#pragma once

#include "app/validate/verdict/compare.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gradweave::runtime {

struct Places {
  std::vector<std::string_view> rtl, model; ///< files, relative to the root of the sources; the most likely first
  std::vector<std::string_view> latencies;  ///< constants of sw_models/timing/engines/latencies.hpp
  std::string_view section;                 ///< heading in docs/timing-model.md

  /// Three or four lines: RTL, model, its constants, page; each but the first begins with `indent`.
  std::string text(std::string_view indent) const;
};

/// For an event of a command; opcode and engine as in command_label.hpp.
Places where_to_look(Event event, std::string_view opcode, std::string_view engine);
/// For a counter that differs although all events agree.
Places where_to_look_for_counter(std::string_view counter);
/// For a run that ends with another error, or in another cycle.
Places where_to_look_for_end();
/// All of them, for a test that files, constants and sections exist.
std::vector<Places> all_places();

} // namespace gradweave::runtime
