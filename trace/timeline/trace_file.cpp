#include "trace/timeline/trace_file.hpp"

#include <zlib.h>

#include <array>
#include <stdexcept>

namespace gradweave::runtime::timeline {

/// One gzip member. It holds no time stamp, so equal text gives equal files.
class TraceFile::Gzip {
public:
  explicit Gzip(OutputFile &output) : output_(output) {
    constexpr int kGzipWindow = 15 + 16; // the largest window; 16 asks for the gzip header
    constexpr int kMemoryLevel = 8;      // zlib's default
    constexpr int kFast = 3;             // a third larger than the default's output, in a quarter of its time
    if (deflateInit2(&stream_, kFast, Z_DEFLATED, kGzipWindow, kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK)
      throw std::runtime_error("zlib cannot start to compress: out of memory");
  }
  ~Gzip() { deflateEnd(&stream_); }
  Gzip(const Gzip &) = delete;
  Gzip &operator=(const Gzip &) = delete;

  void append(std::string_view text) { run(text, Z_NO_FLUSH); }
  void finish() { run({}, Z_FINISH); }

private:
  void run(std::string_view text, int flush) {
    // zlib reads through this pointer only; its interface is older than const.
    stream_.next_in = const_cast<Bytef *>(reinterpret_cast<const Bytef *>(text.data()));
    stream_.avail_in = static_cast<uInt>(text.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef *>(buffer_.data());
      stream_.avail_out = static_cast<uInt>(buffer_.size());
      deflate(&stream_, flush);
      output_.append({buffer_.data(), buffer_.size() - stream_.avail_out});
    } while (stream_.avail_out == 0);
  }

  OutputFile &output_;
  z_stream stream_{};
  std::array<char, 65536> buffer_{};
};

Compression compression_of(const std::filesystem::path &file) {
  return file.extension() == ".gz" ? Compression::kGzip : Compression::kNone;
}

TraceFile::TraceFile(OutputFile &output, Compression compression) : output_(output) {
  if (compression == Compression::kGzip) gzip_ = std::make_unique<Gzip>(output_);
}

TraceFile::~TraceFile() = default;

void TraceFile::append(std::string_view text) {
  if (gzip_)
    gzip_->append(text);
  else
    output_.append(text);
}

void TraceFile::commit() {
  if (gzip_) gzip_->finish();
  output_.commit({});
}

} // namespace gradweave::runtime::timeline
