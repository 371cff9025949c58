// What goes over the pipe comes back the same.
#include "runtime/record/result_json.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <stdexcept>

namespace gradweave::runtime {
namespace {

JobResult sample() {
  JobResult r;
  r.layers = {{"fc", 20, 30, 40, false, 7, 6}};
  r.requested = compiler::Schedule::kRearrange;
  r.chosen = compiler::Schedule::kDwMajor;
  r.tilings = {"tiles"};
  r.commands = 11;
  r.macs = 1ULL << 40U;
  r.compute_cycles = 12;
  r.predicted_cycles = 13;
  r.bounds = {14, 15};
  r.tuning = {16, 17, 18, 19, 0.75};
  r.traffic.emplace_back()[2] = {1, 2, 3, 4, 5, 6};
  for (std::size_t i = 0; i < r.counters.values.size(); ++i)
    r.counters.values[i] = 100 + i;
  std::uint64_t count = 200;
  for (const AccessCountForm &form : access_count_forms())
    r.accesses.*form.count = ++count;
  r.compile_seconds = 0.75;
  r.wall_seconds = 0.5;
  r.cpu_seconds = 0.25;
  r.process_seconds = 1.25;
  r.outputs = {{compiler::Tensor::kDW, 0, 1200, 3, 1100, 0xfedcba9876543210U, 1201}};
  r.outcome = Outcome::kMismatch;
  r.failures = {"first", "second"};
  r.trace = "x.fst";
  r.times_file = "x.csv";
  r.timeline_file = "x.json";
  r.sketch = timeline::Sketch{90, 4, 2, {{"load", {"X", "W"}, {{3, 9, 1, 2}, {20, 90, 0, 2}}}}, 64, 32, {5, 64, 0}};
  r.kept_since = "2024-02-29 12:34:56 UTC";
  return r;
}

TEST(ResultJson, RoundTripKeepsEveryLayerOfAStep) {
  JobResult r = sample();
  r.layers.push_back({"fc2", 20, 40, 50, true, 8, 1});
  r.tilings.emplace_back("others");
  r.traffic.emplace_back()[3] = {6, 5, 4, 3, 2, 1};
  r.outputs.push_back({compiler::Tensor::kY, 1, 1000, 0, 1000, 5, 0});
  const nlohmann::ordered_json json = to_json(r);
  EXPECT_EQ(json["layers"][1]["name"], "fc2");
  EXPECT_EQ(json.count("name"), 0U) << "the step has no name of its own";
  const JobResult back = result_from_json(json);
  EXPECT_EQ(to_json(back), json);
  EXPECT_EQ(back.layers.size(), 2U);
  EXPECT_EQ(back.tilings, r.tilings);
  EXPECT_EQ(back.traffic[1][3].spill_write_bytes, 1U);
  EXPECT_EQ(back.outputs[1].layer, 1U);
}

TEST(ResultJson, RoundTripKeepsEveryField) {
  const nlohmann::ordered_json json = to_json(sample());
  EXPECT_EQ(to_json(result_from_json(nlohmann::ordered_json::parse(json.dump()))), json);
  EXPECT_EQ(result_from_json(json).outputs.front().hash, 0xfedcba9876543210U);
}

TEST(ResultJson, EveryOutcomeHasAName) {
  for (const Outcome outcome : {Outcome::kPass, Outcome::kMismatch, Outcome::kDevice, Outcome::kUnavailable,
                                Outcome::kOutput, Outcome::kBadInput}) {
    JobResult r = sample();
    r.outcome = outcome;
    EXPECT_EQ(result_from_json(to_json(r)).outcome, outcome);
  }
}

TEST(ResultJson, RefusesWhatIsMissingOrUnknown) {
  nlohmann::ordered_json json = to_json(sample());
  json.erase("macs");
  EXPECT_ANY_THROW(result_from_json(json));
  json = to_json(sample());
  for (const char *hash : {"", "12 ", "-1", "12345678901234567"}) {
    json = to_json(sample());
    json["outputs"][0]["hash"] = hash;
    EXPECT_THROW(result_from_json(json), std::invalid_argument) << hash;
  }
  for (const nlohmann::ordered_json &number :
       {nlohmann::ordered_json(-1), nlohmann::ordered_json(0.5), nlohmann::ordered_json(1e99)}) {
    json = to_json(sample());
    json["macs"] = number;
    EXPECT_THROW(result_from_json(json), std::invalid_argument) << number;
  }
  json = to_json(sample());
  json["outcome"] = "perhaps";
  EXPECT_ANY_THROW(result_from_json(json));
}

} // namespace
} // namespace gradweave::runtime
