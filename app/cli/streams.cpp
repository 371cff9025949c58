// gradweave disasm, gradweave asm
#include "isa/assembler.hpp"
#include "app/cli/commands.hpp"
#include "base/output_file.hpp"
#include "sw_models/npu_config.hpp"
#include "sw_models/user_file.hpp"

#include <fmt/format.h>

namespace gradweave::cli {

int disassemble(const std::string &file, const std::string &out) {
  std::string text;
  for (const isa::Command &command : isa::read_stream_file(file))
    text += isa::disassemble(command) + '\n';
  runtime::OutputFile(out.empty() ? "-" : out).commit(text);
  return kOk;
}

int assemble(const std::string &file, const std::string &out) {
  const std::vector<isa::Command> stream = isa::assemble(read_user_text(file, {"command text", kMaxBulkBytes}), file);
  if (stream.empty()) throw ConfigError(fmt::format("{}: no commands in it; write at least one", file));
  try {
    isa::write_stream_file(out, stream);
  } catch (const isa::AssemblyError &error) {
    throw runtime::OutputError(error.what());
  }
  return kOk;
}

} // namespace gradweave::cli
