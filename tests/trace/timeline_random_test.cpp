// Timelines of random streams and of compiled layers, timed by the model, against the definitions of docs/timeline.md
// evaluated the slow way: row by row and command by command.
#include "app/validate/corpus/random_stream.hpp"
#include "compiler/compiler.hpp"
#include "compiler/verify/verify_hazards.hpp"
#include "graph/frontend/load_network.hpp"
#include "sw_models/timing/timing_model.hpp"
#include "tests/cli/command_line.hpp"
#include "tests/trace/timeline_format.hpp"
#include "trace/timeline/timeline.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <variant>

namespace gradweave::runtime::timeline {
namespace {

using compiler::SpmView;
using test::TraceProcess;

struct Accesses {
  std::vector<SpmView> reads, writes;
};

Accesses accesses(const isa::Decoded &command) {
  Accesses found;
  if (const auto *dma = std::get_if<isa::DmaCommand>(&command.op)) {
    (dma->store ? found.reads : found.writes).push_back(compiler::view_of(*dma));
  } else if (const auto *gemm = std::get_if<isa::GemmCommand>(&command.op)) {
    const compiler::GemmViews views(*gemm);
    found.reads = {views.a, views.b};
    if (gemm->acc) found.reads.push_back(views.cin);
    found.writes = {views.cout};
  } else if (const auto *conv = std::get_if<isa::ConvCommand>(&command.op)) {
    const isa::GemmCommand &g = conv->product;
    const compiler::GemmViews views(g);
    SpmView image = views.a; // all rows that the taps, one by one, move it over
    const isa::RowSpan span = isa::tap_span(conv->image);
    image.place.row = static_cast<std::uint32_t>(image.place.row + span.lo);
    image.rows += static_cast<std::uint32_t>(span.hi - span.lo);
    found.reads = {image, {g.b, conv->b_rows(), g.b_col ? g.k : g.n, false}};
    if (g.acc) found.reads.push_back(views.cin);
    found.writes = {views.cout};
  } else if (const auto *add = std::get_if<isa::AddCommand>(&command.op)) {
    const compiler::AddViews views(*add);
    found.reads = {views.a, views.cin};
    found.writes = {views.cout};
  }
  return found;
}

struct Life {
  std::uint64_t begin = 0, end = 0;
};

/// The lives of all contents of each row.
std::vector<std::vector<Life>> row_lives(const Machine &npu, const std::vector<isa::Command> &stream,
                                         const std::vector<timing::CommandTimes> &times) {
  std::vector<std::vector<Life>> lives(npu.spm_rows());
  for (std::size_t i = 0; i < stream.size(); ++i) {
    const Accesses found = accesses(*isa::decode(stream[i]));
    for (const SpmView &view : found.reads)
      view.for_rows(npu.lanes(), [&](std::uint32_t row) {
        if (!lives[row].empty()) lives[row].back().end = std::max(lives[row].back().end, times[i].done + 1);
      });
    for (const SpmView &view : found.writes)
      view.for_rows(npu.lanes(), [&](std::uint32_t row) { lives[row].push_back({times[i].start, times[i].done + 1}); });
  }
  return lives;
}

class TimelineOfRuns : public test::CommandLineTest {
protected:
  void check(const Machine &npu, const std::vector<isa::Command> &stream) {
    const timing::RunResult result = timing::run(npu, stream);
    ASSERT_TRUE(result.ok()) << isa::kErrorNames[static_cast<std::size_t>(result.error)];
    OutputFile output(work() / "t.json");
    Timeline timeline(output, Compression::kNone, npu, "t");
    const auto label = [&](std::size_t i) { return label_command("l", stream[i]); };
    timeline.add(Source::kModel, {"l", npu, stream, result.commands, result.cycles(), label}, 0);
    timeline.commit();
    const test::Trace trace = test::read_timeline(test::read_file(work() / "t.json"));
    ASSERT_EQ(trace.problems, std::vector<std::string>{});
    const TraceProcess &drawn = trace.processes.at("timing model: t");
    check_slices(stream, result.commands, drawn);
    check_waits(stream, result.commands, drawn);
    check_banks(npu, stream, result.commands, drawn);
    check_semaphores(stream, result, drawn);
    for (const char *queue : {"load queue", "store queue", "array queue"})
      for (const auto &[time, value] : drawn.counters.at(queue))
        ASSERT_LE(value, npu.queue_depth) << queue << " at " << time;
  }

private:
  /// Every command is there once, from start to done.
  static void check_slices(const std::vector<isa::Command> &stream, const std::vector<timing::CommandTimes> &times,
                           const TraceProcess &drawn) {
    std::vector<int> seen(stream.size(), 0);
    for (const auto &[row, slices] : drawn.rows)
      for (const test::TraceSlice &slice : slices) {
        if (slice.category == "wait" || slice.category == "layer") continue;
        const std::size_t i = slice.args.at("index");
        ++seen.at(i);
        ASSERT_EQ(slice.begin, times[i].start) << i;
        ASSERT_EQ(slice.end, times[i].done + 1) << i;
        ASSERT_EQ(slice.args.at("issue"), times[i].issue) << i;
        ASSERT_EQ(slice.name, label_command("l", stream[i]).text());
        ASSERT_EQ(row.substr(0, row.find('/')), slice.category == "compute0" ? "array" : slice.category);
      }
    EXPECT_EQ(seen, std::vector<int>(stream.size(), 1));
  }

