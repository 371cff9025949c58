// Binary stream files (.gws), as they are and with a header that fits the commands, which no mutation would find.
#include "isa/assembler.hpp"
#include "tests/fuzz/fuzz_target.hpp"

#include <cstring>

namespace {

namespace isa = gradweave::isa;
using gradweave::fuzz::require;

constexpr const char *kFile = "stream.gws";
constexpr std::size_t kHeaderBytes = 24;

template <typename T> void append(std::string &bytes, T value) {
  bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
}

std::string with_header(std::string_view commands) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : commands)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  std::string bytes("GWS\0", 4);
  append(bytes, std::uint32_t{isa::kVersion});
  append(bytes, std::uint64_t{commands.size() / isa::kCommandBytes});
  append(bytes, hash);
  return bytes.append(commands);
}

/// Text and back gives the same bits.
void check_text(const std::vector<isa::Command> &stream) {
  std::string text;
  for (const isa::Command &command : stream)
    text += isa::disassemble(command) + '\n';
  require(isa::assemble(text, "text") == stream, "assembling a disassembly gives other commands");
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::string_view bytes = gradweave::fuzz::text_of(data, size);
  try {
    check_text(isa::parse_stream_file(bytes, kFile));
  } catch (const isa::AssemblyError &rejection) {
    gradweave::fuzz::require_place(rejection, kFile);
  }
  if (size < kHeaderBytes) return 0;
  const std::string_view commands = bytes.substr(kHeaderBytes, (size - kHeaderBytes) / 64 * 64);
  const std::vector<isa::Command> stream = isa::parse_stream_file(with_header(commands), kFile);
  require(stream.size() == commands.size() / 64, "commands were lost");
  check_text(stream);
  return 0;
}
