// The waveform of a job, which a library writes that reports no errors: it appears under its name when it is whole.
#pragma once

#include <filesystem>
#include <string>

namespace gradweave::runtime {

/// A temporary directory beside the waveform `file`, for it and what the library writes beside it. The destructor
/// removes it. An empty `file` stands for no waveform.
class TraceFile {
public:
  TraceFile() = default;
  /// Throws OutputError if the directory cannot be made.
  explicit TraceFile(std::filesystem::path file);
  ~TraceFile();
  TraceFile(const TraceFile &) = delete;
  TraceFile &operator=(const TraceFile &) = delete;
  TraceFile(TraceFile &&other) noexcept;
  TraceFile &operator=(TraceFile &&other) noexcept;

  /// Where the waveform is to be written; empty: nowhere.
  std::string partial() const;
  /// Makes the waveform appear, if there is one. Throws OutputError if it is not whole.
  void commit();
  /// What to say of a process that was killed by `signal` while it wrote the waveform: a full disk does that to pages
  /// of files in memory. Empty: something else killed it.
  std::string killed_by(int signal) const;

private:
  void remove() noexcept;

  std::filesystem::path file_, directory_;
};

/// Throws std::runtime_error unless `file` is a whole FST file.
void check_waveform(const std::string &file);

} // namespace gradweave::runtime
