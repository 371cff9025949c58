// Several NPUs of different shapes, links and flash in one SystemC simulation: every command of a plan begins and ends
// when the whole system's timing model says, data arrive as they were sent, and whatever fails is named.
#include "compiler/compiler.hpp"
#include "device/system_devices.hpp"
#include "sw_models/system/system_timing.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace gradweave {
namespace {

using Kind = SystemCommand::Kind;

constexpr std::uint64_t kData = 1 << 24; ///< from here on in each device's memory, for transfers
constexpr std::uint64_t kRoom = 1 << 16; ///< of each

const SystemConfig &test_system() {
  static const SystemConfig system = load_system("configs/systems/test2.toml");
  return system;
}

struct Stream {
  std::shared_ptr<const std::vector<isa::Command>> commands;
  std::uint64_t bytes = 0;
};

/// Layers of a device, compiled once.
const std::vector<Stream> &streams_of(std::uint32_t device) {
  static std::map<std::uint32_t, std::vector<Stream>> all;
  std::vector<Stream> &streams = all[device];
  if (!streams.empty()) return streams;
  for (const auto &[m, k, n] : {std::array<std::uint32_t, 3>{17, 13, 9}, {5, 23, 3}, {30, 8, 12}}) {
    compiler::Layer layer;
    layer.name = "layer";
    layer.m = m;
    layer.k = k;
    layer.n = n;
    compiler::CompileOptions options;
    options.plans = 4;
    options.pass = compiler::Pass::kBoth;
    compiler::Compiled compiled = compiler::compile({layer}, test_system().devices[device].machine, options);
    streams.push_back(
        {std::make_shared<const std::vector<isa::Command>>(std::move(compiled.stream)), compiled.dram_bytes});
  }
  return streams;
}

/// Two blocks of flash that no other command of a plan writes.
constexpr std::uint64_t own_blocks(std::uint32_t i) { return kFlashBlock * (128 + 2 * (i % 64)); }

/// A plan of `commands` at random: streams, moves between any two devices, reads and writes of flash, one block behind
/// another or not, processors; waits at random besides.
SystemPlan random_plan(std::uint64_t seed, std::uint32_t commands) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  SystemPlan plan(test_system());
  for (std::uint32_t i = 0; i < commands; ++i) {
    SystemCommand command;
    command.label = fmt::format("seed {} number {}", seed, i);
    command.device = static_cast<std::uint32_t>(below(3));
    command.kind = static_cast<Kind>(below(command.device < 2 ? SystemCommand::kKinds : 2));
    if (command.kind == Kind::kRun) {
      const auto &streams = streams_of(command.device);
      command.stream = streams[below(streams.size())].commands;
      command.stream_addr = (1U << 23U) + sizeof(isa::Command) * below(64);
    } else {
      command.to = static_cast<std::uint32_t>((command.device + 1 + below(2)) % 3);
      command.bytes = below(4) == 0 ? 1 + below(40000) : 1 + below(3000);
      command.from = command.kind == Kind::kFlash ? kFlashBlock * below(100) : kData + kRoom * (128 * seed + i);
      command.target = kData + kRoom * (128 * seed + 64 + i);
      if (command.kind == Kind::kProgram) {
        command.target = own_blocks(i);
        command.bytes = 1 + below(2 * kFlashBlock);
      }
      if (command.kind != Kind::kMove && command.kind != Kind::kProcess && below(2) == 0) {
        command.blocks = {1, 0};
        command.bytes = 2 * kFlashBlock;
      }
    }
    if (i > 0 && below(2) == 0) command.waits = {static_cast<CommandId>(below(i))};
    plan.add(std::move(command));
  }
  return plan;
}

std::uint8_t byte_of(CommandId id, std::uint64_t at) { return static_cast<std::uint8_t>(id * 37 + at * 11 + at / 256); }

/// Bytes of a transfer that lie one behind another in flash.
constexpr std::size_t piece_of(const SystemCommand &command) {
  return command.blocks.empty() ? command.bytes : kFlashBlock;
}

/// Fills what a transfer takes, and looks whether it arrived.
class Sender : public SystemHost {
public:
  Sender(const SystemPlan &plan, SystemDevices &devices) : plan_(plan), devices_(devices) {}

