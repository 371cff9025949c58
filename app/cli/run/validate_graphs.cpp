#include "app/cli/run/validate_graphs.hpp"

#include "app/cli/common/options.hpp"
#include "app/cli/common/work.hpp"
#include "app/validate/graphs/campaign.hpp"
#include "base/file/output_file.hpp"
#include "device/backend.hpp"
#include "runtime/run/lookup.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <optional>
#include <stdexcept>

namespace gradweave::cli {
namespace {

using graphs::CampaignResult;
using graphs::Finding;

std::string file_of_seed(const std::string &directory, std::uint64_t seed) {
  return (std::filesystem::path(directory) / fmt::format("seed-{}.graph", seed)).string();
}

void keep_finding(const std::string &directory, const Finding &finding) {
  const std::string file = file_of_seed(directory, finding.seed);
  OutputFile(file).commit(finding.text);
  OutputFile(std::filesystem::path(file).replace_extension(".txt"))
      .commit(fmt::format("{}\n{}: {}\n", finding.command, graphs::to_string(finding.verdict.outcome),
                          finding.verdict.message));
}

void print_findings(std::FILE *out, const CampaignResult &result) {
  for (const Finding &finding : result.findings) {
    fmt::print(out, "\nseed {}: {}: {}\n", finding.seed, graphs::to_string(finding.verdict.outcome),
               finding.verdict.message);
    fmt::print(out, "smallest graph, {} operators:\n{}repeat     {}\n", finding.ops, finding.text, finding.command);
  }
}

void print_summary(std::FILE *out, const ValidateGraphsArguments &a, const ValidateCommon &common,
                   const CampaignResult &result) {
  fmt::print(out, "\n{} random graphs, seeds {} to {}, on {} ({})\n", a.count, common.seed, common.seed + a.count - 1,
             common.npu.empty() ? "several NPUs" : common.npu, a.backend);
  for (std::size_t i = 0; i < graphs::kOutcomes; ++i)
    if (result.counts[i] > 0)
      fmt::print(out, "  {:<20} {}\n", graphs::to_string(static_cast<graphs::Outcome>(i)), result.counts[i]);
  if (!result.ok()) fmt::print(out, "seeds that fail: {}\n", fmt::join(result.failed, " "));
  fmt::print(out, "{}\n", result.ok() ? "PASS" : "FAIL");
}

std::string json_of(const ValidateGraphsArguments &a, const ValidateCommon &common, const CampaignResult &result) {
  nlohmann::ordered_json json = {{"verdict", result.ok() ? "PASS" : "FAIL"},
                                 {"graphs", a.count},
                                 {"seed", common.seed},
                                 {"npu", common.npu},
                                 {"backend", a.backend}};
  for (std::size_t i = 0; i < graphs::kOutcomes; ++i)
    json["outcomes"][std::string(graphs::to_string(static_cast<graphs::Outcome>(i)))] = result.counts[i];
  json["failed"] = result.failed;
  json["findings"] = nlohmann::ordered_json::array();
  for (const Finding &finding : result.findings)
    json["findings"].push_back({{"seed", finding.seed},
                                {"outcome", graphs::to_string(finding.verdict.outcome)},
                                {"message", finding.verdict.message},
                                {"graph", finding.text},
                                {"repeat", finding.command}});
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

} // namespace

void add_graph_options(CLI::App &command, ValidateGraphsArguments &a) {
  command
      .add_option("--graphs", a.count,
                  "So many random training graphs: each trains on an NPU, every tensor compared with the golden one")
      ->check(check_whole_number)
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 32U));
  command.add_option("--ops", a.ops, "Operators of a random graph, at most, before its losses")
      ->check(check_whole_number)
      ->check(CLI::Range(1U, 200U))
      ->capture_default_str();
  command.add_option("--backend", a.backend, "What runs random graphs, one of " + runtime::backend_names())
      ->capture_default_str();
  command.add_option("--shrink", a.shrink, "Failures of one kind that are shrunk to their smallest graphs; 0: none")
      ->check(check_whole_number)
      ->check(CLI::Range(0U, 1000U))
      ->capture_default_str();
  command.add_option("--keep", a.keep,
                     "Directory for the smallest graphs that fail, and the commands that repeat them");
}

int validate_graphs(const ValidateGraphsArguments &a, const ValidateCommon &common, const SignalGuard &signals) {
  runtime::parse_backend(a.backend);
  graphs::CampaignOptions options;
  options.first = common.seed;
  options.count = a.count;
  options.cases = {common.npu, a.backend, a.ops};
  options.shrunk = a.shrink;
  options.jobs = common.jobs;
  options.quiet = common.quiet;
  if (common.npu.empty() && a.backend == "rtl")
    throw std::invalid_argument("--backend rtl: an NPU whose RTL is built has to be named; give --npu");
  if (!common.npu.empty()) {
    const Machine npu = load_machine(runtime::find_npu(common.npu));
    if (a.backend == "rtl") require_rtl(npu, common.npu);
  }
  if (!a.keep.empty()) make_output_directory(a.keep, "--keep");
  std::optional<OutputFile> json;
  if (!common.json.empty()) json.emplace(common.json);
  const CampaignResult result = graphs::run_campaign(
      options, signals, [&](std::uint64_t seed) { return file_of_seed(a.keep.empty() ? "." : a.keep, seed); });
  std::FILE *out = common.json == "-" ? stderr : stdout;
  print_findings(out, result);
  for (const Finding &finding : result.findings)
    if (!a.keep.empty()) keep_finding(a.keep, finding);
  print_summary(out, a, common, result);
  if (json) json->commit(json_of(a, common, result));
  return result.ok() ? kOk : kFailed;
}

} // namespace gradweave::cli
