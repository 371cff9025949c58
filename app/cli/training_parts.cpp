#include "app/cli/parts.hpp"
#include "app/cli/plan/commands.hpp"
#include "app/cli/run/commands.hpp"
#include "app/cli/run/step.hpp"
#include "app/cli/traces/commands.hpp"
#include "app/report/page/run_page.hpp"

namespace gradweave::cli {

ProgramParts training_parts() {
  ProgramParts parts = layers_parts();
  parts.program = Program::kTraining;
  for (const Adder &adder : std::vector<Adder>{{"compile", add_compile},
                                               {"disasm", add_streams},
                                               {"timeline", add_timeline},
                                               {"models", add_models},
                                               {"tasks", add_tasks},
                                               {"search", add_search},
                                               {"train", add_train}})
    parts.adders.push_back(adder);
  parts.larger = {cosim_step, simulate_step, report::run_page};
  return parts;
}

} // namespace gradweave::cli
