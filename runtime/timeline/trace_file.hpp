// The file that a timeline is streamed into: as it is, or gzip-compressed if its name ends in .gz.
#pragma once

#include "runtime/output_file.hpp"

#include <filesystem>
#include <memory>
#include <string_view>

namespace gradweave::runtime::timeline {

class TraceFile {
public:
  /// Throws OutputError if the file cannot be created.
  explicit TraceFile(const std::filesystem::path &file);
  ~TraceFile();
  TraceFile(const TraceFile &) = delete;
  TraceFile &operator=(const TraceFile &) = delete;

  /// Throws OutputError if the text cannot be written.
  void append(std::string_view text);
  /// Makes the file appear under its name; nothing may follow. Throws OutputError.
  void commit();

private:
  class Gzip;
  OutputFile output_;
  std::unique_ptr<Gzip> gzip_; ///< null: not compressed
};

} // namespace gradweave::runtime::timeline
