// GTKWave save files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gradweave::wave {

struct SavedGroup {
  std::string title;                ///< a comment line above the signals
  std::vector<std::string> signals; ///< with range: "TOP.npu.x_q[7:0]"
};

struct SaveFile {
  std::string waveform;     ///< the FST file
  std::uint64_t marker = 0; ///< time of the primary marker, in the waveform's unit; shown in the middle
  std::uint64_t span = 1;   ///< units of time to be seen, about
  std::vector<SavedGroup> groups;
};

/// The text of a .gtkw file that shows `save`: open it with `gtkwave FILE`. The waveform is named by its absolute path.
std::string save_file_text(const SaveFile &save);

} // namespace gradweave::wave
