#include "bench/section.hpp"
#include "bench/vector_rate.hpp"

#include <fmt/format.h>

namespace gradweave::bench {
namespace {

constexpr const char *kRow = "{:<28} {:>10} {:>22} {:>12} {:>12}\n";
constexpr double kTarget = 100e6;

class VectorSection final : public Section {
public:
  std::string title() const override {
    return "Synthesizable RTL of the vector unit, fp32 fused, one thread, CPU time";
  }
  std::string head() const override {
    return fmt::format(kRow, "program", "lanes", "10^6 lane-operations/s", "cycles/s", "lanes used");
  }
  std::vector<Measurement> measurements() const override {
    return {
        {"vector unit", 6, [](const auto &) { return json("Gelu by erf, unit alone", vector_rate()); }},
        {"vector unit in small", 4, [](const auto &) { return json("the same in NPU small", vector_rate_in_npu()); }}};
  }
  std::string rows(const Json &m, std::vector<std::string> &missed) const override {
    const double operations = m["operations"], cycles = m["cycles"], rate = m["rate"];
    if (rate < kTarget)
      missed.push_back(fmt::format("{}: {:.0f} million lane-operations a second, of {:.0f}",
                                   m["name"].get<std::string>(), rate / 1e6, kTarget / 1e6));
    return fmt::format(kRow, m["name"].get<std::string>(), "45 x 4", fmt::format("{:.0f}", rate / 1e6),
                       fmt::format("{:.0f}", rate / operations * cycles),
                       fmt::format("{:.1f} %", 100 * operations / cycles / 180));
  }
  std::string conclusion(const std::vector<Json> & /*measured*/) const override { return ""; }

private:
  static Json json(const char *name, const VectorRate &rate) {
    return {{"name", name}, {"operations", rate.operations}, {"cycles", rate.cycles}, {"rate", rate.operations_per_s}};
  }
};

} // namespace

std::unique_ptr<Section> vector_section() { return std::make_unique<VectorSection>(); }

} // namespace gradweave::bench
