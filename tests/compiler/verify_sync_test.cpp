// SyncReplay by itself, where whole streams do not reach.
#include "compiler/verify_sync.hpp"
#include "tests/compiler/layer_run.hpp"

namespace gradweave::compiler {
namespace {

TEST(SyncReplay, ASemaphoreMayBePostedUntilItCouldOverflow) {
  NpuConfig npu = load_config("test8");
  npu.queue_depth = 5;
  // Takers may lag behind by a queue and the command that runs, each by what a wait can take.
  const std::uint32_t most = 65535 - (5 + 1) * 255;
  isa::Decoded post;
  post.op = isa::SyncCommand{1};
  post.sync.posts[0] = 7;
  SyncReplay replay(npu);
  for (std::uint32_t i = 0; i < most; ++i)
    ASSERT_EQ(replay.step(post), "") << i;
  EXPECT_EQ(replay.step(post), "semaphore 7 can exceed 65535");
}

} // namespace
} // namespace gradweave::compiler
