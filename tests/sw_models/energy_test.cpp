// Table [energy], and what counts cost by it.
#include "sw_models/energy/energy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace gradweave {
namespace {

const std::string kMachine = R"([npu]
name = "test8"
rows = 8
cols = 8
cores = 1
spm_bytes = 8192
spm_banks = 4
bus_bytes = 16
clock_ghz = 2.0
queue_depth = 8
semaphores = 64
outstanding = 64

[memory]
size_bytes = 1073741824
bandwidth_gb_s = 8
latency_cycles = 20
turnaround_cycles = 8
batch_bytes = 8192
)";

Machine machine_with(const std::string &energy, const Overrides &overrides = {}) {
  return parse_machine(kMachine + energy, "m.toml", overrides);
}

std::string problem_of(const std::string &energy, const Overrides &overrides = {}) {
  try {
    machine_with(energy, overrides);
  } catch (const ConfigError &error) {
    return error.what();
  }
  return "accepted";
}

TEST(EnergyConfig, EveryFieldMayBeLeftOut) {
  const Machine npu = machine_with("");
  // Horowitz, ISSCC 2014: 1.1 + 0.9 and 0.9 pJ, 10 pJ for 8 bytes of 8 KB, 1300 pJ for 8 bytes of DRAM; DARPA's study
  // of 2008: 110 fJ a bit and mm, 5 mm.
  EXPECT_DOUBLE_EQ(npu.energy.mac_pj, 1.1 + 0.9);
  EXPECT_EQ(npu.energy.add_pj, 0.9);
  EXPECT_EQ(npu.energy.idle_mac_pj, 0);
  EXPECT_EQ(npu.spm_read_pj_per_byte(), 10.0 / 8);
  EXPECT_EQ(npu.spm_write_pj_per_byte(), 10.0 / 8);
  EXPECT_DOUBLE_EQ(npu.energy.bus_pj_per_byte, 0.110 * 8 * 5);
  EXPECT_EQ(npu.energy.dram_pj_per_byte, 1300.0 / 8);
  EXPECT_EQ(npu.energy.static_mw, 0);
}

TEST(EnergyConfig, EveryFieldIsRead) {
  double value = 0;
  for (const EnergyKey &key : energy_keys()) {
    value += 0.5;
    const Machine npu = machine_with("[energy]\n" + std::string(key.name) + " = " + std::to_string(value) + "\n");
    const EnergyConfig &e = npu.energy;
    EXPECT_EQ(key.field != nullptr ? e.*key.field : (e.*key.optional_field).value_or(-1), value) << key.name;
    EXPECT_NE(fingerprint(e).hex(), fingerprint(EnergyConfig{}).hex()) << key.name;
  }
}

TEST(EnergyConfig, AScratchpadCostsByItsSize) {
  // Published: 10, 20 and 100 pJ for 8 bytes.
  EXPECT_EQ(spm_pj_per_byte(8 << 10U), 1.25);
  EXPECT_EQ(spm_pj_per_byte(32 << 10U), 2.5);
  EXPECT_EQ(spm_pj_per_byte(1 << 20U), 12.5);
  EXPECT_NEAR(spm_pj_per_byte(16 << 10U), 1.25 * std::sqrt(2.0), 1e-12); // doubles by four times the size
  EXPECT_NEAR(spm_pj_per_byte(2 << 10U), 0.625, 1e-12);
  EXPECT_NEAR(spm_pj_per_byte(32 << 20U), 62.5, 1e-9); // five times by 32 times the size
  double before = 0;
  for (std::uint64_t bytes = 1; bytes < (1ULL << 40U); bytes *= 3) {
    EXPECT_GT(spm_pj_per_byte(bytes), before) << bytes;
    before = spm_pj_per_byte(bytes);
  }
}

