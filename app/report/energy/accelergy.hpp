// Counts for Accelergy (Wu, Emer, Sze, ICCAD 2019; github.com/Accelergy-Project/accelergy), which prices the actions of
// an architecture's components by its own tables and plug-ins.
#pragma once

#include "base/file/output_file.hpp"
#include "sw_models/config/machine.hpp"
#include "sw_models/energy/access_counts.hpp"

#include <cstdint>
#include <string>

namespace gradweave::report {

/// A YAML file with the keys `architecture` and `action_counts` of Accelergy's version 0.3, which 0.4 reads too.
/// Memories are counted in words of 8 bytes. `cycles` are counted if the machine has static power.
std::string accelergy_counts(const AccessCounts &counts, std::uint64_t cycles, const Machine &machine);

/// The prices of the machine's table [energy] as Accelergy's key `ERT`, in pJ: with it the sum of its estimates is that
/// of energy_of().
std::string accelergy_prices(const Machine &machine);

/// Both files, known to be writable before the work begins.
class AccelergyFiles {
public:
  /// NAME.yaml and NAME.ert.yaml. Throws OutputError; std::invalid_argument if the name does not end in .yaml, or
  /// `schedules`, whose counts they would be, are several.
  AccelergyFiles(const std::string &file, std::size_t schedules);
  void commit(const AccessCounts &counts, std::uint64_t cycles, const Machine &machine);

private:
  OutputFile counts_, prices_;
};

} // namespace gradweave::report
