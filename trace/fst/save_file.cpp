#include "trace/fst/save_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace gradweave::wave {
namespace {

// Flags of a line of the trace list, hexadecimal: how the signals below are shown.
constexpr const char *kComment = "@200", *kBinary = "@28", *kHexadecimal = "@22";

constexpr double kPixels = 1000; ///< a common width of the window

} // namespace

std::string save_file_text(const SaveFile &save) {
  const std::string waveform = std::filesystem::absolute(save.waveform).lexically_normal().string();
  const std::uint64_t half = save.span / 2;
  // The zoom is the negative binary logarithm of the time that a pixel takes. After it: the primary marker, then the
  // 26 named ones, unset.
  const double zoom = -std::log2(std::max(1.0, static_cast<double>(save.span) / kPixels));
  std::string text = fmt::format("[dumpfile] \"{}\"\n[timestart] {}\n*{:.6f} {}", waveform,
                                 save.marker - std::min(half, save.marker), zoom, save.marker);
  for (int named = 0; named < 26; ++named)
    text += " -1";
  text += "\n";
  for (const SavedGroup &group : save.groups) {
    if (group.signals.empty()) continue;
    text += fmt::format("{}\n-{}\n", kComment, group.title);
    for (const std::string &signal : group.signals)
      text += fmt::format("{}\n{}\n", signal.back() == ']' ? kHexadecimal : kBinary, signal);
  }
  return text;
}

} // namespace gradweave::wave
