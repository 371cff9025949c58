// What `gradweave wavediff` is asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gradweave::cli {

struct WavediffArguments {
  std::string a, b;                          ///< FST files
  std::vector<std::string> signals, exclude; ///< patterns
  std::string scope_a, scope_b, clock, json, save;
  std::uint64_t from = 0, to = ~std::uint64_t{0}, period = 0;
  std::int64_t offset = 0;
  bool common = false, ignore_unknown = false;
  std::size_t limit = 20; ///< signals listed
};

/// Compares two waveform files (docs/waves.md); the exit code.
int wavediff(const WavediffArguments &arguments);

} // namespace gradweave::cli
