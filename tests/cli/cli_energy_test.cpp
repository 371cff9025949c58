// Energies on the command line: what simulate, cosim, sweep and search say of them, and what they are told.
#include "tests/cli/command_line.hpp"

#include <nlohmann/json.hpp>

namespace gradweave::test {
namespace {

using Json = nlohmann::json;

class CliEnergy : public CommandLineTest {
protected:
  CliEnergy() { write("t.csv", kLayers); }

  /// The report of a run on test8.
  Json report(const std::string &command, const std::vector<std::string> &more) const {
    std::vector<std::string> arguments{command, "--model", "t.csv", "--npu", "test8", "--json", "r.json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const CommandResult r = run(arguments);
    EXPECT_EQ(r.code, 0) << r.out << r.err;
    return Json::parse(read_file(work() / "r.json"));
  }
  static double total(const Json &report) { return report.at("totals")[0].at("energy").at("total_pj").get<double>(); }

  void expect_refused(std::vector<std::string> more, int code, const std::string &part) const {
    more.insert(more.begin(), {"simulate", "--model", "t.csv", "--npu", "test8"});
    const CommandResult r = run(more);
    EXPECT_EQ(r.code, code) << r.out;
    EXPECT_NE(r.err.find(part), std::string::npos) << r.err;
  }
};

TEST_F(CliEnergy, ReportsHaveCountsTheirPricesAndTheSum) {
  const Json all = report("simulate", {"--pass", "both"});
  double sum = 0;
  for (const Json &layer : all.at("layers")) {
    const Json &energy = layer.at("energy"), &accesses = layer.at("accesses"), &prices = all.at("npu").at("energy");
    sum += energy.at("total_pj").get<double>();
    EXPECT_EQ(accesses.at("macs"), layer.at("macs"));
    EXPECT_EQ(accesses.at("load_write_bytes"), layer.at("counters").at("READ_BYTES"));
    EXPECT_DOUBLE_EQ(energy.at("dram_pj").get<double>(),
                     (accesses.at("dram_read_bytes").get<double>() + accesses.at("dram_write_bytes").get<double>()) *
                         prices.at("dram_pj_per_byte").get<double>());
    EXPECT_DOUBLE_EQ(energy.at("mean_watts").get<double>(),
                     energy.at("total_pj").get<double>() / layer.at("cycles").get<double>() / 1000);
  }
  EXPECT_NEAR(total(all), sum, 1e-9 * sum);
  const Json functional = report("cosim", {"--pass", "both", "--backend", "functional"});
  for (std::size_t i = 0; i < all.at("layers").size(); ++i)
    EXPECT_EQ(functional.at("layers")[i].at("accesses"), all.at("layers")[i].at("accesses"));
  EXPECT_DOUBLE_EQ(total(functional), total(all)) << "no static power: time does not matter";
  EXPECT_NE(run({"simulate", "--model", "t.csv", "--npu", "test8"}).out.find("energy     % of"), std::string::npos);
}

TEST_F(CliEnergy, PricesCanBeSet) {
  const double usual = total(report("simulate", {}));
  const Json other = report("simulate", {"--set", "energy.dram_pj_per_byte=0", "--set", "energy.static_mw=5"});
  EXPECT_LT(total(other), usual);
  EXPECT_EQ(other.at("totals")[0].at("energy").at("dram_pj"), 0.0);
  EXPECT_EQ(other.at("totals")[0].at("energy").at("static_pj"), 5 * other.at("totals")[0].at("cycles").get<double>());
  EXPECT_EQ(other.at("npu").at("name"), "test8");
  expect_refused({"--set", "energy.add_pj=-1"}, 3, "--set energy.add_pj=-1: add_pj = -1 is out of range");
  expect_refused({"--set", "energy.joule=1"}, 3, "unknown key 'joule' in [energy]");
}

TEST_F(CliEnergy, AccelergyGetsCountsAndPrices) {
  const Json all = report("simulate", {"--accelergy", "counts.yaml"});
  const std::string counts = read_file(work() / "counts.yaml"), prices = read_file(work() / "counts.ert.yaml");
  std::uint64_t macs = 0;
  for (const Json &layer : all.at("layers"))
    macs += layer.at("accesses").at("macs").get<std::uint64_t>();
  EXPECT_NE(counts.find("- name: mac_random\n              counts: " + std::to_string(macs) + '\n'), std::string::npos)
      << counts;
  EXPECT_NE(prices.find("energy: 1300\n"), std::string::npos) << prices;
  expect_refused({"--accelergy", "counts.txt"}, 2, "--accelergy counts.txt: ");
  expect_refused({"--accelergy", "c.yaml", "--schedule", "all"}, 2, "pick one with --schedule");
  expect_refused({"--accelergy", "none/c.yaml"}, 5, "none/c.yaml");
}

TEST_F(CliEnergy, SearchesMinimiseWhatTheyAreTold) {
  const std::vector<std::string> dear{
      "--set", "energy.dram_pj_per_byte=5000", "--set", "memory.bandwidth_gb_s=1000", "--schedule", "search"};
  std::vector<std::string> frugal = dear;
  frugal.insert(frugal.end(), {"--objective", "energy"});
  const Json fast = report("simulate", dear), less = report("simulate", frugal);
  EXPECT_LT(total(less), total(fast));
  EXPECT_GT(less.at("totals")[0].at("cycles"), fast.at("totals")[0].at("cycles"));
  EXPECT_NE(less.at("reproduce").get<std::string>().find("--objective energy"), std::string::npos);
  expect_refused({"--objective", "power"}, 2, "unknown objective 'power'; use one of: cycles, energy, edp");
}

TEST_F(CliEnergy, SearchOfAStepToo) {
  const auto search = [&](const std::string &objective) {
    const CommandResult r = run({"search", "--model", "t.csv", "--npu", "test8", "--plans", "10", "--step-plans", "10",
                                 "--objective", objective, "--quiet", "--json", "s.json"});
    EXPECT_EQ(r.code, 0) << r.out << r.err;
    return Json::parse(read_file(work() / "s.json"));
  };
  const Json cycles = search("cycles"), energy = search("energy"), edp = search("edp");
  EXPECT_EQ(cycles.at("step_cost"), cycles.at("step_cycles"));
  EXPECT_EQ(energy.at("cost_unit"), "pJ");
  EXPECT_NEAR(energy.at("step_cost").get<double>(), energy.at("step_energy").at("total_pj").get<double>(), 0.5);
  EXPECT_LE(energy.at("step_energy").at("total_pj"), cycles.at("step_energy").at("total_pj"));
  EXPECT_NEAR(edp.at("step_cost").get<double>(),
              edp.at("step_energy").at("total_pj").get<double>() * edp.at("step_cycles").get<double>() / 1000, 0.5);
  EXPECT_TRUE(energy.contains("paper_cost") && !energy.contains("paper_cycles"));
  const CommandResult again = run({"search", "--model", "t.csv", "--objective", "energy", "--weave-again"});
  EXPECT_EQ(again.code, 2);
  EXPECT_NE(again.err.find("--weave-again: goes with --start reuse and --objective cycles"), std::string::npos)
      << again.err;
  const CommandResult wrong = run({"search", "--model", "t.csv", "--npu", "test8", "--objective", "power"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("--objective: unknown objective 'power'; use one of: cycles, energy, edp"),
            std::string::npos)
      << wrong.err;
}

TEST_F(CliEnergy, SweepsHaveItForFronts) {
  const CommandResult r = run({"sweep", "--model", "t.csv", "--npu", "test8", "--set", "energy.dram_pj_per_byte=10,20",
                               "--by", "energy_mj", "--csv", "s.csv", "--quiet"});
  ASSERT_EQ(r.code, 0) << r.out << r.err;
  EXPECT_NE(r.out.find("1 of 2 points that no other one beats in energy_mj"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("energy.dram_pj_per_byte=10"), std::string::npos) << r.out;
  EXPECT_NE(read_file(work() / "s.csv").find("energy_mj,edp_mj_ms,mean_watts"), std::string::npos);
  const CommandResult wrong = run({"sweep", "--model", "t.csv", "--by", "joule"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("'joule' is no column; use some of: milliseconds, cycles"), std::string::npos) << wrong.err;
}

} // namespace
} // namespace gradweave::test
