#include "app/cli/common/options.hpp"
#include "app/cli/common/subcommands.hpp"
#include "app/cli/traces/commands.hpp"
#include "app/cli/traces/wavediff.hpp"

#include <memory>

namespace gradweave::cli {

void add_wavediff(CLI::App &app, const Invocation & /*invocation*/, Chosen &chosen) {
  const auto arguments = std::make_shared<WavediffArguments>(); // as long as the parser
  WavediffArguments &a = *arguments;
  CLI::App *command = add_subcommand(app, "wavediff");
  command->add_option("A", a.a, "FST file: what is expected")->required();
  command->add_option("B", a.b, "FST file to compare with it")->required();
  command->add_option("--signals", a.signals,
                      "Only these: a glob of the hierarchical name (*, ?), or a regular expression between slashes");
  command->add_option("--exclude", a.exclude, "Not these, likewise; stronger than --signals");
  command->add_option("--scope-a", a.scope_a, "Scope of A that names count from, as in TOP.npu; the rest is left out");
  command->add_option("--scope-b", a.scope_b, "The same of B");
  command->add_option("--offset", a.offset, "B happens so much later than A, in the finer unit of time of the two");
  command->add_option("--from", a.from, "First time of A to compare, in that unit")->check(check_whole_number);
  command->add_option("--to", a.to, "Last one; default: the end")->check(check_whole_number);
  command->add_option("--clock", a.clock,
                      "Compare what registers of this clock see before its rising edges; times are numbers of edges");
  command->add_option("--period", a.period, "Tell times as cycles of so many units")->check(check_whole_number);
  command->add_flag("--common", a.common, "Signals in one file only, and a file that ends first, are no differences");
  command->add_flag("--ignore-unknown", a.ignore_unknown, "Bits that are x, z, ... on one side match any");
  command->add_option("--limit", a.limit, "Signals to list")->check(check_whole_number)->capture_default_str();
  command->add_option("--save", a.save, "Write a GTKWave save file of A at the first difference");
  command->add_option("--json", a.json, "Write the comparison (docs/waves.md) to this file; - is standard output");
  command->footer(
      "Examples:\n"
      "  gradweave wavediff before.fst after.fst --signals '*_q' --exclude '*.u_spm.*' --period 1000\n"
      "  gradweave wavediff rtl.fst gates.fst --scope-a TOP.npu --scope-b bench.dut --clock clk_i --common\n"
      "Exit codes: 0 equal, 1 different, 2 usage, 3 a file is missing, cut or damaged, 5 output cannot be\n"
      "written");
  command->callback(
      [arguments, &chosen] { chosen = [arguments](const SignalGuard &) { return wavediff(*arguments); }; });
}

} // namespace gradweave::cli
