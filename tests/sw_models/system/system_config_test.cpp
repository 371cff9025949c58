// System files: the shipped ones load, and every mistake is named with file, line, key, value and remedy.
#include "sw_models/system/system_config.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace gradweave {
namespace {

namespace fs = std::filesystem;

std::string good() {
  std::ostringstream text;
  text << std::ifstream("configs/systems/test2.toml").rdbuf();
  return text.str();
}

/// The message about the shipped file with the first `from` behind `after` replaced by `to`; "" if there is none.
std::string message(const std::string &after, const std::string &from, const std::string &to) {
  std::string text = good();
  const std::size_t at = text.find(from, text.find(after));
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  try {
    parse_system(text, "configs/systems/mine.toml");
  } catch (const ConfigError &error) {
    return error.what();
  }
  return "";
}

TEST(SystemFile, ShippedOnesLoad) {
  int files = 0;
  for (const auto &entry : fs::directory_iterator("configs/systems")) {
    const SystemConfig system = load_system(entry.path());
    EXPECT_EQ(system.name, entry.path().stem().string());
    ++files;
  }
  EXPECT_GE(files, 1);
}

TEST(SystemFile, HasWhatItSays) {
  const SystemConfig system = load_system("configs/systems/test2.toml");
  ASSERT_EQ(system.devices.size(), 3U);
  EXPECT_EQ(system.devices[0].role, DeviceRole::kStorage);
  EXPECT_EQ(system.devices[0].machine.memory.bandwidth_gb_s, 1.9); // its own, not the file's 3.7
  EXPECT_EQ(system.devices[1].machine.memory.bandwidth_gb_s, 5.5);
  EXPECT_EQ(system.devices[0].machine.period_ps(), 769U);
  EXPECT_EQ(system.link_of(2).packet_bytes, 512U);
  EXPECT_EQ(system.link_of(0).port, 0U);
  EXPECT_FALSE(system.link_of(2).port.has_value());
  EXPECT_EQ(system.partition.routes, (std::vector<RouteConfig>{{1, {0, 2}, {2}}, {1, {1, 2}, {2}}}));
  EXPECT_EQ(system.partition.micro_batches, 1U);
  EXPECT_EQ(system.flashes[0].program_ps, 7'000'000U);
  EXPECT_EQ(system.tables.devices, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_TRUE(system.tables.reduced);
}

TEST(SystemFile, EveryMistakeIsNamed) {
  struct Case {
    const char *after, *from, *to, *part;
  };
  const Case cases[] = {
      {"[partition]", "\"ssd1\"", "\"ssd9\"", "unknown device 'ssd9'; there are: ssd0, ssd1, npu"},
      {"[partition]", "upper = \"npu\"", "upper = \"host\"", "unknown device 'host'"},
      {"[partition]", "\"ssd1\"", "\"ssd0\"", "device 'ssd0' is there twice"},
      {"[partition]", "\"ssd1\"", "\"npu\"", "device 'npu' is the upper one, too"},
      {"[partition]", "[\"ssd0\", \"ssd1\"]", "[]", "cut = 2: layers below the cut need a device"},
      {"[partition]", "[\"ssd0\", \"ssd1\"]", "[1]", "lower must be an array of strings"},
      {"[[device]]", "link = \"near\"", "link = \"far\"", "unknown link 'far'; there are: near, host"},
      {"[[device]]", "flash = \"nand\"", "flash = \"nor\"", "unknown flash 'nor'; there are: nand"},
      {"[[device]]", "name = \"ssd1\"", "name = \"ssd0\"", "two of [[device]] with the name 'ssd0'"},
      {"[[device]]", "role = \"storage\"", "role = \"disk\"", "role = \"disk\" is none; use storage or npu"},
      {"[[device]]", "role = \"storage\"", "role = \"npu\"", "flash lies behind devices with role storage"},
      {"[[device]]", "../test4x8.toml", "../test4x9.toml", "npu = \"../test4x9.toml\": "},
      {"[[device]]", "dram_gb_s = 1.9", "dram_gb_s = 0", "dram_gb_s = 0 is out of range"},
      {"[[link]]", "bandwidth_gb_s = 4", "bandwidth_gb_s = 0", "bandwidth_gb_s = 0 is out of range"},
      {"[[link]]", "packet_bytes = 256", "packet_bytes = 300", "packet_bytes = 300 is not a power of two"},
      {"[[link]]", "port = \"storage\"", "port = \"root\"", "unknown port 'root'; there are: storage"},
      {"[[link]]", "latency_ns", "latency", "missing key 'latency_ns' in [link]"},
      {"[[flash]]", "size_bytes = 1048576", "size_bytes = 5000", "size_bytes = 5000 is not a multiple of 4096"},
      {"[[flash]]", "channels = 2", "channels = 0", "channels = 0 is out of range"},
      {"[[device]]", "processor = \"arm\"", "processor = \"leg\"", "unknown processor 'leg'; there are: arm"},
      {"[[processor]]", "gb_s = 1.5", "gb_s = 0", "gb_s = 0 is out of range"},
      {"[tables]", "\"ssd1\"", "\"ssd9\"", "unknown device 'ssd9'; there are: ssd0, ssd1, npu"},
      {"[tables]", "\"ssd1\"", "\"npu\"", "device 'npu' has no flash that can be written"},
      {"[tables]", "[\"ssd0\", \"ssd1\"]", "[]", "tables lie on one device at least; or leave out [tables]"},
      {"[tables]", "sends = \"sums\"", "sends = \"means\"", "sends = \"means\" is none; use sums or rows"},
      {"[[flash]]", "program_ns = 7000", "", "device 'ssd0' has no flash that can be written"},
      {"[[device]]", "processor = \"arm\"", "", "device 'ssd0' has no processor for rows of tables"},
      {"[host]", "notify_ns = 50", "notify_ns = 0", "notify_ns = 0 is out of range"},
      {"[host]", "[host]", "[guest]", "unknown table or key 'guest'"},
      {"name", "name = \"test2\"", "", "missing name"},
      {"[host]", "notify_ns = 50", "notify_ns = = 50", "not TOML"},
  };
  for (const Case &c : cases) {
    const std::string text = message(c.after, c.from, c.to);
    EXPECT_NE(text.find(c.part), std::string::npos) << c.to << ": '" << text << "'";
    EXPECT_EQ(text.find("configs/systems/mine.toml"), 0U) << text;
  }
}

/// The shipped file with this instead of its partition.
SystemConfig with_partition(const std::string &partition) {
  const std::string text = good();
  return parse_system(text.substr(0, text.find("[partition]")) + partition, "configs/systems/mine.toml");
}

TEST(SystemFile, RoutesSayWhereEachPartGoes) {
  const SystemConfig system =
      with_partition("[[route]]\nshare = 2\ndevices = [\"ssd0\", \"ssd1\", \"npu\"]\ncuts = [1, "
                     "3]\n[[route]]\ndevices = [\"npu\"]\ncuts = []\n[partition]\n"
                     "micro_batches = 4\nfirst = \"forward\"\nmoves = \"lazy\"\n");
  EXPECT_EQ(system.partition.routes, (std::vector<RouteConfig>{{2, {0, 1, 2}, {1, 3}}, {1, {2}, {}}}));
  EXPECT_EQ(system.partition.micro_batches, 4U);
  EXPECT_EQ(system.partition.order, (PipelineOrder{false, false}));
  EXPECT_EQ(to_string(system.partition.order), "forward_first, lazy_moves");
  EXPECT_EQ(with_partition("[[route]]\ndevices = [\"npu\"]\ncuts = []\n").partition.order, (PipelineOrder{true, true}));
}

TEST(SystemFile, EveryMistakeOfAPartitionIsNamed) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"[[route]]\ndevices = [\"ssd0\", \"npu\"]\ncuts = []\n", "0 cuts for 2 devices; give the first layer of each"},
      {"[[route]]\ndevices = [\"ssd0\", \"ssd1\", \"npu\"]\ncuts = [3, 1]\n", "cuts = [3, 1] must ascend"},
      {"[[route]]\ndevices = []\ncuts = []\n", "a route goes through one device at least"},
      {"[[route]]\ndevices = [\"ssd0\", \"ssd0\"]\ncuts = [1]\n", "device 'ssd0' is there twice"},
      {"[[route]]\ndevices = [\"cpu\"]\ncuts = []\n", "unknown device 'cpu'"},
      {"[[route]]\ndevices = [\"ssd0\", \"npu\"]\ncuts = [-1]\n", "cuts has -1, which is out of range"},
      {"[[route]]\ndevices = [\"ssd0\", \"npu\"]\ncuts = [\"1\"]\n", "cuts must be an array of integers"},
      {"[[route]]\nshare = 0\ndevices = [\"npu\"]\ncuts = []\n", "share = 0 is out of range"},
      {"[[route]]\ndevices = [\"npu\"]\ncuts = []\n[partition]\ncut = 1\n", "unknown key 'cut' in [partition]"},
      {"[[route]]\ndevices = [\"npu\"]\ncuts = []\n[partition]\nfirst = \"last\"\n",
       "first = \"last\" is none; use backward or forward"},
      {"[[route]]\ndevices = [\"npu\"]\ncuts = []\n[partition]\nmicro_batches = 0\n",
       "micro_batches = 0 is out of range"},
      {"", "missing table [partition]"},
  };
  for (const auto &[partition, part] : cases)
    try {
      with_partition(partition);
      ADD_FAILURE() << partition << " passed";
    } catch (const ConfigError &error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
}

TEST(Link, APacketTakesItsBytesRoundedUp) {
  EXPECT_EQ(LinkConfig::packet_ps(256, 4), 64000U);
  EXPECT_EQ(LinkConfig::packet_ps(280, 15.754), 17774U); // 17773.26...
  EXPECT_EQ(LinkConfig::packet_ps(1, 1000), 1U);
}

} // namespace
} // namespace gradweave
