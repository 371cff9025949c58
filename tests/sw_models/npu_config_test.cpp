// Shipped configurations load; every kind of mistake is named with file, line, key, value and remedy.
#include "sw_models/config/machine.hpp"
#include "tests/support/npu_limits.hpp"
#include "tests/support/scratch_directory.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace gradweave {
namespace {

namespace fs = std::filesystem;

const std::string kGood = R"([npu]
name = "small"
rows = 45
cols = 45
cores = 1
spm_bytes = 1048576
spm_banks = 16
bus_bytes = 32
clock_ghz = 1.0
queue_depth = 8
semaphores = 64
outstanding = 64

[memory]
size_bytes = 1073741824
bandwidth_gb_s = 22
latency_cycles = 100
turnaround_cycles = 8
batch_bytes = 8192
)";

const std::size_t kMemoryTable = kGood.find("[memory]");

class NpuConfigFile : public testing::Test {
protected:
  Machine load(const std::string &text) const {
    std::ofstream(file_, std::ios::trunc) << text;
    return load_machine(file_);
  }
  /// `good` with the line that starts with `key` replaced.
  static std::string with(const std::string &key, const std::string &line) {
    std::string text = kGood;
    const std::size_t at = text.find("\n" + key) + 1;
    return text.replace(at, text.find('\n', at) - at, line);
  }
  void expect_error(const std::string &text, const std::string &rest) const {
    try {
      load(text);
      ADD_FAILURE() << "accepted; expected: " << rest;
    } catch (const ConfigError &e) {
      EXPECT_EQ(std::string(e.what()), file_.string() + rest);
    }
  }

  const test::ScratchDirectory scratch_;
  const fs::path file_ = scratch_ / "npu.toml";
};

TEST(Machine, ShippedFilesLoad) {
  int files = 0;
  for (const auto &entry : fs::directory_iterator("configs")) {
    if (!entry.is_regular_file()) continue; // systems of several devices
    const Machine c = load_machine(entry.path());
    EXPECT_EQ(c.name, entry.path().stem().string());
    ++files;
  }
  EXPECT_GE(files, 5);
}

TEST(Machine, SmallHasItsDocumentedSize) {
  const Machine c = load_machine("configs/small.toml");
  EXPECT_EQ(c.lanes(), 45U);
  EXPECT_EQ(c.bank_rows() % 2, 0U);
  EXPECT_EQ(c.spm_rows(), 11648U);
  EXPECT_LE(std::uint64_t{c.spm_rows()} * 2 * c.lanes(), c.spm_bytes);
}

TEST_F(NpuConfigFile, BandwidthIsAnExactFraction) {
  const auto fraction = [&](const std::string &bandwidth, const std::string &clock) {
    std::string text = with("bandwidth_gb_s", "bandwidth_gb_s = " + bandwidth);
    text.replace(text.find("clock_ghz = 1.0"), 15, "clock_ghz = " + clock);
    const Machine c = load(text);
    return std::to_string(c.memory.bytes_num) + "/" + std::to_string(c.memory.bytes_den);
  };
  EXPECT_EQ(fraction("22", "1.0"), "22/1");
  EXPECT_EQ(fraction("150", "1.05"), "1000/7");
  EXPECT_EQ(fraction("5.5", "1"), "11/2");
  EXPECT_EQ(fraction("19.2", "0.7"), "192/7");
  EXPECT_EQ(fraction("0.001", "1"), "1/1000");
  EXPECT_EQ(fraction("1e2", "1"), "100/1");
}

TEST_F(NpuConfigFile, NotReadable) {
  try {
    load_machine("/nonexistent/npu.toml");
    FAIL();
  } catch (const ConfigError &e) {
    EXPECT_STREQ(e.what(), "/nonexistent/npu.toml: no such file; check the name of the NPU configuration");
  }
  EXPECT_THROW(load_machine(fs::temp_directory_path()), ConfigError);
}

TEST_F(NpuConfigFile, TooLong) {
  expect_error(kGood + std::string(2U << 20U, '#'), ": longer than 1048576 bytes; this is no NPU configuration");
}

