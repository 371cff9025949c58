// A command processor with everything around it modelled: host on AXI4-Lite, command memory, engines that take time.
#pragma once

#include GW_MODEL_HEADER

#include "isa/command.hpp"
#include "read_memory.hpp"
#include "tests/rtl/make_model.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <vector>

namespace gradweave::test {

class ProcessorBench {
public:
  static constexpr std::size_t kEngines = 3;
  static constexpr std::uint32_t kBus = 16;
  static constexpr std::uint64_t kDramBase = 0x8000'0000, kDramSize = 0x1000'0000;
  static constexpr std::uint64_t kStream = kDramBase + 0x1000;
  static constexpr std::uint32_t kOkay = 0, kSlvErr = 2;

  struct Answer {
    std::uint32_t data = 0, resp = 0;
  };
  struct Started {
    std::size_t engine = 0;
    std::uint32_t index = 0;
    std::uint64_t cycle = 0;
  };

  explicit ProcessorBench(std::uint64_t seed, double stall = 0)
      : memory(kBus, seed, stall), random_(seed + 1), stall_(stall) {
    model_->quiet_i = 7;
    model_->load_counters_i = 8;
    model_->store_counters_i = 8;
    model_->compute_counters_i = 32;
    model_->s_axil_awvalid_i = model_->s_axil_wvalid_i = model_->s_axil_bready_i = 0;
    model_->s_axil_arvalid_i = model_->s_axil_rready_i = 0;
    cycle();
    model_->rst_ni = 1;
    cycle();
  }

  // --- Host ----------------------------------------------------------------------------------------
  std::uint32_t write(std::uint32_t addr, std::uint32_t data, std::uint32_t strb = 15) {
    bool address_due = true, data_due = true;
    for (;;) {
      model_->s_axil_awvalid_i = address_due && moves();
      model_->s_axil_awaddr_i = addr;
      model_->s_axil_wvalid_i = data_due && moves();
      model_->s_axil_wdata_i = data;
      model_->s_axil_wstrb_i = strb;
      model_->s_axil_bready_i = moves();
      cycle();
      address_due = address_due && !(model_->s_axil_awvalid_i && aw_ready_);
      data_due = data_due && !(model_->s_axil_wvalid_i && w_ready_);
      if (model_->s_axil_bready_i && b_valid_) break;
    }
    model_->s_axil_awvalid_i = model_->s_axil_wvalid_i = model_->s_axil_bready_i = 0;
    return b_resp_;
  }
  std::uint32_t write(isa::Csr reg, std::uint32_t data) { return write(static_cast<std::uint32_t>(reg), data); }

  Answer read(std::uint32_t addr) {
    bool due = true;
    for (;;) {
      model_->s_axil_arvalid_i = due && moves();
      model_->s_axil_araddr_i = addr;
      model_->s_axil_rready_i = moves();
      cycle();
      due = due && !(model_->s_axil_arvalid_i && ar_ready_);
      if (model_->s_axil_rready_i && r_valid_) break;
    }
    model_->s_axil_arvalid_i = model_->s_axil_rready_i = 0;
    return r_;
  }
  std::uint32_t read(isa::Csr reg) { return read(static_cast<std::uint32_t>(reg)).data; }
  std::uint64_t counter(isa::Counter c) {
    const std::uint32_t addr = isa::kCounterBase + 8 * static_cast<std::uint32_t>(c);
    return read(addr).data | std::uint64_t{read(addr + 4).data} << 32U;
  }

  /// Puts a stream into memory and sets all registers for it.
  void prepare(const std::vector<isa::Command> &stream, std::uint32_t watchdog = 65536) {
    for (std::size_t i = 0; i < stream.size(); ++i)
      for (std::size_t w = 0; w < isa::kCommandWords; ++w)
        memory.write32(kStream + 64 * i + 4 * w, stream[i].words[w]);
    write(isa::Csr::CMD_ADDR_LO, kStream & 0xFFFFFFFF);
    write(isa::Csr::CMD_ADDR_HI, kStream >> 32U);
    write(isa::Csr::CMD_COUNT, static_cast<std::uint32_t>(stream.size()));
    write(isa::Csr::DRAM_BASE_LO, kDramBase & 0xFFFFFFFF);
    write(isa::Csr::DRAM_BASE_HI, kDramBase >> 32U);
    write(isa::Csr::DRAM_SIZE_LO, kDramSize & 0xFFFFFFFF);
    write(isa::Csr::DRAM_SIZE_HI, kDramSize >> 32U);
    write(isa::Csr::WATCHDOG, watchdog);
    for (auto &flying : in_flight_)
      flying.clear();
    started.clear();
    run_cycles = 0;
  }
  std::uint32_t start() { return write(isa::Csr::CTRL, 1); }
  std::uint32_t soft_reset() { return write(isa::Csr::CTRL, 2); }
  /// Runs until the interrupt; false if it does not come.
  bool wait(std::uint64_t cycles = 1000000) {
    for (std::uint64_t i = 0; i < cycles && !irq; ++i)
      cycle();
    return irq;
  }