  void begin(CommandId id) override {
    const SystemCommand &command = plan_.commands()[id];
    if (command.kind == Kind::kRun || command.kind == Kind::kProcess) return;
    std::vector<std::uint8_t> data(command.bytes);
    for (std::size_t i = 0; i < data.size(); ++i)
      data[i] = byte_at(id, i);
    for (std::size_t at = 0; command.kind == Kind::kFlash && at < data.size(); at += piece_of(command))
      devices_.write_flash(command.device, command.flash_addr(at), data.data() + at, piece_of(command));
    if (command.kind != Kind::kFlash) devices_.device(command.device).copy_in(command.from, data.data(), data.size());
  }
  std::optional<std::string> end(CommandId id) override {
    ended.insert(id);
    const SystemCommand &command = plan_.commands()[id];
    if (command.kind == Kind::kRun || command.kind == Kind::kProcess) return {};
    std::vector<std::uint8_t> data(command.bytes + 1);
    for (std::size_t at = 0; command.kind == Kind::kProgram && at < command.bytes; at += piece_of(command))
      devices_.read_flash(command.device, command.flash_addr(at), data.data() + at, piece_of(command));
    if (command.kind != Kind::kProgram)
      devices_.device(command.target_device()).copy_out(command.target, data.data(), data.size());
    for (std::size_t i = 0; i < command.bytes; ++i)
      if (data[i] != byte_at(id, i)) return fmt::format("byte {} is wrong", i);
    if (data.back() != 0) return "a byte behind the last one was written";
    return {};
  }

  std::set<CommandId> ended;

private:
  /// Flash that is read holds the same whoever reads it.
  std::uint8_t byte_at(CommandId id, std::size_t i) const {
    const SystemCommand &command = plan_.commands()[id];
    if (command.kind != Kind::kFlash) return byte_of(id, command.from + i);
    const std::size_t piece = command.blocks.empty() ? 0 : i / kFlashBlock * kFlashBlock;
    return byte_of(0, command.flash_addr(piece) + i - piece);
  }

  const SystemPlan &plan_;
  SystemDevices &devices_;
};

void expect_equal(const std::vector<timing::CommandTimes> &rtl, const std::vector<timing::CommandTimes> &model) {
  ASSERT_EQ(rtl.size(), model.size());
  for (std::size_t c = 0; c < rtl.size(); ++c) {
    EXPECT_EQ(rtl[c].issue, model[c].issue);
    EXPECT_EQ(rtl[c].start, model[c].start);
    EXPECT_EQ(rtl[c].done, model[c].done);
  }
}

/// Begin and end of every command of the plan, and when and by what it ended.
void expect_equal_spans(const SystemPlan &plan, const SystemOutcome &rtl, const SystemTimes &model) {
  EXPECT_EQ(rtl.end, model.end);
  for (CommandId id = 0; id < plan.commands().size(); ++id) {
    ASSERT_EQ(rtl.spans[id].begin, model.spans[id].begin) << describe(plan, id);
    ASSERT_EQ(rtl.spans[id].end, model.spans[id].end) << describe(plan, id);
  }
  ASSERT_EQ(rtl.ok(), !model.stop.has_value()) << (rtl.ok() ? "" : rtl.failure->text);
  if (model.stop) EXPECT_EQ(rtl.failure->id, model.stop->id) << rtl.failure->text;
}

/// The plan on the RTL and on the model: no difference in any command of the plan or of a stream.
void expect_equal(const SystemPlan &plan, SystemDevices &devices) {
  Sender host(plan, devices);
  const SystemOutcome rtl = devices.run(plan, host);
  const SystemTimes model = SystemTiming(plan.system()).run(plan);
  ASSERT_TRUE(rtl.ok()) << rtl.failure->text;
  EXPECT_EQ(host.ended.size(), plan.commands().size());
  expect_equal_spans(plan, rtl, model);
  for (CommandId id = 0; id < plan.commands().size(); ++id)
    if (model.runs[id]) expect_equal(rtl.times[id], model.runs[id]->commands);
}

/// Looks at no data: whoever does not get it says so.
struct Nobody : SystemHost {
  void begin(CommandId) override {}
  std::optional<std::string> end(CommandId) override { return {}; }
};

/// The plan on a new system, and on the model: it ends at the same time, whatever ended it. What that was.
isa::ErrorCode expect_equal_end(const SystemPlan &plan, const SystemFaults &faults) {
  SystemOptions options;
  options.faults = faults;
  Nobody host;
  const SystemOutcome rtl = make_rtl_system(plan.system(), options)->run(plan, host);
  const SystemTimes model = SystemTiming(plan.system()).run(plan, faults);
  expect_equal_spans(plan, rtl, model);
  return model.stop ? model.stop->error : isa::ErrorCode::NONE;
}

