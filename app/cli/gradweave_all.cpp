// The same with papers, sweeps, validation, and several networks on one NPU: all subcommands.
#include "app/cli/memory/commands.hpp"
#include "app/cli/parts.hpp"
#include "app/cli/reference.hpp"
#include "app/cli/run/commands.hpp"
#include "app/cli/sweep/commands.hpp"
#include "app/cli/traces/commands.hpp"

int main(int argc, char **argv) {
  using namespace gradweave::cli;
  ProgramParts parts = training_parts();
  parts.program = Program::kAll;
  for (const Adder &adder : std::vector<Adder>{{"validate", add_validate},
                                               {"wavediff", add_wavediff},
                                               {"memory", add_memory},
                                               {"weave", add_weave},
                                               {"serve", add_serve},
                                               {"sweep", add_sweep},
                                               {"reproduce", add_reproduce}})
    parts.adders.push_back(adder);
  parts.add_reference = add_reference;
  return run_program(parts, argc, argv);
}
