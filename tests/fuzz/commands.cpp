// Any bits as commands: written as text, checked, executed by the functional model and timed by the timing model of a
// small NPU. Both models must stop with the same error at the same command, and count the same bytes and blocks.
#include "isa/assembler.hpp"
#include "tests/fuzz/command_checks.hpp"

#include <stdexcept>

namespace {

namespace fuzz = gradweave::fuzz;
namespace isa = gradweave::isa;
using fuzz::require;

void check_forms(const isa::Command &command, const isa::Limits &limits) {
  const std::vector<isa::Command> again = isa::assemble(isa::disassemble(command), "text");
  require(again.size() == 1 && again[0] == command, "assembling a disassembly gives another command");
  const auto decoded = isa::decode(command);
  if (isa::check_command(command, limits) != isa::ErrorCode::NONE) return;
  require(decoded && isa::encode(*decoded) == command, "a legal command has bits that its typed form loses");
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  static const gradweave::Machine config = fuzz::small_npu();
  static gradweave::DeviceMemory memory(config.memory.size_bytes);
  const std::vector<isa::Command> stream = fuzz::commands_of(data, size);
  if (stream.empty()) return 0;
  for (const isa::Command &command : stream)
    check_forms(command, fuzz::limits_of(config));

  const std::uint64_t bytes = stream.size() * sizeof(isa::Command);
  if (fuzz::overwrites_itself(stream, bytes, fuzz::limits_of(config))) return 0;
  std::memset(memory.data(), 0x3f, fuzz::kMemory);
  memory.write(fuzz::kStreamAt, stream.data(), bytes);
  gradweave::FunctionalNpu npu(config, memory);
  npu.start(fuzz::kStreamAt, static_cast<std::uint32_t>(stream.size()));
  require(npu.status().error != isa::ErrorCode::BAD_START, "a stream that cannot be started");
  npu.run();

  gradweave::timing::RunOptions options;
  options.stream_addr = fuzz::kStreamAt;
  try {
    fuzz::compare(npu, gradweave::timing::run(config, stream, options), config.cores);
  } catch (const std::runtime_error &endless) { // it waits for a host, who takes no mark
    require(npu.marks().size() > fuzz::kMarks, endless.what());
  }
  return 0;
}