TEST_F(NpuConfigFile, NotToml) {
  try {
    load(with("rows", "rows = = 3"));
    FAIL();
  } catch (const ConfigError &e) {
    EXPECT_EQ(std::string(e.what()).rfind(file_.string() + ":3: not TOML: ", 0), 0U) << e.what();
  }
}

TEST_F(NpuConfigFile, Empty) { expect_error("", ": missing table [npu]; add [npu] and its keys"); }

TEST_F(NpuConfigFile, NoTable) { expect_error("npu = 3\n", ":1: 'npu' is not a table; write [npu]"); }

TEST_F(NpuConfigFile, UnknownTable) {
  expect_error(kGood + "[cache]\n", ":20: unknown table or key 'cache'; known tables: npu, memory, energy");
}

TEST_F(NpuConfigFile, UnknownKey) {
  std::string text = kGood;
  expect_error(text.insert(kMemoryTable - 1, "refresh = 3\n"),
               ":13: unknown key 'refresh' in [npu]; known keys: name, rows, cols, cores, spm_bytes, spm_banks, "
               "bus_bytes, port_bytes, clock_ghz, queue_depth, semaphores, outstanding, vector_groups");
}

TEST_F(NpuConfigFile, MissingKey) {
  expect_error(with("rows", "# no rows"), ":1: missing key 'rows' in [npu]; add, for example, rows = 45");
  expect_error(with("batch_bytes", ""),
               ":14: missing key 'batch_bytes' in [memory]; add, for example, batch_bytes = 8192");
}

TEST_F(NpuConfigFile, WrongTypes) {
  expect_error(with("rows", "rows = \"45\""),
               ":3: rows must be an integer, but is of type string; write, for example, rows = 45");
  expect_error(with("rows", "rows = 45.0"),
               ":3: rows must be an integer, but is of type floating-point; write, for example, rows = 45");
  expect_error(with("name", "name = 3"),
               ":2: name must be a string, but is of type integer; write, for example, name = \"small\"");
  expect_error(with("clock_ghz", "clock_ghz = true"),
               ":9: clock_ghz must be a number, but is of type boolean; write, for example, clock_ghz = 1.0");
}

TEST_F(NpuConfigFile, ValuesOutOfRange) {
  expect_error(with("rows", "rows = 0"), ":3: rows = 0 is out of range; use 2 to 512");
  expect_error(with("cols", "cols = -1"), ":4: cols = -1 is out of range; use 2 to 512");
  expect_error(with("cols", "cols = 513"), ":4: cols = 513 is out of range; use 2 to 512");
  expect_error(with("cores", "cores = 9"), ":5: cores = 9 is out of range; use 1 to 8");
  expect_error(with("cores", "cores = 0"), ":5: cores = 0 is out of range; use 1 to 8");
  expect_error(with("spm_bytes", "spm_bytes = 9223372036854775807"),
               ":6: spm_bytes = 9223372036854775807 is out of range; use 1 to 1099511627776");
  expect_error(with("queue_depth", "queue_depth = 1"), ":10: queue_depth = 1 is out of range; use 2 to 64");
  expect_error(with("semaphores", "semaphores = 256"), ":11: semaphores = 256 is out of range; use 8 to 255");
  expect_error(with("outstanding", "outstanding = 0"), ":12: outstanding = 0 is out of range; use 1 to 1024");
  expect_error(with("clock_ghz", "clock_ghz = 0"), ":9: clock_ghz = 0 is out of range; use 0.001 to 100");
  expect_error(with("clock_ghz", "clock_ghz = nan"), ":9: clock_ghz = nan is out of range; use 0.001 to 100");
  expect_error(with("bandwidth_gb_s", "bandwidth_gb_s = -22"),
               ":16: bandwidth_gb_s = -22 is out of range; use 0.001 to 100000");
  expect_error(with("batch_bytes", "batch_bytes = 0"), ":19: batch_bytes = 0 is out of range; use 1 to 1073741824");
}

