#include "app/page/bar_rows.hpp"
#include "app/report/page/sections.hpp"

#include <fmt/format.h>

namespace gradweave::report {
namespace {

constexpr double kThousand = 1000;

/// Thousands of cycles of an engine by what it did: at work (as the first, second or third part), waiting inside or for
/// the memory, waiting for a semaphore. What is left of the layer's cycles is an engine without a command.
page::BarRows::Bar engine(const std::string &name, std::size_t part, double active, double inside, double semaphore) {
  page::BarRows::Bar bar{name, std::vector<double>(5, 0.0), {}};
  bar.parts[part] = active / kThousand;
  bar.parts[3] = inside / kThousand;
  bar.parts[4] = semaphore / kThousand;
  return bar;
}

page::BarRows::Row row_of(const Json &layer, const NpuFacts &npu) {
  const auto core = [&](const char *name) {
    return static_cast<double>(core_counters(layer, name, static_cast<std::uint64_t>(npu.cores))) / npu.cores;
  };
  const auto one = [&](const char *name) { return static_cast<double>(counter(layer, name)); };
  const auto cycles = layer.at("cycles").get<double>();
  page::BarRows::Row row;
  row.name = layer.at("name").get<std::string>();
  row.bars = {engine("array", 0, core("COMPUTE_ACTIVE") + core("COMPUTE_ADD"),
                     core("COMPUTE_BANK") + core("COMPUTE_SHADOW") + core("COMPUTE_DRAIN"), core("COMPUTE_SEM")),
              engine("load", 1, one("LOAD_ACTIVE"), one("LOAD_DRAM"), one("LOAD_SEM")),
              engine("store", 2, one("STORE_ACTIVE"), one("STORE_DRAM"), one("STORE_SEM"))};
  for (page::BarRows::Bar &bar : row.bars)
    bar.mark = cycles / kThousand;
  return row;
}

} // namespace

void add_engine_time(page::Document &page, const std::vector<const Json *> &layers, const NpuFacts &npu) {
  page::BarRows chart{"Engine time by layer",
                      "1000 cycles",
                      {"array at work", "load at work", "store at work", "waiting inside, or for the memory",
                       "waiting for a semaphore"},
                      {},
                      {0, 1, 2, 3, 7}};
  for (const Json *layer : longest(layers, kDrawnLayers))
    chart.rows.push_back(row_of(*layer, npu));
  page.heading("Engine time", "engines");
  page.figure(
      draw(chart, page.next_drawing()),
      "Of each layer the array, the load and the store engine, from the top; the mark is the layer's end. An "
      "engine waits for a semaphore while it needs what another one has not done yet; where there is no bar, it "
      "has no command." +
          std::string(npu.cores > 1 ? " The array's time is the mean of the cores." : "") +
          which_are_drawn(layers.size(), kDrawnLayers));
}

} // namespace gradweave::report
