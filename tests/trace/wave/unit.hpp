// What the unit tests of waveforms share.
#pragma once

#include "tests/support/scratch_directory.hpp"
#include "trace/fst/fst_writer.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace gradweave::wave {

/// Changes as {time, value}.
inline ChangeList changes(std::initializer_list<std::pair<std::uint64_t, const char *>> list) {
  ChangeList made;
  for (const auto &[time, value] : list)
    made.append(time, value);
  return made;
}

/// A file in the test's own directory, as one says it in a line; removed with the object.
class TemporaryFst {
public:
  explicit TemporaryFst(const std::string &name) : file(test::scratch_file(name + ".fst")) {}
  ~TemporaryFst() { std::remove(file.c_str()); }
  TemporaryFst(const TemporaryFst &) = delete;
  TemporaryFst &operator=(const TemporaryFst &) = delete;

  TemporaryFst &bits(const std::string &name, std::uint32_t width, ChangeList list) {
    return add({name, width > 1 ? "[" + std::to_string(width - 1) + ":0]" : "", SignalKind::kBits, width, 0},
               std::move(list));
  }
  TemporaryFst &add(Signal signal, ChangeList list) {
    signals_.push_back(std::move(signal));
    lists_.push_back(std::move(list));
    return *this;
  }
  /// Writes what was added.
  const std::string &write(std::uint64_t end_time = 100, int timescale = -9) {
    std::vector<WrittenSignal> written;
    for (std::size_t i = 0; i < signals_.size(); ++i)
      written.push_back({signals_[i], &lists_[i]});
    write_fst(file, written, {timescale, end_time});
    return file;
  }

  const std::string file;

private:
  std::vector<Signal> signals_;
  std::vector<ChangeList> lists_;
};

} // namespace gradweave::wave
