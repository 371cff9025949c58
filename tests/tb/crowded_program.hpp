// Programs of test8 that crowd all engines: each has a long command in flight and behind it a full queue.
#pragma once

#include "isa/command.hpp"
#include "sw_models/config/machine.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::tb {

/// The engines overwrite what others read; only times and errors mean something. DRAM addresses below kEnd are used.
struct CrowdedProgram {
  static constexpr std::uint64_t kLoadAddr = 0x20000, kStoreAddr = 0x40000, kEnd = 0x60000;
  static constexpr std::uint32_t kPitch = 256; ///< bytes; each row of the tiles is a burst
  static constexpr std::uint8_t kNeverPosted = 9;

  static constexpr std::uint32_t kLoad = 1, kStore = 2, kFirstSync = 3; ///< indices

  /// Rows of the long transfers; the one that is to end first gets fewer.
  std::uint32_t load_rows = 240, store_rows = 240;
  std::uint64_t load_addr = kLoadAddr, store_addr = kStoreAddr;
  std::uint8_t load_post = isa::kNoSemaphore; ///< posted when the LOAD completes

  static isa::Decoded sync(std::uint8_t engine, std::uint8_t semaphore) {
    isa::Decoded d{isa::SyncCommand{engine}, {}, 0};
    d.sync.waits[0] = {semaphore, 1};
    return d;
  }

  static isa::DmaCommand transfer(bool store, std::uint64_t addr, std::uint32_t rows, std::uint32_t spm_row) {
    isa::DmaCommand d;
    d.store = store;
    d.dram_addr = addr;
    d.pitch = kPitch;
    d.rows = rows;
    d.cols = 16;
    d.spm = {spm_row, rows, 0};
    return d;
  }

  /// 16 blocks of 128 steps: longer than the transfers.
  static isa::GemmCommand product() {
    isa::GemmCommand g;
    g.m = g.n = 32;
    g.k = 128;
    g.a = g.b = {0, 128, 0};
    g.out_bf16 = true;
    g.cout = {320, 32, 0};
    return g;
  }

  /// Long commands on each engine (kLoad and kStore are the transfers), and `config.queue_depth` SYNCs behind each that
  /// never start.
  std::vector<isa::Decoded> commands(const Machine &config) const {
    std::vector<isa::Decoded> list;
    list.push_back({product(), {}, 0});
    list.push_back({transfer(false, load_addr, load_rows, 0), {}, 0});
    list.back().sync.posts[0] = load_post;
    list.push_back({transfer(true, store_addr, store_rows, 0), {}, 0});
    for (std::uint32_t i = 0; i < config.queue_depth; ++i)
      for (std::uint8_t engine : {0, 1, 2})
        list.push_back(sync(engine, kNeverPosted));
    return list;
  }
};

} // namespace gradweave::tb
