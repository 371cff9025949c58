// gradweave disasm, gradweave asm
#include "app/cli/common/options.hpp"
#include "app/cli/common/subcommands.hpp"
#include "app/cli/plan/commands.hpp"
#include "base/file/output_file.hpp"
#include "isa/assembler.hpp"
#include "sw_models/config/npu_config.hpp"
#include "sw_models/config/user_file.hpp"

#include <fmt/format.h>

namespace gradweave::cli {
namespace {

struct StreamArguments {
  std::string file, out;
};

/// Binary stream to text; `out` empty: standard output.
int disassemble(const std::string &file, const std::string &out) {
  std::string text;
  for (const isa::Command &command : isa::read_stream_file(file))
    text += isa::disassemble(command) + '\n';
  OutputFile(out.empty() ? "-" : out).commit(text);
  return kOk;
}

/// Text to binary stream.
int assemble(const std::string &file, const std::string &out) {
  const std::vector<isa::Command> stream = isa::assemble(read_user_text(file, {"command text", kMaxBulkBytes}), file);
  if (stream.empty()) throw ConfigError(fmt::format("{}: no commands in it; write at least one", file));
  try {
    isa::write_stream_file(out, stream);
  } catch (const isa::AssemblyError &error) {
    throw OutputError(error.what());
  }
  return kOk;
}

} // namespace

void add_streams(CLI::App &app, const Invocation & /*invocation*/, Chosen &chosen) {
  const auto arguments = std::make_shared<StreamArguments>(); // as long as the parser
  StreamArguments &a = *arguments;
  CLI::App *disasm = add_subcommand(app, "disasm");
  disasm->add_option("FILE", a.file, "Stream (.gws)")->required();
  disasm->add_option("--out,-o", a.out, "Text file; default: standard output");
  disasm->footer("Example:\n  gradweave disasm streams/0-embed.gws | head");
  disasm->callback([arguments, &chosen] {
    chosen = [arguments](const SignalGuard &) { return disassemble(arguments->file, arguments->out); };
  });

  CLI::App *assembler = add_subcommand(app, "asm");
  assembler->add_option("FILE", a.file, "Text, as disasm writes it (docs/cli.md)")->required();
  assembler->add_option("--out,-o", a.out, "Stream (.gws)")->required();
  assembler->footer("Example:\n  gradweave asm program.txt -o program.gws");
  assembler->callback([arguments, &chosen] {
    chosen = [arguments](const SignalGuard &) { return assemble(arguments->file, arguments->out); };
  });
}

} // namespace gradweave::cli
