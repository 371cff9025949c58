#include "app/report/json_report.hpp"

#include "app/report/energy/energy_report.hpp"
#include "app/report/plan_report.hpp"
#include "app/report/summary.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/schedule/registry.hpp"
#include "runtime/record/result_json.hpp"

#include <nlohmann/json.hpp>

namespace gradweave::runtime {
namespace {

using Json = nlohmann::ordered_json;

/// Raised when a field changes its meaning or goes; new fields leave it alone.
constexpr int kReportVersion = 2;

Json npu_json(const Machine &npu) {
  return {{"name", npu.name},
          {"rows", npu.rows},
          {"cols", npu.cols},
          {"cores", npu.cores},
          {"spm_bytes", npu.spm_bytes},
          {"spm_banks", npu.spm_banks},
          {"bus_bytes", npu.bus_bytes},
          {"clock_ghz", npu.clock_ghz},
          {"dram_gb_s", npu.memory.bandwidth_gb_s},
          {"energy", report::prices_json(npu)}};
}

/// Bytes of the elements of all tensors that the pass reads or writes, each once.
std::uint64_t compulsory_bytes(const JobResult &job, const RunOptions &options) {
  std::uint64_t bytes = 0;
  const std::vector<compiler::Layer> layers =
      job.layers.size() == 1 ? compiler::compiled_as(job.layer(), job.requested, options.config) : job.layers;
  for (const compiler::TensorBinding &t : compiler::make_layout(layers, options.compile.pass, options.config).tensors)
    if (t.input || t.result) bytes += std::uint64_t{t.rows} * t.cols * (t.fp32 ? 4 : 2);
  return bytes;
}

Json not_counted_json(const compiler::Network &network) {
  Json products = Json::array();
  for (const auto &[op, count, multiply_adds] : network.other_products)
    products.push_back({{"operator", op}, {"count", count}, {"multiply_adds", multiply_adds}});
  return {{"products", products}, {"text", not_counted(network)}};
}

Json layer_json(const JobResult &job, const RunOptions &options) {
  Json json = to_json(job);
  if (options.stream.empty()) json["compulsory_bytes"] = compulsory_bytes(job, options);
  if (!options.stream.empty()) // what only the compiler knows
    for (const char *field :
         {"m", "k", "n", "dx", "schedule", "chosen_schedule", "tiling", "compute_cycles", "estimated_cycles", "dram"})
      json.erase(field);
  if (const compiler::Layer &layer = job.layer(); layer.conv && !layer.conv->is_pointwise())
    json["convolution"] = layer.forward_image ? "image for Y, im2col for gradients"
                          : layer.packed      ? "packed image"
                          : layer.image       ? "image"
                                              : "im2col";
  if (options.stream.empty()) json["unit"] = job.layer().vector ? "vector unit" : "array";
  json["array_utilisation"] = utilisation(job.macs, job.cycles(), options.config);
  json["dram_utilisation"] = dram_utilisation(job.accesses, job.cycles(), options.config);
  json["energy"] = report::energy_json(job.accesses, job.cycles(), options.config);
  return json;
}

Json totals_json(const Totals &t, const Totals &base, const RunOptions &options, compiler::Schedule schedule) {
  Json json = {{"schedule", std::string(compiler::to_string(schedule))},
               {"layers", t.layers},
               {"commands", t.commands},
               {"macs", t.macs},
               {"cycles", t.cycles},
               {"milliseconds", static_cast<double>(t.cycles) / (options.config.clock_ghz * 1e6)},
               {"array_utilisation", utilisation(t.macs, t.cycles, options.config)},
               {"compute_bound", t.compute_bound},
               {"traffic_bound", t.traffic_bound},
               {"bound", t.bound},
               {"tuning", to_json(t.tuning)},
               {"dram_read_bytes", t.dram_read_bytes},
               {"dram_write_bytes", t.dram_write_bytes},
               {"spill_bytes", t.spill_bytes},
               {"dram_utilisation", dram_utilisation(t.accesses, t.cycles, options.config)},
               {"energy", report::energy_json(t.accesses, t.cycles, options.config)},
               {"compile_seconds", t.compile_seconds},
               {"cpu_seconds", t.cpu_seconds}};
  if (t.cycles != 0 && t.cpu_seconds > 0) json["cycles_per_cpu_second"] = static_cast<double>(t.cycles) / t.cpu_seconds;
  if (options.compares() && base.cycles != 0)
    json["cycles_ratio"] = static_cast<double>(t.cycles) / static_cast<double>(base.cycles);
  if (options.compares() && base.dram_bytes() != 0)
    json["dram_bytes_ratio"] = static_cast<double>(t.dram_bytes()) / static_cast<double>(base.dram_bytes());
  return json;
}

} // namespace

nlohmann::ordered_json report_json(const RunOptions &options, const RunResult &run) {
  Json report = {{"report_version", kReportVersion},
                 {"gradweave_version", GW_VERSION},
                 {"verdict", std::string(verdict(run.outcome))},
                 {"outcome", std::string(to_string(run.outcome))},
                 {"model", options.model},
                 {"network", options.network.name},
                 {"network_layers", options.network.layers.size()},
                 {"not_counted", not_counted_json(options.network)},
                 {"npu", npu_json(options.config)},
                 {"pass", std::string(compiler::to_string(options.compile.pass))},
                 {"tune", options.compile.tune},
                 {"partition", std::string(compiler::to_string(options.compile.partition))},
                 {"parts", options.compile.parts},
                 {"reduction", std::string(compiler::to_string(options.compile.reduction))},
                 {"sharing", std::string(compiler::to_string(options.compile.sharing))},
                 {"backend", std::string(to_string(options.backend))},
                 {"data", has_data(options.backend) ? std::string(to_string(options.data)) : "none"},
                 {"seed", options.seed},
                 {"stress", {{"seed", options.stress.seed}, {"stall_probability", options.stress.stall_probability}}},
                 {"jobs", options.jobs},
                 {"reproduce", options.reproduce},
                 {"wall_seconds", run.wall_seconds},
                 {"kept_jobs", run.kept},
                 {"failures", run.failures}};
  if (!options.stream.empty()) report["stream"] = options.stream;
  if (run.peak_memory_bytes != 0) report["peak_memory_bytes"] = run.peak_memory_bytes;
  report["totals"] = Json::array();
  const Totals base = sum_layers(run, 0);
  for (std::size_t s = 0; s < options.schedules.size(); ++s)
    report["totals"].push_back(totals_json(sum_layers(run, s), base, options, options.schedules[s]));
  report["layers"] = Json::array();
  for (const auto &by_schedule : run.layers)
    for (const JobResult &job : by_schedule)
      report["layers"].push_back(layer_json(job, options));
  return report;
}

std::string json_text(const Json &report) { return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

} // namespace gradweave::runtime
