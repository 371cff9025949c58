#include "device/system_devices.hpp"

#include <fmt/format.h>

namespace gradweave {

std::string describe(const SystemPlan &plan, CommandId id) {
  const SystemCommand &command = plan.commands()[id];
  const std::string to =
      command.kind == SystemCommand::Kind::kMove ? fmt::format(" to '{}'", plan.system().devices[command.to].name) : "";
  return fmt::format("device '{}'{}, {} {} ({})", plan.system().devices[command.device].name, to,
                     to_string(command.kind), id, command.label);
}

} // namespace gradweave