  // --- One cycle of everything ---------------------------------------------------------------------
  void cycle() {
    ++now_;
    drive_engines();
    memory.drive(*model_);
    if (bus_hangs) model_->r_valid_i = 0;
    edge(0);
    aw_ready_ = model_->s_axil_awready_o;
    w_ready_ = model_->s_axil_wready_o;
    b_valid_ = model_->s_axil_bvalid_o;
    b_resp_ = model_->s_axil_bresp_o;
    ar_ready_ = model_->s_axil_arready_o;
    r_valid_ = model_->s_axil_rvalid_o;
    r_ = {model_->s_axil_rdata_o, model_->s_axil_rresp_o};
    irq = model_->irq_o;
    run_cycles += model_->run_o;
    take_from_processor();
    if (model_->rst_ni) memory.take(*model_);
    edge(1);
  }

  ReadMemory memory;
  bool bus_hangs = false;
  std::array<bool, kEngines> engine_hangs{}; ///< commands start but never complete
  std::vector<Started> started;
  bool irq = false;
  std::uint64_t run_cycles = 0;
  std::uint64_t queued_after_stop = 0; ///< commands that reached an empty queue in a cycle without run
  /// Errors that the engines report in the next cycle of a run.
  std::optional<std::uint32_t> load_error, store_error;
  bool quiet = true; ///< what the engines say about the bus

private:
  struct Flying {
    std::uint32_t index;
    std::uint32_t posts;
    std::uint64_t left;
  };

  bool moves() { return std::uniform_real_distribution<double>(0, 1)(random_) >= stall_; }
  void edge(bool clk) {
    model_->clk_i = clk;
    model_->eval();
  }

  void drive_engines() {
    model_->done_valid_i = 0;
    model_->start_ready_i = 0;
    model_->busy_i = 0;
    model_->oldest_valid_i = 0;
    model_->quiet_i = quiet ? 7 : 0;
    model_->done_posts_i[0] = model_->done_posts_i[1] = model_->done_posts_i[2] = 0;
    const bool running = model_->run_o;
    model_->load_err_valid_i = running && load_error;
    model_->load_err_index_i = load_error.value_or(0);
    model_->load_err_code_i = static_cast<std::uint8_t>(isa::ErrorCode::READ_SLVERR);
    model_->store_err_valid_i = running && store_error;
    model_->store_err_index_i = store_error.value_or(0);
    model_->store_err_code_i = static_cast<std::uint8_t>(isa::ErrorCode::WRITE_DECERR);
    for (std::size_t e = 0; e < kEngines; ++e) {
      auto &flying = in_flight_[e];
      if (running && flying.size() < 2 && moves()) model_->start_ready_i |= 1U << e;
      if (flying.empty()) continue;
      Flying &oldest = flying.front();
      model_->busy_i |= 1U << e;
      model_->oldest_valid_i |= 1U << e;
      model_->oldest_index_i[e] = oldest.index;
      model_->done_index_i[e] = oldest.index;
      for (std::size_t bit = 0; bit < 24; ++bit) {
        const std::size_t at = 24 * e + bit;
        model_->done_posts_i[at / 32] |= ((oldest.posts >> bit) & 1U) << (at % 32);
      }
      if (running && !engine_hangs[e] && oldest.left == 0)
        model_->done_valid_i |= 1U << e;
      else if (oldest.left > 0)
        --oldest.left;
    }
  }

  void take_from_processor() {
    if (model_->clear_o)
      for (auto &flying : in_flight_)
        flying.clear();
    const std::uint32_t heads = model_->head_valid_o;
    if (!ran_) queued_after_stop += (heads & ~heads_) != 0;
    heads_ = heads;
    ran_ = model_->run_o;
    for (std::size_t e = 0; e < kEngines; ++e) {
      if (((model_->done_valid_i >> e) & 1U) != 0 && model_->run_o) in_flight_[e].pop_front();
      if (((model_->start_o >> e) & 1U) == 0) continue;
      const std::uint32_t index = model_->head_index_o[e];
      const std::uint32_t posts = model_->head_cmd_o[16 * e + 1] & 0xFFFFFFU;
      in_flight_[e].push_back({index, posts, moves() ? 0 : random_() % 20});
      started.push_back({e, index, now_});
    }
  }

  std::unique_ptr<GW_MODEL> model_ = make_model<GW_MODEL>();
  std::mt19937_64 random_;
  double stall_;
  std::uint64_t now_ = 0;
  std::uint32_t heads_ = 0;
  bool ran_ = false; ///< in the cycle before
  std::array<std::deque<Flying>, kEngines> in_flight_;
  bool aw_ready_ = false, w_ready_ = false, b_valid_ = false, ar_ready_ = false, r_valid_ = false;
  std::uint32_t b_resp_ = 0;
  Answer r_;
};

} // namespace gradweave::test
