// gradweave disasm, gradweave asm
#include "isa/assembler.hpp"
#include "runtime/cli/commands.hpp"
#include "runtime/output_file.hpp"
#include "sw_models/npu_config.hpp"

#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <system_error>

namespace gradweave::cli {
namespace {

std::string read_text(const std::string &file) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error))
    throw ConfigError(fmt::format("{}: is a directory; give a text file", file));
  std::ifstream in(file, std::ios::binary);
  if (!in) throw ConfigError(fmt::format("{}: cannot be opened; check its name and permissions", file));
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

} // namespace

int disassemble(const std::string &file, const std::string &out) {
  std::string text;
  for (const isa::Command &command : isa::read_stream_file(file))
    text += isa::disassemble(command) + '\n';
  runtime::OutputFile(out.empty() ? "-" : out).commit(text);
  return kOk;
}

int assemble(const std::string &file, const std::string &out) {
  const std::vector<isa::Command> stream = isa::assemble(read_text(file), file);
  if (stream.empty()) throw ConfigError(fmt::format("{}: no commands in it; write at least one", file));
  try {
    isa::write_stream_file(out, stream);
  } catch (const isa::AssemblyError &error) {
    throw runtime::OutputError(error.what());
  }
  return kOk;
}

} // namespace gradweave::cli
