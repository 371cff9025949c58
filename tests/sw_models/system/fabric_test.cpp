// Links and flash by hand, and plans that cannot be.
#include "sw_models/system/system_timing.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace gradweave {
namespace {

using Kind = SystemCommand::Kind;

/// Three devices of 1 GHz whose memories take next to no time: 1024 bytes a cycle, no latency.
SystemConfig plain(bool ports = true) {
  SystemConfig system = load_system("configs/systems/test2.toml");
  for (DeviceConfig &device : system.devices) {
    device.machine.clock_ghz = 1;
    device.machine.memory.latency_cycles = device.machine.memory.turnaround_cycles = 0;
    device.machine.memory.bytes_num = 1024;
    device.machine.memory.bytes_den = 1;
    device.machine.memory.access_bytes = 8;
    device.machine.bus_bytes = 8;
  }
  system.notify_ps = 1000;
  for (LinkConfig &link : system.links) {
    link.bandwidth_gb_s = 4;
    link.latency_ps = 10000;
    link.packet_bytes = 256;
    link.overhead_bytes = 24;
    if (!ports) link.port.reset();
  }
  system.ports[0].bandwidth_gb_s = 2;
  return system;
}

SystemCommand move(std::uint32_t from, std::uint32_t to, std::uint64_t bytes) {
  SystemCommand command;
  command.kind = Kind::kMove;
  command.device = from;
  command.to = to;
  command.bytes = bytes;
  return command;
}

// 4 GB/s: 280 bytes take 70 ns. A move begins at 1 ns; its reads arrive in cycle 2 and are served in a quarter of a
// cycle each, so the first part leaves in cycle 3. Two links of 70 + 10 ns; the memory sees the part in the next cycle
// and responds in the one behind it.
TEST(Fabric, APacketTakesWhatItsLinksTake) {
  const SystemConfig system = plain(false);
  SystemPlan plan(system);
  plan.add(move(0, 2, 256));
  const SystemTimes times = SystemTiming(system).run(plan);
  EXPECT_EQ(times.spans[0].begin, 1000U);
  EXPECT_EQ(times.spans[0].end, 3000U + 2 * 80'000 + 1000 + 1000);
  EXPECT_EQ(times.link_busy_ps, (std::vector<std::uint64_t>{70'000, 0, 70'000}));
}

TEST(Fabric, PacketsOfAMoveFollowEachOther) {
  const SystemConfig system = plain(false);
  SystemPlan plan(system);
  plan.add(move(0, 2, 5 * 256));
  EXPECT_EQ(SystemTiming(system).run(plan).spans[0].end, 3000U + 4 * 70'000 + 2 * 80'000 + 2000);
}

TEST(Fabric, APacketOrBlockAtFaultEndsThePlanWhenItArrives) {
  const SystemConfig system = plain(false);
  SystemPlan plan(system);
  plan.add(move(0, 2, 5 * 256));
  SystemCommand behind = move(2, 1, 256);
  behind.waits = {0};
  plan.add(behind);
  const auto stopped = [&](const SystemFaults &faults) { return SystemTiming(system).run(plan, faults); };
  SystemFaults faults;
  faults.packets = {{0, 1}};
  SystemTimes times = stopped(faults);
  ASSERT_TRUE(times.stop.has_value());
  EXPECT_EQ(times.stop->id, 0U);
  EXPECT_EQ(times.end, 3000U + 70'000 + 2 * 80'000 + 2000) << "that of the second";
  EXPECT_EQ(times.spans[0], (CommandSpan{1000, 0}));
  EXPECT_EQ(times.spans[1], CommandSpan{}) << "which waits for it";
  faults.packets = {{0, 5}, {1, 0}};
  faults.blocks = {{0, 0}};
  times = stopped(faults);
  EXPECT_FALSE(times.stop.has_value()) << "nothing of the plan is at fault";
  EXPECT_EQ(times.end, SystemTiming(system).run(plan).end);
  SystemPlan images(system);
  SystemCommand read;
  read.kind = Kind::kFlash;
  read.bytes = 3 * kFlashBlock;
  images.add(read);
  faults.blocks = {{0, 1}};
  times = SystemTiming(system).run(images, faults);
  ASSERT_TRUE(times.stop.has_value());
  EXPECT_EQ(times.end, 1000U + 2'000'000 + 3'413'334) << "the first of its channel";
}

// 2 GB/s: 140 ns a packet at the port, which two devices share on their way to the third, and peers do not use.
TEST(Fabric, LinksShareTheirPort) {
  const SystemConfig system = plain();
  SystemPlan plan(system);
  plan.add(move(0, 2, 256));
  plan.add(move(1, 2, 256));
  const SystemTimes times = SystemTiming(system).run(plan);
  EXPECT_EQ(times.spans[0].end, 3000U + 80'000 + 140'000 + 80'000 + 2000);
  EXPECT_EQ(times.spans[1].end, times.spans[0].end + 140'000);
  SystemPlan peers(system);
  peers.add(move(0, 1, 256));
  EXPECT_EQ(SystemTiming(system).run(peers).spans[0].end, 3000U + 2 * 80'000 + 2000);
}

TEST(Fabric, DirectionsOfALinkAreIndependent) {
  const SystemConfig system = plain(false);
  SystemPlan plan(system);
  plan.add(move(0, 2, 25600));
  const std::uint64_t alone = SystemTiming(system).run(plan).spans[0].end;
  plan.add(move(2, 0, 25600));
  const SystemTimes both = SystemTiming(system).run(plan);
  EXPECT_LT(std::max(both.spans[0].end, both.spans[1].end), alone + 10'000); // the memories serve twice as much
}

// Blocks 0, 1, 2 on channels 0, 1, 0: 2,000 ns and 4096 bytes at 1.2 GB/s, 3,413.3 ns.
TEST(Fabric, BlocksGoOverTheirChannels) {
  const SystemConfig system = plain();
  SystemPlan plan(system);
  SystemCommand read;
  read.kind = Kind::kFlash;
  read.bytes = 3 * kFlashBlock;
  plan.add(read);
  const std::uint64_t block = 2'000'000 + 3'413'334;
  const SystemTimes times = SystemTiming(system).run(plan);
  EXPECT_EQ(times.flash_busy_ps[0], 3 * block);
  // Arrives at 1,000 + 2 blocks, is seen in the next cycle, and written in 4.
  EXPECT_EQ(times.spans[0].end, ((1000 + 2 * block) / 1000 + 1 + 4) * 1000);
}

// Blocks 4, 1, 6 on channels 0, 1, 0, which are held for 3,413.3 and 7,000 ns. A read of a block takes next to no time:
// its data are there in cycles 6, 10 and 14.
TEST(Fabric, BlocksAreWrittenOverTheirChannels) {
  const SystemConfig system = plain();
  SystemPlan plan(system);
  SystemCommand program;
  program.kind = Kind::kProgram;
  program.blocks = {4, 1, 6};
  program.bytes = 3 * kFlashBlock;
  plan.add(program);
  const std::uint64_t block = 7'000'000 + 3'413'334;
  const SystemTimes times = SystemTiming(system).run(plan);
  EXPECT_EQ(times.flash_busy_ps[0], 3 * block);
  EXPECT_EQ(times.spans[0].end, 6000 + 2 * block);
}

// 300 ns and 3,000 bytes at 1.5 GB/s. Its device does nothing else meanwhile.
TEST(Fabric, AProcessorTakesItsDevice) {
  const SystemConfig system = plain();
  SystemPlan plan(system);
  SystemCommand process;
  process.kind = Kind::kProcess;
  process.bytes = 3000;
  plan.add(process);
  plan.add(move(1, 0, 256));
  plan.add(process);
  const SystemTimes times = SystemTiming(system).run(plan);
  EXPECT_EQ(times.spans[0].end, 1000U + 2'300'000);
  EXPECT_EQ(times.spans[1].begin, times.spans[0].end + 1000);
  EXPECT_EQ(times.spans[2].begin, times.spans[1].end + 1000);
  EXPECT_EQ(system.processors[0].command_ps((5U << 20U) + 3), 300'000U + 5 * 699'050'667U + 2'000U);
}

TEST(SystemPlan, AStreamWaitsForTransfersOfItsDevice) {
  const SystemConfig system = plain();
  SystemCommand stream;
  stream.stream = std::make_shared<const std::vector<isa::Command>>(1);
  SystemPlan plan(system);
  plan.add(move(0, 2, 64)); // 0
  stream.device = 2;
  plan.add(stream);         // 1
  plan.add(move(1, 2, 64)); // 2
  plan.add(move(0, 1, 64)); // 3
  plan.add(stream);         // 4
  const auto waits = [&](CommandId id) { return plan.commands()[id].waits; };
  EXPECT_EQ(waits(1), (std::vector<CommandId>{0}));
  EXPECT_EQ(waits(2), (std::vector<CommandId>{1}));
  EXPECT_EQ(waits(3), (std::vector<CommandId>{}));
  EXPECT_EQ(waits(4), (std::vector<CommandId>{1, 2}));
}

TEST(SystemPlan, WhatCannotBeIsNamed) {
  const SystemConfig system = plain();
  SystemPlan plan(system);
  plan.add(move(0, 1, 64));
  const auto message = [&](const std::function<void(SystemCommand &)> &change) -> std::string {
    SystemCommand command = move(0, 1, 64);
    command.label = "map";
    change(command);
    try {
      plan.add(command);
    } catch (const std::invalid_argument &error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message([](SystemCommand &c) { c.to = 3; }), "command 1 (map): device 3: there are 3 devices, from 0");
  EXPECT_EQ(message([](SystemCommand &c) { c.to = 0; }), "command 1 (map): a move from device 'ssd0' to itself");
  EXPECT_EQ(message([](SystemCommand &c) { c.waits = {1}; }),
            "command 1 (map): it waits for command 1, which is not before it");
  EXPECT_EQ(message([](SystemCommand &c) { c.bytes = 0; }), "command 1 (map): a transfer of 0 bytes");
  EXPECT_NE(message([](SystemCommand &c) { c.target = 64; }).find("both must be multiples of 4096"), std::string::npos);
  EXPECT_NE(message([](SystemCommand &c) { c.target = 1U << 30U; }).find("not inside the memory of device 'ssd1'"),
            std::string::npos);
  EXPECT_NE(message([](SystemCommand &c) { c = {}; }).find("a stream of no commands"), std::string::npos);
  const auto flash = [](std::uint32_t device, std::uint64_t from) {
    return [=](SystemCommand &c) {
      c.kind = Kind::kFlash;
      c.device = device;
      c.from = from;
    };
  };
  EXPECT_NE(message(flash(2, 0)).find("device 'npu' has no flash"), std::string::npos);
  EXPECT_NE(message(flash(0, 1 << 20)).find("not inside the flash of device 'ssd0'"), std::string::npos);
  const auto program = [](std::uint32_t device, const std::vector<std::uint32_t> &blocks) {
    return [=](SystemCommand &c) {
      c.kind = Kind::kProgram;
      c.device = device;
      c.blocks = blocks;
      c.bytes = 2 * kFlashBlock;
    };
  };
  EXPECT_NE(message(program(2, {0, 1})).find("device 'npu' has no flash"), std::string::npos);
  EXPECT_NE(message(program(0, {0, 256})).find("block 256 from 0x0 on is not inside the flash of device 'ssd0'"),
            std::string::npos);
  EXPECT_EQ(message(program(0, {0})), "command 1 (map): 8192 bytes, and 1 blocks of 4096");
  EXPECT_NE(message([](SystemCommand &c) {
              c.kind = Kind::kProcess;
              c.device = 2;
            }).find("device 'npu' has no processor"),
            std::string::npos);
  EXPECT_EQ(plan.commands().size(), 1U);
  SystemConfig read_only = plain();
  read_only.flashes[0].program_ps = 0;
  SystemCommand command = move(0, 1, 64);
  program(0, {0, 1})(command);
  EXPECT_THROW(SystemPlan(read_only).add(command), std::invalid_argument);
}

/// Every byte of a plan is on its links once each way, and nothing takes less than its links alone.
TEST(Fabric, ConservesBytesAtRandom) {
  const SystemConfig system = load_system("configs/systems/test2.toml");
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    SystemPlan plan(system);
    std::vector<std::uint64_t> link_ps(3, 0);
    const auto commands = static_cast<CommandId>(1 + random() % 8);
    for (CommandId id = 0; id < commands; ++id) {
      const auto from = static_cast<std::uint32_t>(random() % 3);
      const auto to = static_cast<std::uint32_t>((from + 1 + random() % 2) % 3);
      SystemCommand command = move(from, to, 1 + random() % 20000);
      if (id > 0 && random() % 2 == 0) command.waits = {static_cast<CommandId>(random() % id)};
      const std::uint32_t part = std::min(system.link_of(from).packet_bytes, system.link_of(to).packet_bytes);
      for (std::uint64_t at = 0; at < command.bytes; at += part) {
        const std::uint64_t bytes =
            std::min<std::uint64_t>(part, command.bytes - at) + system.link_of(from).overhead_bytes;
        for (const std::uint32_t end : {from, to})
          link_ps[end] += LinkConfig::packet_ps(bytes, system.link_of(end).bandwidth_gb_s);
      }
      plan.add(std::move(command));
    }
    const SystemTimes times = SystemTiming(system).run(plan);
    EXPECT_EQ(times.link_busy_ps, link_ps);
    for (CommandId id = 0; id < commands; ++id) {
      const SystemCommand &command = plan.commands()[id];
      for (const CommandId wait : command.waits)
        EXPECT_GE(times.spans[id].begin, times.spans[wait].end + system.notify_ps);
      EXPECT_GE(times.spans[id].end - times.spans[id].begin,
                LinkConfig::packet_ps(command.bytes, system.link_of(command.device).bandwidth_gb_s));
      EXPECT_LE(times.spans[id].end, times.end);
    }
  }
}

} // namespace
} // namespace gradweave