  /// The bars of a queue's row cover exactly the cycles in which it has a head that does not start.
  static void check_waits(const std::vector<isa::Command> &stream, const std::vector<timing::CommandTimes> &times,
                          const TraceProcess &drawn) {
    const char *const queues[] = {"load/queue", "store/queue", "array/queue"};
    std::array<std::uint64_t, 3> expected{}, head{};
    for (std::size_t i = 0; i < stream.size(); ++i) {
      const std::uint8_t engine = isa::decode(stream[i])->engine();
      expected.at(engine) += times[i].start - std::max(times[i].issue + 1, head.at(engine));
      head.at(engine) = times[i].start + 1;
    }
    for (std::size_t e = 0; e < expected.size(); ++e) {
      std::uint64_t covered = 0;
      if (const auto at = drawn.rows.find(queues[e]); at != drawn.rows.end())
        for (const test::TraceSlice &slice : at->second)
          covered += slice.end - slice.begin;
      EXPECT_EQ(covered, expected[e]) << queues[e];
    }
  }

  static void check_banks(const Machine &npu, const std::vector<isa::Command> &stream,
                          const std::vector<timing::CommandTimes> &times, const TraceProcess &drawn) {
    const auto lives = row_lives(npu, stream, times);
    for (std::uint32_t bank = 0; bank < npu.spm_banks; ++bank) {
      const std::string name = fmt::format(npu.spm_banks > 10 ? "bank {:02}" : "bank {}", bank);
      std::set<std::uint64_t> moments{0};
      for (std::uint32_t row = bank * npu.bank_rows(); row < (bank + 1) * npu.bank_rows(); ++row)
        for (const Life &life : lives[row])
          moments.insert({life.begin, life.end - 1, life.end});
      const auto &samples = drawn.counters.at(name);
      auto next = samples.begin();
      std::int64_t value = 0;
      for (const std::uint64_t moment : moments) {
        for (; next != samples.end() && next->first <= moment; ++next)
          value = next->second;
        std::int64_t occupied = 0;
        for (std::uint32_t row = bank * npu.bank_rows(); row < (bank + 1) * npu.bank_rows(); ++row)
          occupied += std::any_of(lives[row].begin(), lives[row].end(),
                                  [&](const Life &life) { return life.begin <= moment && moment < life.end; });
        ASSERT_EQ(value, occupied) << name << " at " << moment;
        ASSERT_LE(value, npu.bank_rows());
      }
    }
  }

  static void check_semaphores(const std::vector<isa::Command> &stream, const timing::RunResult &result,
                               const TraceProcess &drawn) {
    std::map<std::uint8_t, std::map<std::uint64_t, std::int64_t>> changes;
    for (std::size_t i = 0; i < stream.size(); ++i) {
      const isa::Decoded command = *isa::decode(stream[i]);
      for (const isa::Wait &w : command.sync.waits)
        if (w.semaphore != isa::kNoSemaphore) changes[w.semaphore][result.commands[i].start] -= w.count;
      for (const std::uint8_t p : command.sync.posts)
        if (p != isa::kNoSemaphore) ++changes[p][result.commands[i].done + 1];
    }
    std::size_t tracks = 0;
    for (const auto &[name, samples] : drawn.counters)
      tracks += name.rfind("semaphore ", 0) == 0 ? 1 : 0;
    EXPECT_EQ(tracks, changes.size()) << "only those in use";
    for (const auto &[semaphore, steps] : changes) {
      const std::string name = fmt::format("semaphore {:02}", semaphore);
      std::int64_t value = 0;
      for (const auto &[cycle, change] : steps) {
        value += change;
        ASSERT_EQ(drawn.value(name, cycle), value) << name << " at " << cycle;
      }
      EXPECT_EQ(drawn.counters.at(name).back().second, value) << "at the end";
    }
  }
};

TEST_F(TimelineOfRuns, RandomStreams) {
  for (const char *name : {"test8", "test6x10", "test13x7"})
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      SCOPED_TRACE(fmt::format("{}, seed {}", name, seed));
      const Machine npu = load_machine("configs/" + std::string(name) + ".toml");
      corpus::RandomStreamOptions options;
      options.seed = seed;
      check(npu, corpus::make_random_stream(npu, options).commands);
      if (HasFatalFailure()) return;
    }
}

TEST_F(TimelineOfRuns, Compileds) {
  const Machine npu = load_machine("configs/small.toml");
  const compiler::Network network = compiler::load_network("models/bert_tiny.graph");
  for (const compiler::Schedule schedule : compiler::all_schedules())
    for (const char *layer : {"encoder0.query", "pooler"}) {
      SCOPED_TRACE(fmt::format("{} {}", layer, compiler::to_string(schedule)));
      for (const compiler::Layer &l : network.layers)
        if (l.name == layer) check(npu, compiler::compile({l}, npu, {schedule}).stream);
      if (HasFatalFailure()) return;
    }
}

} // namespace
} // namespace gradweave::runtime::timeline
