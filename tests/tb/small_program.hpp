// A program of four commands that uses every engine, and the check that a device executes it right.
#pragma once

#include "isa/command.hpp"
#include "sw_models/functional/functional.hpp"
#include "tb/rtl_device.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace gradweave::tb {

/// C(12 x 20) = A(12 x 16) B(16 x 20), A stored k x m. Fits the scratchpad of configs/test8.toml.
struct SmallProgram {
  static constexpr std::uint32_t kM = 12, kN = 20, kK = 16;
  static constexpr std::uint64_t kA = 0x1000, kB = 0x2000, kC = 0x3000; ///< DRAM addresses
  static constexpr std::uint64_t kEnd = 0x4000;
  static constexpr std::uint8_t kSemA = 0, kSemB = 1, kSemC = 2;
  enum Index : std::uint32_t { kLoadA, kLoadB, kGemm, kStore, kCommands };

  static isa::Decoded load(std::uint64_t addr, std::uint32_t rows, std::uint32_t cols, isa::SpmTile spm,
                           std::uint8_t post) {
    isa::DmaCommand d;
    d.dram_addr = addr;
    d.pitch = cols * 2;
    d.rows = rows;
    d.cols = cols;
    d.spm = spm;
    isa::Decoded command{d, {}, 0};
    command.sync.posts[0] = post;
    return command;
  }

  static isa::Decoded store(std::uint64_t addr, std::uint8_t wait) {
    isa::DmaCommand d;
    d.store = d.fp32 = true;
    d.dram_addr = addr;
    d.pitch = kN * 4;
    d.rows = kM;
    d.cols = kN;
    d.spm = {128, 2 * kM, 0};
    isa::Decoded command{d, {}, 0};
    command.sync.waits[0] = {wait, 1};
    return command;
  }

  static isa::Decoded gemm() {
    isa::GemmCommand g;
    g.m = kM;
    g.n = kN;
    g.k = kK;
    g.a = {0, kK, 0};
    g.b = {64, kK, 3};
    g.cout = {128, 2 * kM, 0};
    isa::Decoded command{g, {}, 0};
    command.sync.waits[0] = {kSemA, 1};
    command.sync.waits[1] = {kSemB, 1};
    command.sync.posts[0] = kSemC;
    return command;
  }

  static isa::Decoded sync(std::uint8_t engine) { return {isa::SyncCommand{engine}, {}, 0}; }

  static std::vector<isa::Decoded> commands() {
    return {load(kA, kK, kM, {0, kK, 0}, kSemA), load(kB, kK, kN, {64, kK, 3}, kSemB), gemm(), store(kC, kSemC)};
  }

  static std::vector<isa::Command> encode(const std::vector<isa::Decoded> &commands) {
    std::vector<isa::Command> stream;
    stream.reserve(commands.size());
    for (const isa::Decoded &d : commands)
      stream.push_back(isa::encode(d));
    return stream;
  }

  /// Runs the program on fresh data and compares all memory below kEnd with the functional model's.
  static void expect_works(Device &device, std::uint64_t seed) {
    std::vector<std::uint8_t> image(kEnd), got(kEnd);
    std::mt19937_64 random(seed);
    for (std::uint8_t &byte : image)
      byte = static_cast<std::uint8_t>(random());
    device.copy_in(0, image.data(), image.size());
    const std::vector<isa::Command> stream = encode(commands());
    device.submit(stream);
    const RunStatus status = device.wait();
    ASSERT_TRUE(status.ok()) << isa::kErrorNames[static_cast<std::size_t>(status.error)] << " at command "
                             << status.error_index;
    device.read_counters();

    DeviceMemory memory(device.config().memory.size_bytes);
    memory.write(0, image.data(), image.size());
    memory.write(kEnd, stream.data(), stream.size() * isa::kCommandBytes);
    FunctionalNpu model(device.config(), memory);
    model.start(kEnd, kCommands);
    ASSERT_TRUE(model.run().done);
    memory.read(0, image.data(), image.size());
    device.copy_out(0, got.data(), got.size());
    for (std::uint64_t addr = 0; addr < kEnd; ++addr)
      ASSERT_EQ(got[addr], image[addr]) << "at address 0x" << std::hex << addr;
  }
};

} // namespace gradweave::tb
