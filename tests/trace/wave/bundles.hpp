// Bundled ports of the RTL, whose parts goldens hold under names of their own (bundles.txt): a golden outlives a port
// that becomes a struct, and a difference is told of the field, not of the bits of a vector.
#pragma once

#include "trace/fst/fst_file.hpp"
#include "trace/wave/signal_filter.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gradweave::wave {

struct Part {
  std::string name, bundle;
  std::uint32_t lsb = 0, width = 0; ///< bits of each copy of the bundle
  std::uint32_t stride = 0;         ///< bits of a copy
};

/// Throws ConfigError, with file and line, if the file cannot be read or has a line that is no part.
std::vector<Part> read_bundles(const std::string &file);

/// The part of a bundle's changes; copies above each other as in the bundle.
ChangeList part_of(const ChangeList &bundle, const Part &part);

/// Writes what a golden holds of `run`: the signals that `filter` takes, and in the place of a bundle its parts that
/// `filter` takes. Throws ConfigError if a bundle of the file is no whole number of copies.
void write_held(const FstFile &run, const SignalFilter &filter, const std::vector<Part> &parts,
                const std::string &file);

} // namespace gradweave::wave
