// The comparison of random streams can fail: a broken image and a broken model turn it red, with the culprit named.
#include "tb/rtl_device.hpp"
#include "tests/tb/stream_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gradweave::test {
namespace {

class StreamCheck : public testing::Test {
protected:
  StreamCheck() {
    config = load_machine("configs/test8.toml");
    device = std::make_unique<tb::RtlDevice>(config, DeviceOptions{}, tb::make_npu_model());
    corpus::RandomStreamOptions options;
    options.seed = 4;
    options.dram_base = device->allocate(128U << 20U, 4096) + kGuardBytes;
    stream = corpus::make_random_stream(config, options);
  }

  /// The last command of a kind.
  template <class Op, class F> std::size_t last(F &&matches) {
    for (std::size_t i = stream.commands.size(); i-- > 0;)
      if (const auto d = isa::decode(stream.commands[i]); d && std::holds_alternative<Op>(d->op))
        if (matches(std::get<Op>(d->op))) return i;
    ADD_FAILURE() << "no such command";
    return 0;
  }

  static void expect_part(const StreamVerdict &verdict, const std::string &part) {
    EXPECT_NE(verdict.problem.find(part), std::string::npos) << "problem: '" << verdict.problem << "'";
  }

  Machine config;
  std::unique_ptr<tb::RtlDevice> device;
  corpus::RandomStream stream;
};

TEST_F(StreamCheck, PassesWhenNothingIsBroken) {
  const StreamVerdict verdict = check_stream(*device, stream);
  EXPECT_TRUE(verdict.ok()) << verdict.problem;
  EXPECT_GT(verdict.cycles, 0U);
}

TEST_F(StreamCheck, SeesOneFlippedBitAndNamesTheStore) {
  const std::size_t store = last<isa::DmaCommand>([](const auto &d) { return d.store; });
  const isa::DmaCommand d = std::get<isa::DmaCommand>(isa::decode(stream.commands[store])->op);
  const std::uint64_t addr =
      d.dram_addr + std::uint64_t{d.rows - 1} * d.pitch + std::uint64_t{d.cols - 1} * (d.fp32 ? 4 : 2);
  StreamSabotage sabotage;
  sabotage.device_memory = [&](Device &dev) {
    std::uint8_t byte = 0;
    dev.copy_out(addr, &byte, 1);
    byte ^= 0x10;
    dev.copy_in(addr, &byte, 1);
  };
  expect_part(check_stream(*device, stream, sabotage), "element (" + std::to_string(d.rows - 1) + ", " +
                                                           std::to_string(d.cols - 1) + ") of command " +
                                                           std::to_string(store) + ":");
}

TEST_F(StreamCheck, SeesAWriteOutsideTheData) {
  StreamSabotage sabotage;
  sabotage.device_memory = [&](Device &dev) {
    const std::uint8_t byte = 1;
    dev.copy_in(stream.dram_base - 1, &byte, 1);
  };
  expect_part(check_stream(*device, stream, sabotage), "which no command writes: device 0x01, model 0x00");
}

TEST_F(StreamCheck, SeesAGemmThatTheModelWalksOtherwise) {
  StreamSabotage sabotage;
  const std::size_t gemm = last<isa::GemmCommand>([](const auto &) { return true; });
  sabotage.model_commands = [&](std::vector<isa::Command> &commands) {
    auto decoded = *isa::decode(commands[gemm]);
    auto &g = std::get<isa::GemmCommand>(decoded.op);
    g.a.rot = static_cast<isa::Lane>((g.a.rot + 1) % config.lanes()); // another lane than the data is in
    commands[gemm] = isa::encode(decoded);
  };
  expect_part(check_stream(*device, stream, sabotage), "; element (");
}

TEST_F(StreamCheck, SeesAnErrorOfTheDeviceOnly) {
  StreamSabotage sabotage;
  const std::vector<isa::Command> good = stream.commands;
  sabotage.model_commands = [&](std::vector<isa::Command> &commands) { commands = good; };
  stream.commands[3].words[0] = 0;
  expect_part(check_stream(*device, stream, sabotage),
              "the device ends in ILLEGAL_OPCODE at command 3, the model in NONE");
}

TEST_F(StreamCheck, PassesThroughARing) {
  for (std::uint64_t host = 1; host <= 10; ++host) {
    const StreamVerdict verdict = check_stream(*device, stream, {}, host);
    EXPECT_EQ(verdict.problem, "") << "host " << host;
    EXPECT_GT(verdict.marks, 0U);
  }
}

TEST_F(StreamCheck, SeesAMarkOfAnotherTagThroughARing) {
  StreamSabotage sabotage;
  sabotage.model_commands = [](std::vector<isa::Command> &commands) {
    const auto mark = std::find_if(commands.begin(), commands.end(), isa::is_mark);
    ASSERT_NE(mark, commands.end());
    mark->set(isa::field::TAG, 4711);
  };
  expect_part(check_stream(*device, stream, sabotage, 3), "mark 0: device tag 0, model tag 4711");
}

} // namespace
} // namespace gradweave::test