TEST_F(NpuConfigFile, ValuesThatDoNotFitTogether) {
  expect_error(with("name", "name = \"Big NPU\""),
               ":2: name = \"Big NPU\" is no name; use 1 to 64 lower-case letters, digits, '_' and '-'");
  const std::string longest = "name = \"" + std::string(64, 'a');
  EXPECT_EQ(load(with("name", longest + '"')).name.size(), 64U);
  expect_error(with("name", longest + "a\""),
               ":2: " + longest + "a\" is no name; use 1 to 64 lower-case letters, digits, '_' and '-'");
  expect_error(with("bus_bytes", "bus_bytes = 48"), ":8: bus_bytes = 48 is not a power of two; use 4 to 2048");
  expect_error(
      with("bus_bytes", "bus_bytes = 128"),
      ":8: bus_bytes = 128 is more than 90, a scratchpad row (2 x max(rows, cols)) for each core; use a narrower bus");
  expect_error(with("spm_bytes", "spm_bytes = 2879"),
               ":6: spm_bytes = 2879 gives each of 16 banks 1 rows of 90 bytes, but 2 are needed; use at least 2880");
  expect_error(with("spm_bytes", "spm_bytes = 1099511627776"),
               ":6: spm_bytes = 1099511627776 gives 12216795856 rows, but commands can address 8388607; use at most "
               "754974630");
  expect_error(with("size_bytes", "size_bytes = 5000"), ":15: size_bytes = 5000 is not a multiple of 4096");
  expect_error(with("bandwidth_gb_s", "bandwidth_gb_s = 22.123456789"),
               ":16: bandwidth_gb_s = 22.123456789 at clock_ghz = 1 is no fraction of numbers up to 1000000; use fewer "
               "digits");
}

TEST_F(NpuConfigFile, SeveralCoresMayHaveAWiderBus) {
  std::string text = with("cores", "cores = 3");
  text.replace(text.find("bus_bytes = 32"), 14, "bus_bytes = 256");
  EXPECT_EQ(load(text).bus_bytes, 256U) << "at most 3 rows of 90 bytes";
  text.replace(text.find("cores = 3"), 9, "cores = 2");
  expect_error(text,
               ":8: bus_bytes = 256 is more than 180, a scratchpad row (2 x max(rows, cols)) for each core; use a "
               "narrower bus");
}

TEST_F(NpuConfigFile, ABusHasThePortsThatAxiAllows) {
  EXPECT_EQ(load(kGood).port_bytes, 32U);
  EXPECT_EQ(load(kGood).ports(), 1U);
  const Machine four = load(with("bus_bytes", "bus_bytes = 32\nport_bytes = 8"));
  EXPECT_EQ(four.port_bytes, 8U);
  EXPECT_EQ(four.ports(), 4U);
  EXPECT_NE(fingerprint(four).hex(), fingerprint(load(kGood)).hex());
  std::string wide = with("cores", "cores = 6");
  wide.replace(wide.find("bus_bytes = 32"), 14, "bus_bytes = 512");
  EXPECT_EQ(load(wide).port_bytes, 128U) << "as wide as AXI4 allows";
  EXPECT_EQ(load(wide).ports(), 4U);
  expect_error(with("bus_bytes", "bus_bytes = 32\nport_bytes = 12"),
               ":9: port_bytes = 12 is not a power of two; use 4 to 32");
  expect_error(with("bus_bytes", "bus_bytes = 32\nport_bytes = 64"),
               ":9: port_bytes = 64 is out of range; use 4 to 32");
  wide.replace(wide.find("bus_bytes = 512"), 15, "bus_bytes = 512\nport_bytes = 16");
  expect_error(wide, ":9: port_bytes = 16 cuts a bus of 512 bytes into 32 ports, but at most 16 are possible; use at "
                     "least 32");
}

