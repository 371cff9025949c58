#include "app/report/energy/energy_report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace gradweave::report {
namespace {

constexpr double kPicojoulesPerMillijoule = 1e9;

std::string share(double part, double all) { return fmt::format("{:.1f}", 100 * part / all); }

std::string line(const EnergyRow &row, const Machine &machine, std::size_t width) {
  const Energy e = energy_of(row.counts, row.cycles, machine);
  const double all = e.total();
  std::string text = fmt::format("           {:<{}} {:>7} {:>10} {:>7} {:>7} {:>7} {:>12.6g}", row.name, width,
                                 share(e.array, all), share(e.spm, all), share(e.bus, all), share(e.dram, all),
                                 share(e.leakage, all), all / kPicojoulesPerMillijoule);
  if (row.cycles != 0)
    text += fmt::format(" {:>8.4g} {:>11.5g}", mean_power(all, row.cycles, machine),
                        1e6 * energy_delay(all, row.cycles, machine)); // J s in mJ ms
  return text + '\n';
}

} // namespace

std::string energy_table(const std::vector<EnergyRow> &rows, const Machine &machine) {
  std::vector<EnergyRow> shown;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(shown),
               [&](const EnergyRow &row) { return energy_of(row.counts, row.cycles, machine).total() > 0; });
  if (shown.empty()) return {};
  std::size_t width = 0;
  for (const EnergyRow &row : shown)
    width = std::max(width, row.name.size());
  std::string text = fmt::format("energy     {:<{}} {:>7} {:>10} {:>7} {:>7} {:>7} {:>12} {:>8} {:>11}\n", "% of",
                                 width, "array", "scratchpad", "bus", "DRAM", "static", "mJ in all", "W", "mJ ms");
  for (const EnergyRow &row : shown)
    text += line(row, machine, width);
  return text;
}

nlohmann::ordered_json energy_json(const AccessCounts &counts, std::uint64_t cycles, const Machine &machine) {
  const Energy e = energy_of(counts, cycles, machine);
  const double all = e.total();
  return {{"array_pj", e.array},
          {"scratchpad_pj", e.spm},
          {"bus_pj", e.bus},
          {"dram_pj", e.dram},
          {"static_pj", e.leakage},
          {"total_pj", all},
          {"mean_watts", mean_power(all, cycles, machine)},
          {"energy_delay_joule_seconds", energy_delay(all, cycles, machine)}};
}

nlohmann::ordered_json prices_json(const Machine &machine) {
  EnergyConfig prices = machine.energy;
  prices.spm_read_pj_per_byte = machine.spm_read_pj_per_byte();
  prices.spm_write_pj_per_byte = machine.spm_write_pj_per_byte();
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const EnergyKey &key : energy_keys())
    json[std::string(key.name)] = key.field != nullptr ? prices.*key.field : (prices.*key.optional_field).value_or(0.0);
  return json;
}

} // namespace gradweave::report
