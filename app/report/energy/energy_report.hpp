// Energies for people and for programs.
#pragma once

#include "sw_models/energy/energy.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace gradweave::report {

/// What a schedule, say, accessed, and in how many cycles (0: the backend has no time).
struct EnergyRow {
  std::string name;
  AccessCounts counts;
  std::uint64_t cycles = 0;
};

/// A table of energies by component in % of all, with totals, mean power and energy-delay product; a line each. Nothing
/// for rows without any energy.
std::string energy_table(const std::vector<EnergyRow> &rows, const Machine &machine);

/// "energy" of a JSON report: pJ by component and in all, power in W, energy-delay product in J s.
nlohmann::ordered_json energy_json(const AccessCounts &counts, std::uint64_t cycles, const Machine &machine);
/// The prices that they are of, by the names that table [energy] has for them.
nlohmann::ordered_json prices_json(const Machine &machine);

} // namespace gradweave::report
