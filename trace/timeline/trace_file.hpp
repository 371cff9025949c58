// What a timeline is streamed into: an output file, compressed if asked for.
#pragma once

#include "base/file/output_file.hpp"

#include <filesystem>
#include <memory>
#include <string_view>

namespace gradweave::runtime::timeline {

enum class Compression { kNone, kGzip };
/// kGzip if the name ends in .gz; viewers open such files as they are.
Compression compression_of(const std::filesystem::path &file);

class TraceFile {
public:
  /// `output` must outlive it and take nothing else.
  TraceFile(OutputFile &output, Compression compression);
  ~TraceFile();
  TraceFile(const TraceFile &) = delete;
  TraceFile &operator=(const TraceFile &) = delete;

  /// Throws OutputError if the text cannot be written.
  void append(std::string_view text);
  /// Makes the file appear under its name; nothing may follow. Throws OutputError.
  void commit();

private:
  class Gzip;
  OutputFile &output_;
  std::unique_ptr<Gzip> gzip_; ///< null: not compressed
};

} // namespace gradweave::runtime::timeline
