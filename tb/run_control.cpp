#include "tb/run_control.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace gradweave::tb {

namespace {

constexpr std::uint32_t kCtrlStart = 1, kCtrlClearIrq = 4;

/// The RTL is stuck if so many cycles pass without a bus handshake or a command's end and its watchdog does not act.
/// The longest legal silence is one GEMM whose operands fill the scratchpad.
constexpr std::uint64_t kStuckCycles = 1U << 24U;

RegisterAccess write_of(isa::Csr csr, std::uint32_t value, std::uint16_t above = 0) {
  return {RegisterAccess::Kind::kWrite, static_cast<std::uint16_t>(static_cast<std::uint16_t>(csr) + above), value};
}
RegisterAccess read_of(isa::Csr csr) { return {RegisterAccess::Kind::kRead, static_cast<std::uint16_t>(csr), 0}; }

} // namespace

std::vector<RegisterAccess> RunControl::stream_registers(std::uint64_t addr, std::uint32_t commands) {
  return {write_of(isa::Csr::CMD_ADDR_LO, static_cast<std::uint32_t>(addr)),
          write_of(isa::Csr::CMD_ADDR_LO, static_cast<std::uint32_t>(addr >> 32U), 4),
          write_of(isa::Csr::CMD_COUNT, commands)};
}

void RunControl::start(const std::vector<RegisterAccess> &registers, std::size_t commands, Ending ending, Done done) {
  if (running()) throw std::logic_error("a stream is started while another runs");
  state_ = State::kLaunch;
  ending_ = ending;
  status_ = {};
  done_ = std::move(done);
  npu_.clear_log(commands);
  launch_ = registers;
  launch_.push_back({RegisterAccess::Kind::kWait, 0, static_cast<std::uint32_t>(pause_) + 1});
  launch_.push_back(write_of(isa::Csr::CTRL, kCtrlStart));
  at_ = 0;
  last_activity_ = 0;
  last_active_cycle_ = clock_.cycle();
  next();
}

void RunControl::next() {
  if (at_ < launch_.size()) {
    csr_.begin(launch_[at_++], [this](std::uint32_t) { next(); });
    return;
  }
  state_ = State::kRun;
  if (ending_ == Ending::kHost) return;
  if (npu_.irq()) // it stopped at once
    finish();
  else
    npu_.on_irq([this] { finish(); });
}

void RunControl::finish() {
  state_ = State::kFinish;
  csr_.when_idle([this] { csr_.begin(read_of(isa::Csr::ERR_CODE), [this](std::uint32_t code) { know(code); }); });
}

void RunControl::know(std::uint32_t code) {
  status_.error = static_cast<isa::ErrorCode>(code);
  if (status_.ok()) {
    end();
    return;
  }
  csr_.begin(read_of(isa::Csr::ERR_INDEX), [this](std::uint32_t index) {
    status_.error_index = index;
    if (status_.error != isa::ErrorCode::VECTOR_FAULT) {
      end();
      return;
    }
    csr_.begin(read_of(isa::Csr::ERR_WORD), [this](std::uint32_t word) {
      status_.error_word = word;
      end();
    });
  });
}

void RunControl::end() {
  csr_.begin(write_of(isa::Csr::CTRL, kCtrlClearIrq), [this](std::uint32_t) {
    state_ = State::kIdle;
    std::exchange(done_, {})(status_);
  });
}

void RunControl::abandon() {
  state_ = State::kIdle;
  npu_.on_irq({});
}

void RunControl::check_alive(std::uint64_t watchdog) {
  const std::uint64_t activity = bus_.handshakes() + npu_.retired(), cycle = clock_.cycle();
  if (std::exchange(last_activity_, activity) != activity) last_active_cycle_ = cycle;
  if (running() && cycle - last_active_cycle_ > kStuckCycles + 2 * watchdog)
    throw std::runtime_error(
        fmt::format("cycle {}: the NPU raised no interrupt and no bus handshake or command's end was seen since cycle "
                    "{}; {} of {} commands are complete",
                    cycle, last_active_cycle_, npu_.retired(), npu_.log().size()));
}

} // namespace gradweave::tb
