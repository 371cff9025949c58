// Energies as people, programs and Accelergy read them.
#include "app/report/energy/accelergy.hpp"
#include "app/report/energy/energy_report.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>
#include <stdexcept>
#include <string>

namespace gradweave::report {
namespace {

Machine machine() {
  Machine npu;
  npu.name = "test8";
  npu.rows = 8;
  npu.cols = 4;
  npu.cores = 2;
  npu.spm_bytes = 8192;
  npu.spm_banks = 4;
  npu.bus_bytes = 16;
  npu.clock_ghz = 2;
  return npu;
}

AccessCounts counts() {
  AccessCounts c;
  c.macs = 1000;
  c.idle_macs = 24;
  c.adds = 10;
  c.operand_read_bytes = 600;
  c.sum_read_bytes = 30;
  c.store_read_bytes = 10;
  c.result_write_bytes = 40;
  c.load_write_bytes = 61;
  c.bus_bytes = 160;
  c.dram_read_bytes = 120;
  c.dram_write_bytes = 44;
  return c;
}

// array 1000 x 2 + 10 x 0.9 = 2009; scratchpad 741 x 1.25 = 926.25; bus 160 x 4.4 = 704; DRAM 164 x 162.5 = 26650;
// 30289.25 in all. 2000 cycles at 2 GHz are 1 us.
TEST(EnergyReport, TableHasShares) {
  const std::string text = energy_table({{"search", counts(), 2000}}, machine());
  EXPECT_EQ(text, "energy     % of     array scratchpad     bus    DRAM  static    mJ in all        W       mJ ms\n"
                  "           search     6.6        3.1     2.3    88.0     0.0  3.02893e-05  0.03029  3.0289e-08\n");
}

TEST(EnergyReport, WithoutEnergyThereIsNoTable) {
  EXPECT_EQ(energy_table({{"search", {}, 0}}, machine()), "");
  EXPECT_EQ(energy_table({}, machine()), "");
}

TEST(EnergyReport, WithoutTimeThereIsNoPower) {
  const std::string text = energy_table({{"search", counts(), 0}}, machine());
  EXPECT_EQ(text.substr(text.rfind("3.0")), "3.02893e-05\n");
}

TEST(EnergyReport, JsonHasComponents) {
  Machine npu = machine();
  npu.energy.static_mw = 10;
  const auto json = energy_json(counts(), 2000, npu);
  EXPECT_EQ(json["array_pj"], 2009.0);
  EXPECT_EQ(json["scratchpad_pj"], 926.25);
  EXPECT_EQ(json["bus_pj"], 704.0);
  EXPECT_EQ(json["dram_pj"], 26650.0);
  EXPECT_EQ(json["static_pj"], 10000.0);
  EXPECT_EQ(json["total_pj"], 40289.25);
  EXPECT_DOUBLE_EQ(json["mean_watts"].get<double>(), 0.04028925);
  EXPECT_DOUBLE_EQ(json["energy_delay_joule_seconds"].get<double>(), 40289.25e-12 * 1e-6);
  const auto prices = prices_json(npu);
  EXPECT_EQ(prices.size(), energy_keys().size());
  EXPECT_EQ(prices["spm_read_pj_per_byte"], 1.25);
  EXPECT_EQ(prices["static_mw"], 10.0);
}

/// The values of the lines that begin with `key`, one after the other.
std::vector<double> values(const std::string &text, const std::string &key) {
  std::vector<double> all;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (const std::size_t at = line.find(key + ": "); at != std::string::npos)
      all.push_back(std::stod(line.substr(at + key.size() + 2)));
  return all;
}

/// What Accelergy does with both files: the sum of counts times prices, action by action.
TEST(Accelergy, CountsTimesPricesAreTheEnergy) {
  for (const double static_mw : {0.0, 10.0}) {
    Machine npu = machine();
    npu.energy.static_mw = static_mw;
    npu.energy.idle_mac_pj = 0.5;
    const std::vector<double> actions = values(accelergy_counts(counts(), 2000, npu), "counts");
    const std::vector<double> prices = values(accelergy_prices(npu), "energy");
    ASSERT_EQ(actions.size(), prices.size());
    ASSERT_EQ(actions.size(), static_mw == 0 ? 8U : 9U);
    double sum = 0;
    for (std::size_t i = 0; i < actions.size(); ++i)
      sum += actions[i] * prices[i];
    EXPECT_DOUBLE_EQ(sum, energy_of(counts(), 2000, npu).total());
  }
}

TEST(Accelergy, FilesHaveItsForm) {
  const std::string text = accelergy_counts(counts(), 2000, machine());
  EXPECT_EQ(text.find("architecture:\n  version: 0.3\n  subtree:\n    - name: npu\n"), 0U) << text;
  EXPECT_NE(text.find("        - name: pe[0..63]\n          class: fpmac\n"), std::string::npos) << text;
  EXPECT_NE(text.find("action_counts:\n  version: 0.3\n  subtree:\n    - name: npu\n      local:\n"
                      "        - name: pe[0]\n          action_counts:\n            - name: mac_random\n"
                      "              counts: 1000\n            - name: mac_gated\n              counts: 24\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("counts: 12.625\n"), std::string::npos) << "101 bytes are 12.625 words";
  EXPECT_NE(
      accelergy_prices(machine()).find("ERT:\n  version: 0.3\n  tables:\n    - name: npu.pe[0..63]\n      actions:\n"
                                       "        - name: mac_random\n          arguments: {}\n          energy: 2\n"),
      std::string::npos)
      << accelergy_prices(machine());
}

TEST(Accelergy, NamesAreThoseThatItReadsAndSchedulesOne) {
  EXPECT_THROW(AccelergyFiles("counts.txt", 1), std::invalid_argument);
  EXPECT_THROW(AccelergyFiles("-", 1), std::invalid_argument);
  EXPECT_THROW(AccelergyFiles("counts.yaml", 2), std::invalid_argument);
}

} // namespace
} // namespace gradweave::report