/// The plan of a seed, and how it ended.
SystemOutcome outcome_of(const SystemPlan &plan, const SystemOptions &options, std::set<CommandId> *ended = nullptr) {
  const auto devices = make_rtl_system(plan.system(), options);
  Sender host(plan, *devices);
  SystemOutcome outcome = devices->run(plan, host);
  if (ended != nullptr) *ended = host.ended;
  return outcome;
}

void expect_failure(const SystemOutcome &outcome, const std::vector<std::string> &parts) {
  ASSERT_TRUE(outcome.failure.has_value());
  for (const std::string &part : parts)
    EXPECT_NE(outcome.failure->text.find(part), std::string::npos) << outcome.failure->text;
}

SystemCommand transfer(Kind kind, std::uint32_t device, std::uint64_t bytes, const std::string &label) {
  SystemCommand command;
  command.kind = kind;
  command.label = label;
  command.device = device;
  command.to = 2;
  command.from = kind == Kind::kFlash ? 0 : kData;
  command.target = kData + kRoom;
  command.bytes = bytes;
  return command;
}

SystemCommand stream(std::uint32_t device, const std::string &label) {
  SystemCommand command;
  command.label = label;
  command.device = device;
  command.stream = streams_of(device)[0].commands;
  command.stream_addr = 1U << 23U;
  return command;
}

/// A plan in which a command of each kind is followed by others.
SystemPlan small_plan() {
  SystemPlan plan(test_system());
  plan.add(transfer(Kind::kFlash, 0, 20000, "images"));
  plan.add(stream(0, "conv1"));
  plan.add(transfer(Kind::kMove, 1, 3000, "map"));
  plan.add(stream(2, "conv2"));
  plan.add(stream(1, "conv1"));
  return plan;
}

TEST(Systems, RandomStallsOfLinksAndBusesChangeNoByte) {
  const SystemPlan plan = random_plan(3, 24);
  SystemOptions options;
  options.devices.assign(3, {});
  for (DeviceOptions &device : options.devices)
    device.stress = {7, 0.2};
  options.faults.stall_seed = 7;
  options.faults.longest_stall_ps = 400'000;
  std::set<CommandId> ended; // whose data the host has looked at
  const SystemOutcome outcome = outcome_of(plan, options, &ended);
  EXPECT_TRUE(outcome.ok()) << outcome.failure->text;
  EXPECT_EQ(ended.size(), plan.commands().size());
  EXPECT_GT(outcome.end, SystemTiming(test_system()).run(plan).end);
}

TEST(Systems, AWrongCrcEndsThePlanAndIsNamed) {
  SystemOptions options;
  options.faults.packets = {{1, 5}};
  expect_failure(outcome_of(small_plan(), options),
                 {"device 'ssd1' to 'npu', move 2 (map): ", "bytes 1280 to 1535", "wrong CRC"});
}

TEST(Systems, AnUnreadableBlockEndsThePlanAndIsNamed) {
  SystemOptions options;
  options.faults.blocks = {{0, 3}};
  expect_failure(outcome_of(small_plan(), options),
                 {"device 'ssd0', flash 0 (images): ", "block 3 of its flash is unreadable"});
}

TEST(Systems, ABlockThatCannotBeWrittenEndsThePlanAndIsNamed) {
  SystemPlan plan(test_system());
  SystemCommand program = transfer(Kind::kProgram, 1, 3 * kFlashBlock, "table.next");
  program.target = 0;
  program.blocks = {9, 4, 7};
  plan.add(program);
  SystemOptions options;
  options.faults.blocks = {{1, 4}};
  expect_failure(outcome_of(plan, options),
                 {"device 'ssd1', program 0 (table.next): ", "block 4 of its flash cannot be written"});
}

TEST(Systems, AnNpuThatStopsEndsThePlanAsOnTheModel) {
  SystemPlan plan(test_system());
  plan.add(stream(0, "conv1"));
  SystemCommand bad = stream(2, "conv2");
  auto commands = *bad.stream;
  commands[3].words.fill(~std::uint32_t{0});
  bad.stream = std::make_shared<const std::vector<isa::Command>>(commands);
  plan.add(bad);
  plan.add(stream(2, "conv3"));
  const SystemOutcome outcome = outcome_of(plan, {});
  expect_failure(outcome, {"device 'npu', run 1 (conv2): the NPU stopped with ", "at command 3 of "});
  const SystemTimes model = SystemTiming(test_system()).run(plan);
  ASSERT_TRUE(model.stop.has_value());
  EXPECT_EQ(model.stop->id, 1U);
  EXPECT_EQ(model.stop->error_index, 3U);
  expect_equal_spans(plan, outcome, model);
  EXPECT_EQ(outcome.spans[2], CommandSpan{}); // what waited for it never began
}

