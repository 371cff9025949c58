// An FST waveform file, read with GTKWave's library.
#pragma once

#include "trace/fst/change_list.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gradweave::wave {

enum class SignalKind { kBits, kReal, kString };

/// "bits", "real", "string"
const char *name_of(SignalKind kind);

struct Signal {
  std::string name;  ///< scopes and variable joined by dots, without the range: "TOP.npu.u_load.ar_valid_q"
  std::string range; ///< "[7:0]", or "" if the variable has none
  SignalKind kind = SignalKind::kBits;
  std::uint32_t width = 0;  ///< bits; 0 unless kind is kBits
  std::uint32_t handle = 0; ///< names its values in the file; several signals may share one
};

class FstFile {
public:
  /// Throws ConfigError if the file cannot be read, is no FST file or is damaged (trace/fst/file_check.hpp).
  explicit FstFile(const std::string &file);
  ~FstFile();
  FstFile(const FstFile &) = delete;
  FstFile &operator=(const FstFile &) = delete;

  const std::string &file() const { return file_; }
  /// In the order of the hierarchy. Names are unique: of variables of the same name in the same scope, the second and
  /// further ones get "#2", "#3" behind it.
  const std::vector<Signal> &signals() const { return signals_; }
  /// Power of ten of a second that a unit of time is: -12 for picoseconds.
  int timescale() const { return timescale_; }
  std::uint64_t start_time() const { return start_time_; }
  std::uint64_t end_time() const { return end_time_; }

  /// The changes of signals, in the order of `handles` (each from signals(), all different), over the whole file. The
  /// first change is the value at the file's beginning. Throws ConfigError if the values cannot be read.
  std::vector<ChangeList> load(const std::vector<std::uint32_t> &handles) const;

private:
  void read_hierarchy();

  std::string file_;
  std::unique_ptr<void, void (*)(void *)> context_;
  std::vector<Signal> signals_;
  int timescale_ = 0;
  std::uint64_t start_time_ = 0, end_time_ = 0;
};

} // namespace gradweave::wave
