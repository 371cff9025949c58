#include "app/evaluation/flexer/runs.hpp"

#include "app/evaluation/unit/unit_key.hpp"
#include "base/key/fingerprint.hpp"
#include "compiler/compiler.hpp"
#include "compiler/cost/bounds.hpp"
#include "compiler/cost/cost.hpp"
#include "compiler/flexer/list_schedule.hpp"
#include "compiler/flexer/tilings.hpp"
#include "compiler/ir/contraction.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/lower/order.hpp"
#include "graph/layer_fingerprint.hpp"
#include "isa/command.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>

namespace gradweave::evaluation::flexer {
namespace {

using Json = nlohmann::json;
using compiler::Layer;
using compiler::flexer::Policy;

/// Seconds that a schedule takes for each of the study's plans, very roughly.
constexpr double kSecondsOfAPlan = 0.05;

Fingerprint key_of(std::string_view kind, const Layer &layer, const Machine &npu) {
  return Fingerprint().add("flexer", kind, compiler::shape_fingerprint(layer), gradweave::fingerprint(npu),
                           tool_version());
}

compiler::CompileOptions options_of(Way way, std::uint32_t plans, const Policy &policy, bool stream) {
  compiler::CompileOptions options;
  options.schedule = compiler::parse_schedule(scheduler_of(way));
  options.pass = compiler::Pass::kForward;
  options.plans = plans;
  options.flexer_policy = policy;
  options.stream = stream;
  return options;
}

Taken taken_of(const compiler::Compiled &compiled) {
  Taken taken{static_cast<double>(compiled.predicted_cycles), 0};
  for (const compiler::Traffic &t : compiled.traffic.front())
    taken.bytes += static_cast<double>(t.read_bytes + t.write_bytes);
  return taken;
}

Json json_of(const Taken &taken) { return {taken.cycles, taken.bytes}; }
Taken taken_of(const Json &json) { return {json.at(0).get<double>(), json.at(1).get<double>()}; }

std::string run_all(const Layer &layer, const Machine &npu, std::uint32_t plans) {
  compiler::CompileCache cache; // ours begins with what the search finds
  std::array<Json, kWays.size()> taken;
  for (const Way way : {Way::kSearch, Way::kList, Way::kLoopOrder, Way::kFlexer})
    taken.at(static_cast<std::size_t>(way)) =
        json_of(taken_of(compiler::compile({layer}, npu, options_of(way, plans, {}, false), cache)));
  Json json(taken);
  const compiler::Layout layout = compiler::make_layout({layer}, compiler::Pass::kForward, npu);
  const std::array<double, 3> once = bytes_once(layer);
  json.push_back(
      {compiler::lower_bounds({layer}, compiler::Pass::kForward, layout, npu).run_cycles, once[0] + once[1] + once[2]});
  return json.dump();
}

/// What run_all() timed, for the RTL.
std::vector<RtlUnit> streams_of(const std::string &network, const Layer &layer, const Machine &npu, std::uint32_t plans,
                                const Json &result, const std::string &key) {
  std::vector<RtlUnit> streams;
  for (const Way way : kWays) {
    const auto cycles = static_cast<std::uint64_t>(taken_of(result.at(static_cast<std::size_t>(way))).cycles);
    streams.push_back({network, layer.name, fmt::format("{}, {}", scheduler_of(way), npu.name), npu,
                       Fingerprint().add(key, scheduler_of(way)).hex(), cycles, true,
                       [=] { return compiler::compile({layer}, npu, options_of(way, plans, {}, true)); }});
  }
  return streams;
}

Type type_of(const compiler::CommandInfo &info) {
  if (info.spill) return Type::kSums;
  if (info.tensor == compiler::Tensor::kX) return Type::kInput;
  return info.tensor == compiler::Tensor::kW ? Type::kWeights : Type::kOutput;
}

/// How often each tile is moved, and how many bytes they are.
void count_moves(const compiler::Compiled &compiled, Detail &detail) {
  struct Moves {
    double times = 0, bytes = 0;
  };
  std::map<std::tuple<Type, std::uint32_t, std::uint32_t>, Moves> moves;
  for (std::size_t i = 0; i < compiled.stream.size(); ++i) {
    const auto op = static_cast<isa::Opcode>(compiled.stream[i].get(isa::field::OPCODE));
    if (op != isa::Opcode::LOAD && op != isa::Opcode::STORE) continue;
    const compiler::CommandInfo &info = compiled.info[i];
    Moves &m = moves[{type_of(info), info.row, info.col}];
    ++m.times;
    m.bytes += static_cast<double>(info.rows) * info.cols * (info.spill ? 4 : 2);
  }
  for (const auto &[tile, m] : moves) {
    const auto at = std::min<std::size_t>(static_cast<std::size_t>(m.times), Detail::kTimes) - 1;
    detail.moved.at(static_cast<std::size_t>(std::get<0>(tile))).at(at) += m.bytes;
  }
}

/// What operations that are issued one after the other, one for each core, have in common.
void count_sharing(const compiler::Compiled &compiled, std::uint32_t cores, Detail &detail) {
  using Tile = std::pair<std::uint32_t, std::uint32_t>;
  std::set<Tile> inputs, weights;
  std::uint32_t operations = 0;
  double steps = 0;
  for (const compiler::CommandInfo &info : compiled.info) {
    if (info.red_n == 0) continue;
    inputs.emplace(info.row, info.red);
    weights.emplace(info.red, info.col);
    if (++operations < cores) continue;
    const bool input = inputs.size() < cores, weight = weights.size() < cores;
    ++detail.shared.at(input && weight ? 2 : input ? 0 : weight ? 1 : 3);
    ++steps;
    inputs.clear();
    weights.clear();
    operations = 0;
  }
  for (double &share : detail.shared)
    share /= std::max(1.0, steps);
}

std::string run_detail(const Layer &layer, const Machine &npu, Way way, std::uint32_t plans) {
  const compiler::Compiled compiled = compiler::compile({layer}, npu, options_of(way, plans, {}, true));
  Detail detail;
  detail.taken = taken_of(compiled);
  count_moves(compiled, detail);
  count_sharing(compiled, npu.cores, detail);
  return Json{{"taken", json_of(detail.taken)}, {"moved", detail.moved}, {"shared", detail.shared}}.dump();
}

std::string run_cloud(const Layer &layer, const Machine &npu, std::uint32_t plans) {
  const std::vector<Layer> layers{layer};
  const compiler::Layout layout = compiler::make_layout(layers, compiler::Pass::kForward, npu);
  Json json = Json::array();
  for (const auto &tiling : compiler::flexer::tilings_of(compiler::forward_phase(), layer, npu, plans / 5)) {
    const std::vector<compiler::PhasePlan> phases{
        compiler::flexer::plan_of(compiler::forward_phase(), tiling, layer, npu)};
    const compiler::TileWalk walk(phases, layers, layout, npu);
    const auto program = compiler::flexer::list_schedule(phases, walk, Policy(), npu.cores);
    if (!program) continue;
    const auto cycles = static_cast<double>(compiler::program_cycles(*program, npu));
    json.push_back({cycles, static_cast<double>(compiler::moved_bytes(*program, npu))});
  }
  return json.dump();
}

} // namespace

std::string_view scheduler_of(Way way) {
  constexpr std::array<std::string_view, 4> kNames{"flexer", "loop_order", "search", "list"};
  return kNames.at(static_cast<std::size_t>(way));
}

std::array<double, 3> bytes_once(const Layer &layer) {
  constexpr double kElement = 2; // bf16
  const double groups = layer.groups;
  double input = static_cast<double>(layer.m) * layer.k * groups;
  if (layer.image) {
    const Convolution &conv = *layer.conv;
    input = static_cast<double>(conv.batch) * conv.height * conv.width * conv.channels;
  }
  return {kElement * input, kElement * layer.k * layer.n * groups, kElement * layer.m * layer.n * groups};
}

std::string_view to_string(Type type) {
  constexpr std::array<std::string_view, kTypes> kNames{"input", "weights", "output", "partial sums"};
  return kNames.at(static_cast<std::size_t>(type));
}

std::string Runs::network_of(const Layer &layer) const {
  for (const FlexerNetwork &network : study_.networks)
    for (const Layer &other : network.layers)
      if (other.name == layer.name && other.m == layer.m && other.k == layer.k && other.n == layer.n)
        return network.name;
  return {};
}

LayerRuns Runs::all(const Layer &layer, const Machine &npu) const {
  const std::uint32_t plans = study_.plans;
  const std::string key = key_of("all", layer, npu).add(plans).hex();
  const auto streams = [=, network = network_of(layer)](const std::string &result) {
    return streams_of(network, layer, npu, plans, Json::parse(result), key);
  };
  const Work work{key, 4 * kSecondsOfAPlan * plans,
                  [=](const std::function<void(double)> &) { return run_all(layer, npu, plans); }, streams};
  const std::string text = evaluations_.get(work);
  LayerRuns runs;
  if (text.empty()) return runs;
  const Json json = Json::parse(text);
  for (std::size_t i = 0; i < runs.of.size(); ++i)
    runs.of.at(i) = taken_of(json.at(i));
  runs.bound = taken_of(json.at(runs.of.size()));
  return runs;
}

Taken Runs::with(const Layer &layer, const Machine &npu, Way way, const Policy &policy) const {
  const std::uint32_t plans = study_.plans;
  const std::string key =
      key_of("policy", layer, npu).add(plans, scheduler_of(way), compiler::flexer::to_string(policy)).hex();
  const Work work{
      key, kSecondsOfAPlan * plans, [=](const std::function<void(double)> &) {
        return json_of(taken_of(compiler::compile({layer}, npu, options_of(way, plans, policy, false)))).dump();
      }};
  const std::string text = evaluations_.get(work);
  return text.empty() ? Taken() : taken_of(Json::parse(text));
}

Detail Runs::detail(const Layer &layer, const Machine &npu, Way way) const {
  const std::uint32_t plans = study_.plans;
  const Work work{key_of("detail", layer, npu).add(plans, scheduler_of(way)).hex(), kSecondsOfAPlan * plans,
                  [=](const std::function<void(double)> &) { return run_detail(layer, npu, way, plans); }};
  const std::string text = evaluations_.get(work);
  Detail detail;
  if (text.empty()) return detail;
  const Json json = Json::parse(text);
  detail.taken = taken_of(json.at("taken"));
  json.at("moved").get_to(detail.moved);
  json.at("shared").get_to(detail.shared);
  return detail;
}

std::vector<Taken> Runs::cloud(const Layer &layer, const Machine &npu) const {
  const std::uint32_t plans = study_.cloud;
  const Work work{key_of("cloud", layer, npu).add(plans).hex(), kSecondsOfAPlan * plans,
                  [=](const std::function<void(double)> &) { return run_cloud(layer, npu, plans); }};
  std::vector<Taken> all;
  const std::string text = evaluations_.get(work);
  if (text.empty()) return all;
  for (const Json &one : Json::parse(text))
    all.push_back(taken_of(one));
  return all;
}

} // namespace gradweave::evaluation::flexer
