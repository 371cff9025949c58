// Writes FST waveform files.
#pragma once

#include "trace/fst/change_list.hpp"
#include "trace/fst/fst_file.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gradweave::wave {

struct WrittenSignal {
  Signal signal; ///< name, range, kind and width
  const ChangeList *changes = nullptr;
};

struct WriterOptions {
  int timescale = -12;        ///< power of ten of a second
  std::uint64_t end_time = 0; ///< not below the last change
  std::string version = "gradweave";
};

/// Signals in the order in which the hierarchy shall hold them; scopes are the dotted parts of their names but the
/// last. The same input gives the same bytes: the file's date is fixed. Throws std::runtime_error if the file cannot be
/// written.
void write_fst(const std::string &file, const std::vector<WrittenSignal> &signals, const WriterOptions &options);

/// Writes the signals of `source` that `take` lists (names), over the whole time.
void copy_signals(const FstFile &source, const std::vector<std::string> &take, const std::string &file);

} // namespace gradweave::wave