TEST_F(NpuConfigFile, DramAccessesAreBeatsUnlessToldOtherwise) {
  EXPECT_EQ(load(kGood).memory.access_bytes, 32U);
  EXPECT_EQ(load(kGood + "access_bytes = 8\n").memory.access_bytes, 8U);
  expect_error(kGood + "access_bytes = 64\n", ":20: access_bytes = 64 is out of range; use 4 to 32");
  expect_error(kGood + "access_bytes = 2\n", ":20: access_bytes = 2 is out of range; use 4 to 32");
  expect_error(kGood + "access_bytes = 24\n",
               ":20: access_bytes = 24 is not a power of two; use 4 to 32, the bus_bytes");
}

/// A file beside the one of the test, gone with it.
class OtherFile {
public:
  OtherFile(const fs::path &beside, const std::string &text) : path_(beside.string() + ".other") {
    std::ofstream(path_) << text;
  }
  ~OtherFile() { fs::remove(path_); }
  std::string name() const { return path_.filename().string(); }
  std::string path() const { return path_.string(); }

private:
  fs::path path_;
};

TEST_F(NpuConfigFile, MachinesShareAnNpuAtDifferentMemories) {
  const OtherFile npu(file_, kGood.substr(0, kMemoryTable));
  const std::string memory = kGood.substr(kMemoryTable);
  const Machine small = load(kGood);
  Machine other = load("npu = \"" + npu.name() + "\"\n" + memory);
  EXPECT_EQ(fingerprint(other).hex(), fingerprint(small).hex());
  std::string slow = memory;
  other = load("npu = '" + npu.path() + "'\n" + slow.replace(slow.find("= 22"), 4, "= 11"));
  EXPECT_EQ(other.name, "small");
  EXPECT_EQ(fingerprint(static_cast<const NpuConfig &>(other)).hex(),
            fingerprint(static_cast<const NpuConfig &>(small)).hex());
  EXPECT_NE(fingerprint(other).hex(), fingerprint(small).hex());
  EXPECT_EQ(other.memory.bytes_num, 11U);
  EXPECT_EQ(load_npu_config(npu.path()).rows, 45U) << "an NPU alone";
}

TEST_F(NpuConfigFile, AMemoryMayStandInAFileOfItsOwn) {
  const OtherFile memory(file_, kGood.substr(kMemoryTable));
  EXPECT_EQ(fingerprint(load("memory = \"" + memory.name() + "\"\n" + kGood.substr(0, kMemoryTable))).hex(),
            fingerprint(load(kGood)).hex());
}

TEST_F(NpuConfigFile, MistakesInAnotherFileNameBoth) {
  const std::string memory = kGood.substr(kMemoryTable), npu = kGood.substr(0, kMemoryTable);
  expect_error("npu = \"none.toml\"\n" + memory,
               fmt::format(":1: npu = \"none.toml\": {}: no such file; check the name of the NPU configuration",
                           (file_.parent_path() / "none.toml").string()));
  const auto expect_of_other = [&](const std::string &text, const std::string &rest) {
    const OtherFile other(file_, text);
    expect_error("npu = \"" + other.name() + "\"\n" + memory,
                 ":1: npu = \"" + other.name() + "\": " + other.path() + rest);
  };
  expect_of_other(npu + "banks = 3\n", ":14: unknown key 'banks' in [npu]; known keys: name, rows, cols, cores, "
                                       "spm_bytes, spm_banks, bus_bytes, port_bytes, clock_ghz, queue_depth, "
                                       "semaphores, outstanding, vector_groups");
  expect_of_other(memory, ": missing table [npu]; add [npu] and its keys");
  expect_of_other("npu = \"again.toml\"\n", ":1: 'npu' is not a table; write [npu]");
  expect_error(npu, ": missing table [memory]; add [memory] and its keys");
}

