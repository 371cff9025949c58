// gradweave validate --random on the Verilated NPU with memories that the corpus was not made for.
#include "tests/cli/command_line.hpp"

namespace gradweave::test {
namespace {

class RandomMixOnRtl : public CommandLineTest {};

/// A byte in four cycles: the longest bursts take longer than most watchdogs that suit other NPUs.
TEST_F(RandomMixOnRtl, ASlowMemoryLetsStreamsEnd) {
  // The RTL is test8's: it does not know its memory.
  write("npu.toml", "[npu]\nname = \"test8\"\nrows = 8\ncols = 8\ncores = 1\nspm_bytes = 8192\nspm_banks = 4\n"
                    "bus_bytes = 16\nqueue_depth = 8\nsemaphores = 64\noutstanding = 64\nclock_ghz = 16\n"
                    "[memory]\nsize_bytes = 1073741824\nbandwidth_gb_s = 4\nlatency_cycles = 20\n"
                    "turnaround_cycles = 8\nbatch_bytes = 1073741824\n");
  const CommandResult r = run({"validate", "--random", "20", "--commands", "15", "--npu", "./npu.toml", "--quiet"});
  EXPECT_EQ(r.code, 0) << r.out << r.err;
  EXPECT_NE(r.out.find("validate: 20 random streams, "), std::string::npos) << r.out;
}

} // namespace
} // namespace gradweave::test
