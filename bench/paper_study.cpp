// Which of the choices that igo_micro23 leaves open carries its gains: every schedule's cycles, forward and backward,
// relative to the sequential baseline of the same policy (docs/paper-baseline.md).
#include "compiler/compiler.hpp"
#include "compiler/ir/contraction.hpp"
#include "compiler/lower/order.hpp"
#include "compiler/lower/partition.hpp"
#include "compiler/paper/paper.hpp"
#include "graph/frontend/load_network.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <iostream>
#include <map>
#include <tuple>

namespace gradweave {
namespace {

using compiler::Compiled;
using compiler::Layer;
using compiler::Schedule;
namespace paper = compiler::paper;

enum Column : std::size_t {
  kSequential,
  kInterleave,
  kRearrange,
  kIdeal,
  kCutM,
  kCutN,
  kCutK,
  kCut,
  kDyOnce,
  kColumns
};
constexpr std::array<const char *, kColumns> kTitles{"sequential", "interleave", "rearrange", "ideal",  "cut_m",
                                                     "cut_n",      "cut_k",      "cut",       "dy_once"};

/// Sums over a network's layers.
struct Totals {
  std::array<std::uint64_t, kColumns> cycles{}; ///< forward and backward
  std::uint64_t forward = 0;
  std::uint64_t dy_bytes = 0, read_bytes = 0, bytes = 0; ///< of the sequential backward pass

  void add(const Totals &t) {
    for (std::size_t c = 0; c < kColumns; ++c)
      cycles[c] += t.cycles[c];
    forward += t.forward;
    dy_bytes += t.dy_bytes;
    read_bytes += t.read_bytes;
    bytes += t.bytes;
  }
  double ratio(Column c) const { return static_cast<double>(cycles[c]) / static_cast<double>(cycles[kSequential]); }
};

class LayerStudy {
public:
  LayerStudy(const Layer &layer, const Machine &npu, const paper::Policy &policy, paper::SpillCost spill)
      : layer_(layer), npu_(npu), policy_(policy) {
    options_.stream = false;
    ideal_.spill = spill;
  }
  Totals run(const std::vector<std::uint32_t> &parts);

private:
  Compiled compile(Schedule schedule, compiler::Pass pass = compiler::Pass::kBackward, compiler::Cut cut = {},
                   bool dy_once = false) {
    options_.schedule = schedule;
    options_.pass = pass;
    options_.partition = cut.partition;
    options_.parts = cut.parts;
    options_.reduction = cut.reduction;
    ideal_.dy_once = dy_once;
    compiler::CompileCache cache;
    return compiler::compile(paper::PaperScheduler(policy_, ideal_), {layer_}, npu_, options_, cache);
  }