TEST(EnergyConfig, MistakesNamePlaceValueAndRemedy) {
  EXPECT_EQ(problem_of("[energy]\nmac_pj = -1\n"), "m.toml:21: mac_pj = -1 is out of range; use 0 to 1000000000");
  EXPECT_EQ(problem_of("[energy]\n\ndram_pj_per_byte = nan\n"),
            "m.toml:22: dram_pj_per_byte = nan is out of range; use 0 to 1000000000");
  EXPECT_EQ(problem_of("[energy]\nstatic_mw = inf\n"),
            "m.toml:21: static_mw = inf is out of range; use 0 to 1000000000");
  EXPECT_EQ(problem_of("[energy]\nbus_pj_per_byte = \"much\"\n"),
            "m.toml:21: bus_pj_per_byte must be a number, but is of type string; write, for example, bus_pj_per_byte = "
            "2.0");
  EXPECT_EQ(problem_of("[energy]\nmac = 1\n"),
            "m.toml:21: unknown key 'mac' in [energy]; known keys: mac_pj, idle_mac_pj, add_pj, spm_read_pj_per_byte, "
            "spm_write_pj_per_byte, bus_pj_per_byte, dram_pj_per_byte, static_mw");
  EXPECT_EQ(problem_of("", {{"energy", "add_pj", "-2", "--set energy.add_pj=-2"}}),
            "--set energy.add_pj=-2: add_pj = -2 is out of range; use 0 to 1000000000");
}

TEST(EnergyConfig, ATableThatIsNotThereCanBeSet) {
  const Machine npu = machine_with("", {{"energy", "dram_pj_per_byte", "31.25", "--set"}});
  EXPECT_EQ(npu.energy.dram_pj_per_byte, 31.25);
  EXPECT_EQ(npu.name, "test8") << "the RTL is the same";
  EXPECT_EQ(fingerprint(npu).hex(), fingerprint(machine_with("")).hex()) << "so are cycles";
}

/// Each count and each price another, all of them exact in binary.
TEST(Energy, IsEachCountTimesItsPrice) {
  const Machine npu = machine_with(R"([energy]
mac_pj = 2.5
idle_mac_pj = 0.125
add_pj = 0.5
spm_read_pj_per_byte = 1.5
spm_write_pj_per_byte = 1.75
bus_pj_per_byte = 4.25
dram_pj_per_byte = 160.5
static_mw = 3
)");
  AccessCounts c;
  std::uint64_t count = 0;
  for (const AccessCountForm &form : access_count_forms())
    c.*form.count = count += 8; // macs 8, idle 16, adds 24, operands 32, sums 40, results 48, vectors 56 and 64, ...
  const Energy e = energy_of(c, 1000, npu);
  EXPECT_EQ(e.array, 8 * 2.5 + 16 * 0.125 + 24 * 0.5);
  EXPECT_EQ(e.spm, (32 + 40 + 56 + 80) * 1.5 + (48 + 64 + 72) * 1.75);
  EXPECT_EQ(e.bus, 88 * 4.25);
  EXPECT_EQ(e.dram, (96 + 104) * 160.5);
  EXPECT_EQ(e.leakage, 1000 * 3 / 2.0); // 1000 cycles are 500 ns
  EXPECT_EQ(e.total(), 34 + 634 + 374 + 32100 + 1500);
  EXPECT_DOUBLE_EQ(mean_power(e.total(), 1000, npu), 34642e-12 / 500e-9);
  EXPECT_DOUBLE_EQ(energy_delay(e.total(), 1000, npu), 34642e-12 * 500e-9);
  EXPECT_EQ(mean_power(e.total(), 0, npu), 0);
}

TEST(AccessCounts, AreAddedAndComparedOneByOne) {
  for (const AccessCountForm &form : access_count_forms()) {
    AccessCounts one;
    one.*form.count = 3;
    EXPECT_NE(one, AccessCounts{}) << form.name;
    AccessCounts two = one;
    two += one;
    EXPECT_EQ(two.*form.count, 6U) << form.name;
    EXPECT_EQ(one, one);
  }
}

} // namespace
} // namespace gradweave