/// Of everything that cycles and results depend on; the clock counts as the memory's bytes a cycle.
TEST(MachineFingerprint, HasEveryField) {
  const Machine machine = parse_machine(kGood, "f");
  std::map<std::string, std::string> seen{{fingerprint(machine).hex(), "nothing"}};
  const auto differs = [&](const std::string &what, const std::function<void(Machine &)> &change) {
    Machine other = machine;
    change(other);
    const auto [at, is_new] = seen.emplace(fingerprint(other).hex(), what);
    EXPECT_TRUE(is_new) << what << " is as " << at->second;
  };
  const std::vector<std::pair<const char *, std::uint32_t NpuConfig::*>> of_npu{
      {"rows", &NpuConfig::rows},
      {"cols", &NpuConfig::cols},
      {"cores", &NpuConfig::cores},
      {"spm_banks", &NpuConfig::spm_banks},
      {"bus_bytes", &NpuConfig::bus_bytes},
      {"port_bytes", &NpuConfig::port_bytes},
      {"queue_depth", &NpuConfig::queue_depth},
      {"semaphores", &NpuConfig::semaphores},
      {"outstanding", &NpuConfig::outstanding},
      {"vector_groups", &NpuConfig::vector_groups}};
  const std::vector<std::pair<const char *, std::uint32_t MemoryConfig::*>> of_memory{
      {"access_bytes", &MemoryConfig::access_bytes}};
  const std::vector<std::pair<const char *, std::uint64_t MemoryConfig::*>> wide{
      {"size_bytes", &MemoryConfig::size_bytes},
      {"bytes_num", &MemoryConfig::bytes_num},
      {"bytes_den", &MemoryConfig::bytes_den}};
  // Each bit of a number by itself: it could be cut off.
  for (unsigned bit = 0; bit < 32; ++bit) {
    const std::uint32_t flip = 1U << bit;
    for (const auto &entry : of_npu)
      differs(entry.first, [&, field = entry.second](Machine &m) { m.*field ^= flip; });
    for (const auto &entry : of_memory)
      differs(entry.first, [&, field = entry.second](Machine &m) { m.memory.*field ^= flip; });
    for (const MemoryKey &key : memory_keys())
      differs(std::string(key.name), [&](Machine &m) { m.memory.*key.field ^= flip; });
  }
  for (unsigned bit = 0; bit < 64; ++bit) {
    differs("spm_bytes", [&](Machine &m) { m.spm_bytes ^= std::uint64_t{1} << bit; });
    for (const auto &entry : wide)
      differs(entry.first, [&, field = entry.second](Machine &m) { m.memory.*field ^= std::uint64_t{1} << bit; });
  }
}

TEST(NpuConfigLimits, AreAcceptedAndTheNextValueIsRefused) {
  for (const test::NpuLimit &limit : test::npu_limits()) {
    SCOPED_TRACE(limit.key + " = " + limit.value);
    EXPECT_EQ(test::value_of(parse_machine(test::text_of(limit, limit.value), "f"), limit.key), limit.value);
    try {
      parse_machine(test::text_of(limit, limit.beyond), "f");
      ADD_FAILURE() << limit.beyond << " is accepted";
    } catch (const ConfigError &e) {
      EXPECT_NE(std::string(e.what()).find(fmt::format("{} = {}{}", limit.key, limit.beyond, limit.refusal)),
                std::string::npos)
          << e.what();
    }
  }
}

/// The message about an unknown key lists those that there are.
TEST(NpuConfigLimits, AreTestedOfEveryKeyAtBothEnds) {
  std::map<std::string, int> ends;
  std::size_t keys_there_are = 0;
  for (const test::NpuLimit &limit : test::npu_limits())
    ++ends[limit.key];
  for (const std::string &table : {std::string("[npu]\n"), std::string("[memory]\n")}) {
    std::string text = test::configuration({});
    text.insert(text.find(table) + table.size(), "unknown = 1\n");
    try {
      parse_machine(text, "f");
      ADD_FAILURE();
    } catch (const ConfigError &e) {
      std::string keys = e.what();
      keys.erase(0, keys.find("known keys: ") + 12);
      std::replace(keys.begin(), keys.end(), ',', ' ');
      std::istringstream list(keys);
      for (std::string key; list >> key; ++keys_there_are)
        EXPECT_EQ(ends[key], 2) << key;
    }
  }
  EXPECT_EQ(ends.size(), keys_there_are);
}

} // namespace
} // namespace gradweave
