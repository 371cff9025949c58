// What a weaving is asked for.
#pragma once

#include "compiler/weave/merge.hpp"

#include <cstdint>
#include <functional>

namespace gradweave::compiler {

struct WeaveOptions {
  WeavePolicy policy = WeavePolicy::kTiles;
  /// Of policy `tiles`: changes of plans and order that are tried.
  std::uint64_t changes = 300;
  std::uint64_t seed = 1; ///< of these
  unsigned threads = 1;   ///< that try orders; what is found does not depend on it
  /// Called after each order that is tried, with those tried and those to try. May throw, which abandons the search.
  std::function<void(std::uint64_t, std::uint64_t)> progress = {};
};

} // namespace gradweave::compiler
