// Any bits as commands: written as text, checked, executed by the functional model and timed by the timing model of a
// small NPU. Both models must stop with the same error at the same command, and count the same bytes and blocks.
#include "isa/assembler.hpp"
#include "sw_models/functional/functional.hpp"
#include "sw_models/timing/timing_model.hpp"
#include "tests/fuzz/fuzz_target.hpp"

#include <algorithm>
#include <cstring>

namespace {

namespace isa = gradweave::isa;
namespace timing = gradweave::timing;
using gradweave::fuzz::require;
using isa::ErrorCode;

constexpr std::uint64_t kWindow = 4096; ///< bytes that commands may touch; the stream lies behind them
constexpr std::size_t kMaxCommands = 64;

/// Small enough that a stream takes little time, whatever it says.
gradweave::Machine small_npu() {
  gradweave::Machine npu;
  npu.name = "fuzz";
  npu.rows = 3;
  npu.cols = 5;
  npu.cores = 2;
  npu.spm_bytes = std::uint64_t{64} * 2 * 5;
  npu.spm_banks = 2;
  npu.bus_bytes = 8;
  npu.clock_ghz = 1;
  npu.queue_depth = 4;
  npu.semaphores = 16;
  npu.outstanding = 4;
  npu.memory.size_bytes = 2 * kWindow;
  npu.memory.bandwidth_gb_s = 5;
  npu.memory.bytes_num = 5;
  npu.memory.bytes_den = 1;
  npu.memory.latency_cycles = 7;
  npu.memory.turnaround_cycles = 3;
  npu.memory.batch_bytes = 64;
  npu.memory.access_bytes = 8;
  return npu;
}

isa::Limits limits_of(const gradweave::Machine &npu) {
  isa::Limits limits;
  limits.lanes = npu.lanes();
  limits.spm_rows = npu.spm_rows();
  limits.cores = npu.cores;
  limits.semaphores = npu.semaphores;
  limits.dram_size = kWindow;
  return limits;
}

std::vector<isa::Command> commands_of(const std::uint8_t *data, std::size_t size) {
  std::vector<isa::Command> stream(std::min(size / isa::kCommandBytes, kMaxCommands));
  if (!stream.empty()) std::memcpy(stream.data(), data, stream.size() * sizeof(isa::Command));
  return stream;
}

void check_forms(const isa::Command &command, const isa::Limits &limits) {
  const std::vector<isa::Command> again = isa::assemble(isa::disassemble(command), "text");
  require(again.size() == 1 && again[0] == command, "assembling a disassembly gives another command");
  const auto decoded = isa::decode(command);
  if (isa::check_command(command, limits) != ErrorCode::NONE) return;
  require(decoded && isa::encode(*decoded) == command, "a legal command has bits that its typed form loses");
}

/// Errors that depend on when commands run, which the functional model does not know.
bool depends_on_time(ErrorCode error) { return error == ErrorCode::WATCHDOG || error == ErrorCode::SEM_OVERFLOW; }

void compare(const gradweave::FunctionalNpu &npu, const timing::RunResult &timed, std::uint32_t cores) {
  const auto &status = npu.status();
  if (depends_on_time(status.error) || depends_on_time(timed.error)) return;
  require(status.error == timed.error, "functional and timing model stop with different errors");
  if (status.error != ErrorCode::NONE) {
    require(status.error_index == timed.error_index, "functional and timing model stop at different commands");
    return;
  }
  using isa::Counter;
  for (const Counter c : {Counter::READ_BYTES, Counter::WRITE_BYTES, Counter::READ_BEATS, Counter::WRITE_BEATS})
    require(npu.counter(c) == timed.counter(c), "functional and timing model count different bytes or beats");
  for (std::uint32_t core = 0; core < cores; ++core)
    require(npu.counter(Counter::BLOCKS, core) == timed.counter(Counter::BLOCKS, core), "different blocks");
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  static const gradweave::Machine config = small_npu();
  static gradweave::DeviceMemory memory(config.memory.size_bytes);
  const std::vector<isa::Command> stream = commands_of(data, size);
  if (stream.empty()) return 0;
  for (const isa::Command &command : stream)
    check_forms(command, limits_of(config));

  std::memset(memory.data(), 0x3f, kWindow);
  memory.write(kWindow, stream.data(), stream.size() * sizeof(isa::Command));
  gradweave::FunctionalNpu npu(config, memory);
  npu.set_dram_window(0, kWindow);
  npu.start(kWindow, static_cast<std::uint32_t>(stream.size()));
  npu.run();

  timing::RunOptions options;
  options.stream_addr = kWindow;
  options.dram_size = kWindow;
  compare(npu, timing::run(config, stream, options), config.cores);
  return 0;
}
