// The table that sends people to the sources: what it names exists, and every event and counter has a row.
#include "app/validate/verdict/where_to_look.hpp"

#include "isa/command.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace gradweave::test {
namespace {

using runtime::Event;
using runtime::Places;

std::string read(const std::filesystem::path &file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(Places, FilesExist) {
  for (const Places &places : runtime::all_places())
    for (const auto &files : {places.rtl, places.model}) {
      EXPECT_FALSE(files.empty());
      for (const std::string_view file : files)
        EXPECT_TRUE(std::filesystem::is_regular_file(file)) << file;
    }
}

TEST(Places, LatenciesExist) {
  const std::string header = read("sw_models/timing/engines/latencies.hpp");
  for (const Places &places : runtime::all_places())
    for (const std::string_view name : places.latencies)
      EXPECT_NE(header.find(' ' + std::string(name)), std::string::npos) << name;
}

/// Every latency is where somebody is sent for some event.
TEST(Places, NameEveryLatency) {
  std::string named;
  for (const Places &places : runtime::all_places())
    for (const std::string_view name : places.latencies)
      named += std::string(name) + ' ';
  std::istringstream header(read("sw_models/timing/engines/latencies.hpp"));
  std::size_t latencies = 0;
  for (std::string line; std::getline(header, line);) {
    const std::size_t at = line.find(" k");
    if (line.rfind("inline constexpr", 0) != 0 || at == std::string::npos) continue;
    const std::string name = line.substr(at + 1, line.find(' ', at + 1) - at - 1);
    EXPECT_NE(named.find(name + ' '), std::string::npos) << name;
    ++latencies;
  }
  EXPECT_GT(latencies, 20U);
}

TEST(Places, SectionsExist) {
  const std::string page = read("docs/timing-model.md");
  for (const Places &places : runtime::all_places())
    EXPECT_NE(page.find("# " + std::string(places.section) + "\n"), std::string::npos) << places.section;
}

TEST(Places, DependOnWhatDiffers) {
  EXPECT_EQ(runtime::where_to_look(Event::kIssue, "GEMM", "compute0").rtl.front(), "rtl/cmd/gw_cmd_fetch.sv");
  EXPECT_EQ(runtime::where_to_look(Event::kDone, "LOAD", "load").rtl.front(), "rtl/dma/gw_dma_load.sv");
  EXPECT_EQ(runtime::where_to_look(Event::kDone, "STORE", "store").rtl.front(), "rtl/dma/gw_dma_store.sv");
  EXPECT_EQ(runtime::where_to_look(Event::kDone, "GEMM", "compute0").rtl.front(), "rtl/core/gw_shadow_ctrl.sv");
  EXPECT_EQ(runtime::where_to_look(Event::kDone, "SYNC", "compute0").rtl.front(), "rtl/core/gw_gemm_core.sv");
  EXPECT_EQ(runtime::where_to_look(Event::kDone, "SYNC", "load").rtl.front(), "rtl/dma/gw_dma_order.sv");
  for (const isa::CounterInfo &counter : isa::kCounters)
    EXPECT_EQ(runtime::where_to_look_for_counter(counter.name).section.empty(), false) << counter.name;
  EXPECT_EQ(runtime::where_to_look_for_counter("CYCLES").rtl.front(), "rtl/cmd/gw_run_ctrl.sv");
}

} // namespace
} // namespace gradweave::test
