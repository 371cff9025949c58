// Which waits of a section's commands a hazard tells of.
#pragma once

#include "isa/command.hpp"
#include "tests/compiler/vector_stream/section_run.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

namespace gradweave::compiler {

struct WaitedFor {
  std::set<std::uint8_t> all, needed; ///< semaphores
};

/// Takes each wait away, and the post that it waited for. Of some nothing is seen: they follow from others.
inline WaitedFor waited_for(const Machine &npu, const std::vector<isa::Command> &commands) {
  WaitedFor found;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const isa::Decoded d = *isa::decode(commands[i]);
    for (std::size_t w = 0; w < d.sync.waits.size(); ++w) {
      if (d.sync.waits[w].count == 0) continue;
      const std::uint8_t semaphore = d.sync.waits[w].semaphore;
      isa::Decoded open = d;
      open.sync.waits[w] = {};
      std::vector<isa::Command> broken = commands;
      broken[i] = isa::encode(open);
      for (std::size_t j = i; j-- > 0;) {
        isa::Decoded poster = *isa::decode(broken[j]);
        const auto post = std::find(poster.sync.posts.begin(), poster.sync.posts.end(), semaphore);
        if (post == poster.sync.posts.end()) continue;
        *post = isa::Sync{}.posts[0];
        broken[j] = isa::encode(poster);
        break;
      }
      found.all.insert(semaphore);
      if (!first_hazard(npu, broken).empty()) found.needed.insert(semaphore);
    }
  }
  return found;
}

} // namespace gradweave::compiler
