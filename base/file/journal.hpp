// Results of work that is done already, in a file that survives an interruption at any time.
#pragma once

#include "base/file/output_file.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace gradweave {

/// Another process has the journal open.
class JournalInUse : public OutputError {
public:
  using OutputError::OutputError;
};

/// A file of JSON lines {"key": ..., "value": ..., "sum": ...}, only ever appended to; the sum is a checksum of key and
/// value. Lines that are not whole, as the last one of an interrupted run, or not as they were written, are skipped;
/// the last value of a key counts. One process at a time can have it open.
class Journal {
public:
  /// Opens `file`, or makes it. Throws JournalInUse if another process has it open, OutputError if it cannot be
  /// written; both messages end in `remedy`, as "name another directory with --out".
  Journal(std::filesystem::path file, std::string remedy);
  ~Journal();
  Journal(const Journal &) = delete;
  Journal &operator=(const Journal &) = delete;

  /// The value of `key`; null if there is none.
  const std::string *find(const std::string &key) const;
  /// Adds a value, one line of JSON, and hands it to the operating system. Throws OutputError.
  void append(const std::string &key, const std::string &value);

  /// Forgets all values. Throws OutputError.
  void clear();

  std::size_t size() const { return values_.size(); }
  /// Lines that were skipped when the file was opened.
  std::size_t damaged_lines() const { return damaged_; }
  const std::filesystem::path &file() const { return file_; }

  /// A line of the file.
  static std::string line(const std::string &key, const std::string &value);
  /// Key and value, as JSON, of one line of the file; nothing if the line is damaged or was changed.
  static std::optional<std::pair<std::string, std::string>> parse_line(const std::string &line);

private:
  void read();
  void write(const std::string &line);

  std::filesystem::path file_;
  std::string remedy_;
  int fd_ = -1;
  std::map<std::string, std::string> values_;
  std::size_t damaged_ = 0;
};

} // namespace gradweave
