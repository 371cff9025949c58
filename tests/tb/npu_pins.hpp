// The pins of an NPU driven cycle by cycle: registers, and a memory that answers any address.
#pragma once

#include "isa/command.hpp"
#include "tb/npu_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <vector>

namespace gradweave::tb {

/// Beats are those of test8: 16 bytes. Addresses are taken at once and answered in order, a beat a cycle; reads outside
/// the program return zeros, writes go nowhere. Bursts are kept for the test to look at.
class NpuPins {
public:
  static constexpr std::uint32_t kStart = 1, kSoftReset = 2, kClearIrq = 4; ///< CTRL
  static constexpr std::uint32_t kBusy = 1, kDone = 2, kError = 4;          ///< STATUS
  static constexpr std::uint32_t kBeatBytes = 16;

  NpuPins() { reset(); }

  /// Puts a stream where the NPU will fetch it from, and tells it.
  void program(std::uint64_t addr, const std::vector<isa::Command> &stream) {
    stream_ = stream;
    stream_addr_ = addr;
    write64(isa::Csr::CMD_ADDR_LO, addr);
    write(isa::Csr::CMD_COUNT, static_cast<std::uint32_t>(stream.size()));
  }

  void cycle(bool reset_n = true) {
    if (reset_n) serve();
    NpuOutputs out{csr_out_, memory_out_, events_};
    model_->cycle({reset_n, csr_in_, memory_in_}, out);
  }

  /// The pin, for three cycles; all of the memory is allowed and the stream has no command.
  void reset() {
    reads_.clear();
    answers_ = 0;
    csr_in_ = {};
    memory_in_ = {};
    for (int i = 0; i < 3; ++i)
      cycle(false);
    cycle();
    write64(isa::Csr::DRAM_SIZE_LO, ~std::uint64_t{0});
  }

  /// False if the answer is SLVERR. The address comes `lead` cycles before the data, or behind it if negative.
  bool write(isa::Csr csr, std::uint32_t value, int lead = 0, std::uint8_t strobe = 0xf) {
    csr_in_.awaddr = static_cast<std::uint16_t>(csr);
    csr_in_.wdata = value;
    csr_in_.wstrb = strobe;
    csr_in_.bready = true;
    bool address = false, data = false;
    for (int at = 0; !(address && data && csr_out_.bvalid); ++at) {
      csr_in_.awvalid = !address && at >= -lead;
      csr_in_.wvalid = !data && at >= lead;
      const bool takes_address = csr_in_.awvalid && csr_out_.awready, takes_data = csr_in_.wvalid && csr_out_.wready;
      cycle();
      address = address || takes_address;
      data = data || takes_data;
    }
    csr_in_.awvalid = csr_in_.wvalid = false;
    const bool ok = csr_out_.bresp == AxiResp::kOkay;
    cycle();
    csr_in_.bready = false;
    return ok;
  }
  void write64(isa::Csr low, std::uint64_t value) {
    write(low, static_cast<std::uint32_t>(value));
    write(static_cast<isa::Csr>(static_cast<std::uint16_t>(low) + 4), static_cast<std::uint32_t>(value >> 32U));
  }

  struct Read {
    std::uint32_t value = 0;
    bool ok = false;
  };
  Read read_register(std::uint16_t address) {
    csr_in_.arvalid = csr_in_.rready = true;
    csr_in_.araddr = address;
    while (!csr_out_.rvalid) {
      const bool taken = csr_in_.arvalid && csr_out_.arready;
      cycle();
      if (taken) csr_in_.arvalid = false;
    }
    const Read read{csr_out_.rdata, csr_out_.rresp == AxiResp::kOkay};
    csr_in_.arvalid = false;
    cycle();
    csr_in_.rready = false;
    return read;
  }
  std::uint32_t read(isa::Csr csr) { return read_register(static_cast<std::uint16_t>(csr)).value; }

  /// Cycles until the NPU is not busy; its status.
  std::uint32_t finish() {
    for (int i = 0; i < 4000; ++i)
      if (const std::uint32_t status = read(isa::Csr::STATUS); !(status & kBusy)) return status;
    ADD_FAILURE() << "the NPU stays busy";
    return 0;
  }

  /// Bursts since the last call.
  std::vector<AxiAddress> take_reads() { return std::exchange(seen_reads_, {}); }
  std::vector<AxiAddress> take_writes() { return std::exchange(seen_writes_, {}); }

private:
  void serve() {
    // What the NPU offers since the last edge is taken at this one.
    AxiSlavePins &in = memory_in_[0];
    const AxiMasterPins &out = memory_out_[0];
    in.arready = in.awready = in.wready = true;
    in.r.valid = !reads_.empty();
    if (!reads_.empty()) deliver(in.r);
    in.b.valid = answers_ > 0;
    if (answers_ > 0) --answers_;
    if (out.ar.valid) {
      seen_reads_.push_back(out.ar);
      reads_.push_back(out.ar);
    }
    if (out.aw.valid) seen_writes_.push_back(out.aw);
    if (out.w.valid && out.w.last) ++answers_;
  }

  void deliver(AxiReadData &r) {
    AxiAddress &burst = reads_.front();
    r.id = burst.id;
    r.data.fill(0);
    const std::uint64_t offset = burst.addr - stream_addr_;
    if (offset < stream_.size() * isa::kCommandBytes)
      std::memcpy(r.data.data(), reinterpret_cast<const char *>(stream_.data()) + offset, kBeatBytes);
    r.last = burst.len == 0;
    burst.addr += kBeatBytes;
    if (burst.len-- == 0) reads_.pop_front();
  }

  std::unique_ptr<NpuModel> model_ = make_npu_model();
  std::vector<isa::Command> stream_;
  std::uint64_t stream_addr_ = 0;
  std::deque<AxiAddress> reads_; ///< still to be answered; address and length of what is left
  unsigned answers_ = 0;         ///< writes to be answered
  std::vector<AxiAddress> seen_reads_, seen_writes_;
  AxiLiteMasterPins csr_in_;
  AxiLiteSlavePins csr_out_;
  AxiSlavePorts memory_in_;
  AxiMasterPorts memory_out_;
  NpuEvents events_;
};

} // namespace gradweave::tb
