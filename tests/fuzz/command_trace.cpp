// Timing traces of commands (CSV).
#include "trace/command_trace.hpp"
#include "sw_models/config/npu_config.hpp"
#include "tests/fuzz/fuzz_target.hpp"

#include <sstream>

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  using gradweave::fuzz::require;
  constexpr const char *kFile = "times.csv";
  std::istringstream in(std::string(gradweave::fuzz::text_of(data, size)));
  try {
    std::uint64_t next = 0;
    for (const auto &command : gradweave::runtime::read_command_trace(in, kFile)) {
      require(command.index == 0 || command.index == next, "an index that does not follow");
      next = command.index + 1;
      require(command.times.issue <= command.times.start && command.times.start <= command.times.done,
              "times out of order");
      require(!command.label.opcode.empty(), "no opcode");
    }
  } catch (const gradweave::ConfigError &rejection) {
    gradweave::fuzz::require_place(rejection, kFile);
  }
  return 0;
}
