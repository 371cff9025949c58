// The key of a job depends on everything that its result does, and on nothing else.
#include "runtime/record/job_key.hpp"
#include "runtime/run/lookup.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace gradweave::runtime {
namespace {

JobSpec example_job() {
  JobSpec spec;
  spec.network = "net";
  spec.layers = {{"fc", 20, 30, 40}};
  spec.npu = load_machine(find_npu("test8"));
  return spec;
}

TEST(JobKey, DependsOnAllThatAResultDependsOn) {
  std::set<std::string> keys{job_key(example_job())};
  const auto differs = [&](const char *what, const std::function<void(JobSpec &)> &change) {
    JobSpec spec = example_job();
    change(spec);
    EXPECT_TRUE(keys.insert(job_key(spec)).second) << what;
  };
  differs("network", [](JobSpec &s) { s.network = "another"; });
  differs("layer", [](JobSpec &s) { s.layers[0].m = 21; });
  differs("its name, from which its data come", [](JobSpec &s) { s.layers[0].name = "fc2"; });
  differs("its convolution", [](JobSpec &s) { s.layers[0].conv = Convolution{}; });
  differs("another one", [](JobSpec &s) {
    s.layers[0].conv = Convolution{};
    s.layers[0].conv->pad_left = 1;
  });
  differs("whose weights it has", [](JobSpec &s) { s.layers[0].weights = "fc1"; });
  differs("another layer in its stream", [](JobSpec &s) { s.layers.push_back({"fc2", 20, 40, 30}); });
  differs("that reads the first", [](JobSpec &s) {
    s.layers.push_back({"fc2", 20, 40, 30});
    s.layers[1].input = "fc";
  });
  differs("NPU", [](JobSpec &s) { s.npu.queue_depth = 3; });
  differs("its memory", [](JobSpec &s) { s.npu.memory.latency_cycles += 1; });
  differs("its name", [](JobSpec &s) { s.npu.name = "another"; });
  differs("schedule", [](JobSpec &s) { s.compile.schedule = compiler::Schedule::kSequential; });
  differs("pass", [](JobSpec &s) { s.compile.pass = compiler::Pass::kBoth; });
  differs("tuning", [](JobSpec &s) { s.compile.tune = 7; });
  differs("plans", [](JobSpec &s) { s.compile.plans = 7; });
  differs("partition", [](JobSpec &s) { s.compile.partition = compiler::Partition::kDySharing; });
  differs("parts", [](JobSpec &s) { s.compile.parts = 7; });
  differs("reduction", [](JobSpec &s) { s.compile.reduction = compiler::Reduction::kAdd; });
  differs("sharing", [](JobSpec &s) { s.compile.sharing = compiler::Sharing::kTurns; });
  differs("seed of the search", [](JobSpec &s) { s.compile.search_seed = 7; });
  differs("what the search minimises", [](JobSpec &s) { s.compile.objective = compiler::Objective::kEnergy; });
  differs("energies, if it minimises them", [](JobSpec &s) {
    s.compile.objective = compiler::Objective::kEnergy;
    s.npu.energy.dram_pj_per_byte += 1;
  });
  differs("flexer's policy",
          [](JobSpec &s) { s.compile.flexer_policy = compiler::flexer::parse_policy("priority=min_transfer"); });
  differs("no stream", [](JobSpec &s) { s.compile.stream = false; });
  differs("policy", [](JobSpec &s) { s.paper.emplace(); });
  differs("another policy", [](JobSpec &s) { s.paper = compiler::paper::parse_policy("array2"); });
  differs("what computes it", [](JobSpec &s) { s.layers.front().vector = true; });
  differs("backend", [](JobSpec &s) { s.backend = Backend::kFunctional; });
  differs("data", [](JobSpec &s) { s.data = DataKind::kSpecial; });
  differs("seed", [](JobSpec &s) { s.seed = 2; });
  differs("stalls", [](JobSpec &s) { s.device.stress.stall_probability = 0.5; });
  differs("their seed", [](JobSpec &s) { s.device.stress.seed = 7; });
  differs("a fault", [](JobSpec &s) { s.device.faults = {{BusFault::Kind::kSlvErr, false, 64, 1}}; });
  differs("another fault", [](JobSpec &s) { s.device.faults = {{BusFault::Kind::kHang, false, 64, 1}}; });
  differs("a fault of writes", [](JobSpec &s) { s.device.faults = {{BusFault::Kind::kSlvErr, true, 64, 1}}; });
  differs("a fault elsewhere", [](JobSpec &s) { s.device.faults = {{BusFault::Kind::kSlvErr, false, 65, 1}}; });
  differs("a longer fault", [](JobSpec &s) { s.device.faults = {{BusFault::Kind::kSlvErr, false, 64, 2}}; });
  differs("no watchdog", [](JobSpec &s) { s.device.watchdog_cycles = 0; });
  differs("place of the stream", [](JobSpec &s) { s.device.stream_offset = 64; });
}

TEST(JobKey, DoesNotDependOnWhatARunLeavesBehind) {
  JobSpec spec = example_job();
  spec.times_file = "times";
  spec.timeline_file = "timeline";
  spec.sketch_bars = 7;
  spec.device.trace.file = "trace";
  spec.layers[0].index = 7;
  spec.layers[0].input = "elsewhere";
  spec.compile.progress = [](std::uint64_t, std::uint64_t) {};
  EXPECT_EQ(job_key(spec), job_key(example_job()));
}

} // namespace
} // namespace gradweave::runtime
