#include "app/session/system_report.hpp"

#include "app/report/text_format.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace gradweave::cli {
namespace {

using namespace runtime::train;

constexpr double kPsPerUs = 1e6;

/// Directions of its link, channels of its flash: how many there are of what is held.
double channels_of(const SystemConfig &system, std::uint32_t device) {
  const auto &flash = system.devices[device].flash;
  return flash ? system.flashes[*flash].channels : 1;
}

std::uint64_t bubble_ps(const DeviceUse &use, const SystemTimes &times) {
  return times.end - use.stream_ps - use.process_ps - use.transfer_ps;
}

} // namespace

void print_system(const SystemStep &step, std::FILE *out) {
  const SystemPlan &plan = step.plan();
  const SystemTimes &times = step.times();
  const auto moves = std::count_if(plan.commands().begin(), plan.commands().end(),
                                   [](const SystemCommand &c) { return c.kind == SystemCommand::Kind::kMove; });
  std::uint64_t bytes = 0;
  for (const SystemCommand &command : plan.commands())
    bytes += command.kind == SystemCommand::Kind::kMove ? command.bytes : 0;
  fmt::print(out, "\nsystem {}: a step takes {:.3f} us, {} commands, {} of them moves of {} B in all\n",
             plan.system().name, static_cast<double>(times.end) / kPsPerUs, plan.commands().size(), moves,
             runtime::grouped(bytes));
  fmt::print(out, "{:<12} {:<12} {:>8} {:>8} {:>11} {:>10} {:>8} {:>8} {:>8}\n", "device", "NPU", "streams", "NPU %",
             "processor %", "transfer %", "bubble %", "link %", "flash %");
  const auto end = static_cast<double>(std::max<std::uint64_t>(1, times.end));
  const std::vector<DeviceUse> uses = uses_of(plan, times);
  for (std::uint32_t device = 0; device < uses.size(); ++device) {
    const DeviceUse &use = uses[device];
    const auto share = [end](std::uint64_t ps) { return 100 * static_cast<double>(ps) / end; };
    fmt::print(out, "{:<12} {:<12} {:>8} {:>8.1f} {:>11.1f} {:>10.1f} {:>8.1f} {:>8.1f} {:>8.1f}\n", use.name,
               plan.system().devices[device].machine.name, use.streams, share(use.stream_ps), share(use.process_ps),
               share(use.transfer_ps), share(bubble_ps(use, times)), share(use.link_ps) / 2,
               share(use.flash_ps) / channels_of(plan.system(), device));
  }
}

nlohmann::ordered_json system_json(const SystemStep &step) {
  using Json = nlohmann::ordered_json;
  const SystemPlan &plan = step.plan();
  const SystemTimes &times = step.times();
  Json json{
      {"name", plan.system().name}, {"step_ps", times.end}, {"devices", Json::array()}, {"commands", Json::array()}};
  for (const DeviceUse &use : uses_of(plan, times))
    json["devices"].push_back({{"name", use.name},
                               {"streams", use.streams},
                               {"stream_ps", use.stream_ps},
                               {"process_ps", use.process_ps},
                               {"transfer_ps", use.transfer_ps},
                               {"bubble_ps", bubble_ps(use, times)},
                               {"link_ps", use.link_ps},
                               {"flash_ps", use.flash_ps}});
  for (CommandId id = 0; id < plan.commands().size(); ++id) {
    const SystemCommand &command = plan.commands()[id];
    Json entry{{"kind", std::string(to_string(command.kind))},
               {"label", command.label},
               {"device", plan.system().devices[command.device].name}};
    if (command.kind == SystemCommand::Kind::kMove) entry["to"] = plan.system().devices[command.to].name;
    if (command.kind != SystemCommand::Kind::kRun) entry["bytes"] = command.bytes;
    entry["begin_ps"] = times.spans[id].begin;
    entry["end_ps"] = times.spans[id].end;
    entry["waits"] = command.waits;
    json["commands"].push_back(std::move(entry));
  }
  return json;
}

void print_search(const PartitionSearch &search, const SystemConfig &system, std::FILE *out) {
  fmt::print(out, "{} steps of system {} were timed\n{:<20} {:>14} {:>8}  {}\n", search.evaluations, system.name,
             "partition", "a step, us", "less %", "layers of devices");
  for (const TriedPartition &tried : search.tried) {
    const double less = 100 * (1 - static_cast<double>(tried.ps) / static_cast<double>(search.tried.front().ps));
    fmt::print(out, "{:<20} {:>14.3f} {:>8.1f}  {}\n", tried.what, static_cast<double>(tried.ps) / kPsPerUs, less,
               to_string(tried.partition, system));
  }
  fmt::print(out, "\n");
}

nlohmann::ordered_json search_json(const PartitionSearch &search, const SystemConfig &system) {
  nlohmann::ordered_json json{{"evaluations", search.evaluations}, {"tried", nlohmann::ordered_json::array()}};
  for (const TriedPartition &tried : search.tried)
    json["tried"].push_back(
        {{"what", tried.what}, {"partition", to_string(tried.partition, system)}, {"step_ps", tried.ps}});
  return json;
}

} // namespace gradweave::cli