/// A plan with one of its streams changed: in one of its commands all bits are ones, or one bit is another.
SystemPlan with_bad_command(const SystemPlan &plan, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<CommandId> streams;
  for (CommandId id = 0; id < plan.commands().size(); ++id)
    if (plan.commands()[id].kind == Kind::kRun) streams.push_back(id);
  const CommandId bad = streams[random() % streams.size()];
  SystemPlan changed(plan.system());
  for (CommandId id = 0; id < plan.commands().size(); ++id) {
    SystemCommand command = plan.commands()[id];
    if (id == bad) {
      auto commands = *command.stream;
      isa::Command &one = commands[random() % commands.size()];
      if (random() % 4 == 0)
        one.words.fill(~std::uint32_t{0});
      else
        one.words[random() % one.words.size()] ^= std::uint32_t{1} << random() % 32;
      command.stream = std::make_shared<const std::vector<isa::Command>>(std::move(commands));
    }
    changed.add(std::move(command));
  }
  return changed;
}

TEST(Systems, APlanThatAnNpuStopsEndsWhenTheTimingModelSays) {
  std::map<isa::ErrorCode, unsigned> errors;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    ++errors[expect_equal_end(with_bad_command(random_plan(seed % 12, 12), seed), {})];
    if (HasFatalFailure()) return;
  }
  EXPECT_GE(errors.size(), 5U);
  EXPECT_LE(errors[isa::ErrorCode::NONE], 30U);
}

TEST(Systems, APlanThatALinkOrFlashStopsEndsWhenTheTimingModelSays) {
  unsigned stopped = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    SystemFaults faults;
    if (seed % 2 == 0)
      faults.packets = {{static_cast<std::uint32_t>(random() % 3), random() % 30}};
    else
      for (std::uint32_t device = 0; device < 2; ++device)
        for (int block = 0; block < 8; ++block)
          faults.blocks.push_back({device, random() % 100});
    const SystemPlan plan = random_plan(seed, 24);
    const SystemTimes all = SystemTiming(plan.system()).run(plan);
    expect_equal_end(plan, faults);
    if (HasFatalFailure()) return;
    stopped += SystemTiming(plan.system()).run(plan, faults).end < all.end ? 1 : 0;
  }
  EXPECT_GE(stopped, 15U);
}

TEST(Systems, AMemoryThatNeverAnswersEndsThePlan) {
  SystemOptions options;
  options.devices.assign(3, {});
  options.devices[1].faults = {{BusFault::Kind::kHang, false, 0, 1U << 23U}};
  options.devices[1].watchdog_cycles = 5000;
  expect_failure(outcome_of(small_plan(), options), {"device 'ssd1', run 4 (conv1): the NPU stopped with WATCHDOG"});
}

TEST(Systems, AProblemOfTheHostEndsThePlan) {
  struct Grumbler : SystemHost {
    void begin(CommandId) override {}
    std::optional<std::string> end(CommandId id) override {
      if (id == 2) return "element 4 differs";
      return {};
    }
  } host;
  const SystemPlan plan = small_plan();
  const auto devices = make_rtl_system(test_system());
  expect_failure(devices->run(plan, host), {"move 2 (map): element 4 differs"});
  EXPECT_THROW(devices->run(plan, host), DeviceError);
}

TEST(Systems, DevicesOfASystemWorkAloneBetweenPlans) {
  const auto devices = make_rtl_system(test_system());
  expect_equal(small_plan(), *devices);
  devices->device(1).submit(*streams_of(1)[0].commands);
  EXPECT_TRUE(devices->device(1).wait().ok());
  expect_equal(small_plan(), *devices);
}

TEST(Systems, EveryCommandBeginsAndEndsWhenTheTimingModelSays) {
  const auto devices = make_rtl_system(test_system());
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    expect_equal(random_plan(seed, 24), *devices);
    if (HasFatalFailure()) return;
  }
}

} // namespace
} // namespace gradweave
