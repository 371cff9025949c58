#include "app/cli/parts.hpp"
#include "app/cli/run/commands.hpp"

namespace gradweave::cli {

ProgramParts layers_parts() {
  ProgramParts parts;
  parts.program = Program::kLayers;
  parts.adders = {{"cosim", add_cosim}, {"simulate", add_simulate}};
  return parts;
}

} // namespace gradweave::cli
