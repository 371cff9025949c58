// The compiler's check of hazards on random streams with programs of vector units: it finds nothing in them, and finds
// a wait that is missing.
#include "app/validate/corpus/random_stream.hpp"
#include "compiler/verify/verify_hazards.hpp"
#include "sw_models/config/machine.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gradweave::test {
namespace {

class StreamHazards : public testing::TestWithParam<const char *> {
protected:
  /// What is found first in the stream. It is followed up to what the check, which is stricter than the generator about
  /// a core's results on their way to itself, finds in a command of a core.
  std::string first_hazard(const std::vector<isa::Command> &stream) {
    compiler::SyncReplay sync(npu_);
    compiler::HazardReplay hazards(npu_);
    for (std::size_t i = 0; i < stream.size(); ++i) {
      const isa::Decoded d = *isa::decode(stream[i]);
      if (std::string problem = sync.step(d); !problem.empty()) return problem;
      const std::string problem = hazards.step(i, d, sync);
      const std::uint32_t engine = isa::engine_place(d.engine(), npu_.cores);
      const bool of_core = engine >= 2 && engine < 2 + npu_.cores;
      if (!problem.empty()) return of_core ? "" : problem;
      ++followed_;
    }
    return {};
  }
  std::vector<isa::Command> stream_of(std::uint64_t seed) {
    corpus::RandomStreamOptions options;
    options.seed = seed;
    return corpus::make_random_stream(npu_, options).commands;
  }

  std::uint64_t followed_ = 0; ///< commands
  Machine npu_ = load_machine(std::string("configs/") + GetParam() + ".toml");
};

TEST_P(StreamHazards, AreNoneWhereEveryNeedIsMet) {
  for (std::uint64_t seed = 0; seed < 200; ++seed)
    ASSERT_EQ(first_hazard(stream_of(seed)), "") << "seed " << seed;
  EXPECT_GT(followed_, 10000U);
}

/// Waits of VECTORs, one at a time. Some follow from others, by way of a third engine, or lie behind what is followed.
TEST_P(StreamHazards, AreFoundWhereAVectorDoesNotWait) {
  int removed = 0, found = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const std::vector<isa::Command> stream = stream_of(seed);
    for (std::size_t i = 0; i < stream.size(); ++i) {
      isa::Decoded d = *isa::decode(stream[i]);
      if (!std::holds_alternative<isa::VectorCommand>(d.op)) continue;
      for (isa::Wait &wait : d.sync.waits) {
        if (wait.semaphore == isa::kNoSemaphore) continue;
        const isa::Wait kept = wait;
        wait = {};
        std::vector<isa::Command> racing = stream;
        racing[i] = isa::encode(d);
        ++removed;
        found += first_hazard(racing).empty() ? 0 : 1;
        wait = kept;
      }
    }
  }
  EXPECT_GT(removed, 100);
  EXPECT_GT(found, removed * 3 / 4);
}

INSTANTIATE_TEST_SUITE_P(Npus, StreamHazards, testing::Values("test8v2", "test6x10v1", "test8c2v8"));

} // namespace
} // namespace gradweave::test