  const Layer &layer_;
  const Machine &npu_;
  paper::Policy policy_;
  paper::Idealisation ideal_;
  compiler::CompileOptions options_;
};

Totals LayerStudy::run(const std::vector<std::uint32_t> &parts) {
  Totals t;
  t.forward = compile(Schedule::kSequential, compiler::Pass::kForward).predicted_cycles;
  const Compiled sequential = compile(Schedule::kSequential);
  for (std::size_t i = 0; i < compiler::kTensorCount; ++i) {
    const compiler::Traffic &traffic = sequential.traffic.front()[i];
    if (static_cast<compiler::Tensor>(i) == compiler::shared_gradient()) t.dy_bytes += traffic.read_bytes;
    t.read_bytes += traffic.read_bytes;
    t.bytes += traffic.read_bytes + traffic.write_bytes;
  }
  t.cycles.fill(t.forward + sequential.predicted_cycles);
  if (!layer_.dx) return t; // every schedule is the same
  const auto backward = [&](Column c, std::uint64_t cycles) { t.cycles[c] = t.forward + cycles; };
  backward(kInterleave, compile(Schedule::kInterleave).predicted_cycles);
  const std::uint64_t dx_major = compile(Schedule::kDxMajor).predicted_cycles;
  const std::uint64_t dw_major = compile(Schedule::kDwMajor).predicted_cycles;
  backward(kIdeal, std::min({t.cycles[kInterleave] - t.forward, dx_major, dw_major}));
  const Schedule chosen = compiler::resolve(Schedule::kRearrange, layer_);
  backward(kRearrange, chosen == Schedule::kInterleave ? t.cycles[kInterleave] - t.forward
                       : chosen == Schedule::kDxMajor  ? dx_major
                                                       : dw_major);
  backward(kDyOnce, compile(Schedule::kSequential, compiler::Pass::kBackward, {}, true).predicted_cycles);
  t.cycles[kCut] = t.cycles[kRearrange];
  for (const auto &[column, partition] :
       {std::pair{kCutM, compiler::Partition::kWeightSharing}, std::pair{kCutN, compiler::Partition::kDySharing},
        std::pair{kCutK, compiler::Partition::kIfmapSharing}}) {
    t.cycles[column] = t.cycles[kRearrange];
    for (const std::uint32_t p : parts) {
      const std::uint64_t cycles =
          compile(Schedule::kRearrange, compiler::Pass::kBackward, {partition, p}).predicted_cycles + t.forward;
      t.cycles[column] = std::min(t.cycles[column], cycles);
    }
    t.cycles[kCut] = std::min(t.cycles[kCut], t.cycles[column]);
  }
  return t;
}

void print(const std::string &policy, const std::string &network, const Totals &t) {
  fmt::print("{:42} {:14} {:>12.3f}", policy, network, static_cast<double>(t.cycles[kSequential]) * 1e-6);
  for (std::size_t c = kInterleave; c < kColumns; ++c)
    fmt::print(" {:10.3f}", t.ratio(static_cast<Column>(c)));
  const auto share = [](std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  fmt::print(" {:10.3f} {:10.3f} {:10.3f}\n", share(t.forward, t.cycles[kSequential]), share(t.dy_bytes, t.read_bytes),
             share(t.dy_bytes, t.bytes));
  std::fflush(stdout);
}

int run(int argc, char **argv) {
  CLI::App app(
      "Cycles of igo_micro23's schedules relative to its baseline, for each choice that the paper leaves open");
  std::string npu_file = "configs/small.toml";
  std::vector<std::string> files, policies;
  std::vector<std::uint32_t> parts{2, 4, 8};
  std::optional<std::uint32_t> batch;
  paper::SpillCost spill = paper::SpillCost::kFp32;
  app.add_option("networks", files, "network files")->required();
  app.add_option("--npu", npu_file, "NPU configuration")->capture_default_str();
  app.add_option("--policy", policies, "e.g. array2/belady; `near`: all near the default; `all`");
  app.add_option("--parts", parts, "numbers of parts to try along each dimension; 1: none")->capture_default_str();
  app.add_option("--spill", spill,
                 "what a spilled partial sum moves: fp32, bf16, free (the latter two as an idealisation)")
      ->transform(CLI::CheckedTransformer(std::map<std::string, paper::SpillCost>{
          {"fp32", paper::SpillCost::kFp32}, {"bf16", paper::SpillCost::kBf16}, {"free", paper::SpillCost::kFree}}));
  app.add_option("--batch", batch, "in place of the files'");
  CLI11_PARSE(app, argc, argv);

  std::vector<paper::Policy> chosen;
  for (const std::string &p : policies.empty() ? std::vector<std::string>{"near"} : policies) {
    if (p == "near" || p == "all") {
      const auto &more = p == "near" ? paper::policies_near_default() : paper::all_policies();
      chosen.insert(chosen.end(), more.begin(), more.end());
    } else {
      chosen.push_back(paper::parse_policy(p));
    }
  }
  const Machine npu = load_machine(npu_file);
  fmt::print("{:42} {:14} {:>12}", "policy", "network", "Mcycles");
  for (std::size_t c = kInterleave; c < kColumns; ++c)
    fmt::print(" {:>10}", kTitles[c]);
  fmt::print(" {:>10} {:>10} {:>10}\n", "forward", "dy/read", "dy/all");
  for (const paper::Policy &policy : chosen) {
    std::array<double, kColumns> mean{};
    for (const std::string &file : files) {
      const compiler::Network network = compiler::load_network(file, batch);
      std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, bool>, Totals> known;
      Totals total;
      for (const Layer &layer : network.layers) {
        const auto key = std::make_tuple(layer.m, layer.k, layer.n, layer.groups, layer.dx);
        auto it = known.find(key);
        if (it == known.end()) it = known.emplace(key, LayerStudy(layer, npu, policy, spill).run(parts)).first;
        total.add(it->second);
      }
      print(to_string(policy), network.name, total);
      for (std::size_t c = 0; c < kColumns; ++c)
        mean[c] += total.ratio(static_cast<Column>(c)) / static_cast<double>(files.size());
    }
    if (files.size() < 2) continue;
    fmt::print("{:42} {:14} {:>12}", to_string(policy), "mean", "");
    for (std::size_t c = kInterleave; c < kColumns; ++c)
      fmt::print(" {:10.3f}", mean[c]);
    fmt::print("\n");
    std::fflush(stdout);
  }
  return 0;
}

} // namespace
} // namespace gradweave

int main(int argc, char **argv) {
  try {
    return gradweave::run(argc, argv);
  } catch (const std::exception &e) {
    std::cerr << "paper_study: " << e.what() << "\n";
    return 1;
  }
}
