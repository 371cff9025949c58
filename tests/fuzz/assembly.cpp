// The text form of commands. What is accepted survives disassembly and assembly.
#include "isa/assembler.hpp"
#include "tests/fuzz/fuzz_target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  namespace isa = gradweave::isa;
  std::vector<isa::Command> stream;
  try {
    stream = isa::assemble(gradweave::fuzz::text_of(data, size), "stream.txt");
  } catch (const isa::AssemblyError &rejection) {
    gradweave::fuzz::require_place(rejection, "stream.txt");
    return 0;
  }
  std::string text;
  for (const isa::Command &command : stream)
    text += isa::disassemble(command) + '\n';
  gradweave::fuzz::require(isa::assemble(text, "again") == stream, "disassembly gives other commands");
  return 0;
}
