// What the compiler makes of many layers, against what it made before. Correct streams are many; a change of
// heuristics, estimates or bounds that no other test can call wrong shows here, as a line that is to be accepted or
// not:
//   GW_ACCEPT=1 build/tests/compiler/kept_streams_test
// from the top of the tree writes tests/compiler/kept_streams/*.txt, whose difference is then there to be read.
#include "compiler/back/compile_plan.hpp"
#include "compiler/schedule/step/step_search.hpp"
#include "tests/compiler/layer_run.hpp"
#include "tests/compiler/paper_run.hpp"

#include <zlib.h>

#include <cstdlib>
#include <fstream>
#include <functional>

namespace gradweave::compiler {
namespace {

constexpr std::size_t kShown = 10;

using Lines = std::vector<std::string>;
using Take = std::function<void(const std::string &)>;

/// Thrown by Take: no more lines are wanted.
struct Enough {};

unsigned long checksum(const std::vector<isa::Command> &stream) {
  unsigned long sum = crc32(0, nullptr, 0);
  for (const isa::Command &c : stream)
    sum = crc32(sum, reinterpret_cast<const Bytef *>(c.words.data()), sizeof c.words);
  return sum;
}

std::string line_of(const std::string &what, const Compiled &c) {
  std::uint64_t spilled = 0, moved = 0;
  for (const Traffic &t : c.traffic.front()) {
    moved += t.read_bus_bytes + t.write_bus_bytes;
    spilled += t.spill_read_bytes + t.spill_write_bytes;
  }
  return fmt::format(
      "{}: {} cycles, {} commands {:08x}, {} bytes, {} spilled, memory {}, array {}, bounds {} {} {} {}, {}", what,
      c.predicted_cycles, c.stream.size(), checksum(c.stream), moved, spilled, c.dram_bytes, c.compute_cycles,
      c.bounds.compute_cycles, c.bounds.traffic_cycles, c.bounds.io_cycles, c.bounds.run_cycles, c.tilings.front());
}

std::string line(const Machine &npu, const Layer &layer, CompileOptions options, const char *note = "") {
  options.plans = 40;
  return line_of(fmt::format("{} {}{}{}{} {} {}{}", npu.name, layer.name,
                             layer.groups > 1 ? fmt::format(" groups {}", layer.groups) : "",
                             layer.dx ? layer.dx_fp32 ? " fp32 dX" : "" : " no dX", layer.y_fp32 ? " fp32 Y" : "",
                             to_string(options.schedule), to_string(options.pass), note),
                 compile_known(layer, npu, options));
}

std::vector<Layer> layers() {
  std::vector<Layer> list{make_layer(17, 33, 29),  make_layer(64, 24, 40),       make_layer(1, 50, 7),
                          make_layer(45, 1, 90),   make_layer(7, 200, 150),      make_layer(100, 100, 100),
                          make_layer(400, 20, 30), make_layer(33, 41, 27, false)};
  Layer grouped = make_layer(20, 9, 8);
  grouped.groups = 6;
  list.push_back(grouped);
  return list;
}

std::vector<Layer> some_layers() {
  const std::vector<Layer> all = layers();
  return {all[0], all[3], all[5], all[8]};
}

void orders(const Take &take) {
  for (const char *name : {"test8", "test6x10"}) {
    const Machine npu = load_config(name);
    for (const Layer &layer : layers()) {
      for (const Schedule s : {Schedule::kSequential, Schedule::kInterleave, Schedule::kDxMajor, Schedule::kDwMajor,
                               Schedule::kRearrange, Schedule::kSearch})
        take(line(npu, layer, {s, Pass::kBackward}));
      take(line(npu, layer, {Schedule::kSequential, Pass::kForward}));
      take(line(npu, layer, {Schedule::kIdeal, Pass::kBoth}));
    }
  }
}

void fp32_sums(const Take &take) {
  for (const char *name : {"test8", "test6x10"})
    for (Layer layer : some_layers())
      for (const Schedule s : {Schedule::kSequential, Schedule::kInterleave, Schedule::kDxMajor, Schedule::kDwMajor,
                               Schedule::kRearrange}) {
        layer.y_fp32 = true;
        layer.dx_fp32 = s != Schedule::kDxMajor;
        take(line(load_config(name), layer, {s, Pass::kBoth}));
      }
}

void partitions(const Take &take) {
  for (const char *name : {"test8", "test8c2", "test6x10c3"}) {
    const Machine npu = load_config(name);
    for (const Layer &layer : some_layers())
      for (const Partition p : {Partition::kWeightSharing, Partition::kDySharing, Partition::kIfmapSharing})
        for (const Reduction r : {Reduction::kChain, Reduction::kAdd}) {
          CompileOptions options{Schedule::kRearrange, Pass::kBoth};
          options.partition = p;
          options.reduction = r;
          take(line(npu, layer, options, fmt::format(" {} {}", to_string(p), to_string(r)).c_str()));
        }
  }
}

/// Those that search nothing.
void schedulers_without_search(const Take &take) {
  for (const char *name : {"test8", "test6x10", "test8c2"}) {
    const Machine npu = load_config(name);
    for (const Schedule s : {Schedule("in_order"), Schedule("igo_paper")})
      for (const Layer &layer : layers())
        for (const Partition p : {Partition::kNone, Partition::kWeightSharing}) {
          CompileOptions options{s, Pass::kBoth};
          options.partition = p;
          take(line(npu, layer, options, fmt::format(" {}", to_string(p)).c_str()));
        }
  }
}

void paper_policies(const Take &take) {
  for (const char *name : {"test8", "small"}) {
    const Machine npu = load_config(name);
    for (const Layer &layer : {make_layer(100, 100, 100), make_layer(40, 300, 90)})
      for (const paper::Policy &policy : paper::policies_near_default())
        for (const Schedule s :
             {Schedule::kSequential, Schedule::kInterleave, Schedule::kDxMajor, Schedule::kDwMajor}) {
          paper::PaperOptions options;
          options.policy = policy;
          options.schedule = s;
          options.pass = Pass::kBoth;
          const std::string what =
              fmt::format("{} {} paper {} {}", npu.name, layer.name, to_string(policy), to_string(s));
          take(line_of(what, compile_paper_layer(layer, npu, options)));
        }
  }
}

void steps(const Take &take) {
  for (const char *name : {"test8", "test6x10"}) {
    const Machine npu = load_config(name);
    const std::vector<Layer> network{make_layer(20, 30, 40, false), make_layer(20, 40, 25), make_layer(20, 25, 40)};
    for (const Pass pass : {Pass::kBackward, Pass::kBoth}) {
      StepOptions options;
      options.pass = pass;
      options.layer_plans = 20;
      options.step_plans = 30;
      const SearchedStep found = search_step(network, npu, options);
      const Compiled step = compile_plans(network, pass, found.plans, npu);
      const std::string text = fmt::format(
          "{} step {}: {} cycles, {} first, {} apart, {} commands {:08x}, bounds {} {} {}", npu.name, to_string(pass),
          step.predicted_cycles, found.first_cost, found.apart_cost, step.stream.size(), checksum(step.stream),
          step.bounds.compute_cycles, step.bounds.traffic_cycles, step.bounds.run_cycles);
      take(text);
    }
  }
}

struct Part {
  const char *name;
  void (*make)(const Take &);
};

void PrintTo(const Part &part, std::ostream *out) { *out << part.name; }

std::string file_of(const Part &part) { return fmt::format("tests/compiler/kept_streams/{}.txt", part.name); }

Lines kept(const Part &part) {
  Lines lines;
  std::ifstream in(file_of(part));
  for (std::string text; std::getline(in, text);)
    lines.push_back(text);
  return lines;
}

/// The lines that differ, as people read them.
std::string difference(const Lines &before, const Lines &now) {
  std::string text;
  std::size_t shown = 0, differing = before.size() > now.size() ? before.size() - now.size() : 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (i < before.size() && before[i] == now[i]) continue;
    ++differing;
    if (shown++ < kShown) text += fmt::format("- {}\n+ {}\n", i < before.size() ? before[i] : "", now[i]);
  }
  return differing == 0 ? "" : fmt::format("{}{} of {} lines differ\n", text, differing, now.size());
}

class KeptStreamsOf : public testing::TestWithParam<Part> {};

TEST_P(KeptStreamsOf, AreMadeAgain) {
  Lines before = kept(GetParam()), now;
  try {
    GetParam().make([&](const std::string &text) {
      now.push_back(text);
      const bool same = now.size() <= before.size() && text == before[now.size() - 1];
      if (GTEST_FLAG_GET(fail_fast) && !same) throw Enough{};
    });
  } catch (const Enough &) {
    before.resize(now.size());
  }
  const std::string different = difference(before, now);
  if (std::getenv("GW_ACCEPT") != nullptr) {
    std::ofstream out(file_of(GetParam()));
    for (const std::string &text : now)
      out << text << '\n';
    fmt::print("{}accepted: {}\n", different, file_of(GetParam()));
    return;
  }
  EXPECT_EQ(different, "") << "if that is meant: GW_ACCEPT=1 build/tests/compiler/kept_streams_test";
}

INSTANTIATE_TEST_SUITE_P(Parts, KeptStreamsOf,
                         testing::Values(Part{"orders", orders}, Part{"fp32", fp32_sums},
                                         Part{"partitions", partitions}, Part{"paper", paper_policies},
                                         Part{"steps", steps}, Part{"without_search", schedulers_without_search}),
                         [](const auto &param_info) { return std::string(param_info.param.name); });

TEST(KeptStreams, ALineThatDiffersOrIsMissingIsTold) {
  EXPECT_EQ(difference({"a", "b"}, {"a", "b"}), "");
  EXPECT_EQ(difference({"a", "b"}, {"a", "c"}), "- b\n+ c\n1 of 2 lines differ\n");
  EXPECT_EQ(difference({"a"}, {"a", "c"}), "- \n+ c\n1 of 2 lines differ\n");
  EXPECT_EQ(difference({"a", "b"}, {"a"}), "1 of 1 lines differ\n");
}

} // namespace
} // namespace gradweave::compiler
