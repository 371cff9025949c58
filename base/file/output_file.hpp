// Output files that are either complete or absent.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave {

/// An output cannot be written. what() names the file, the reason and the remedy.
class OutputError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// A file that appears under its name only when commit() has written the last of it. Until then there is a temporary
/// file beside it, which the destructor removes; opening that up front shows before a long run that writing will work.
/// "-" is standard output; it and what is no regular file (a pipe, a device) are written directly.
class OutputFile {
public:
  /// Throws OutputError if the file cannot be created or replaced.
  explicit OutputFile(std::filesystem::path file);
  ~OutputFile();
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;

  /// Writes `text` behind what was written before; throws OutputError.
  void append(std::string_view text);
  /// The same, and makes the file appear; throws OutputError and leaves an earlier file as it was.
  void commit(std::string_view text);

private:
  void remove();

  std::filesystem::path file_, temporary_;
  int fd_ = -1;
};

/// The file that is replaced when `file` is written: the one behind a symbolic link, not the link.
std::filesystem::path written_file(const std::filesystem::path &file);
/// Temporary files of OutputFiles of that name in its directory: of processes at work, and of those that were killed.
std::vector<std::filesystem::path> temporaries_of(const std::filesystem::path &file);

/// `path` means a directory: it is one, or ends in '/'.
bool names_directory(const std::string &path);

/// Makes a directory and sees that files can be written there; throws OutputError that names `option`.
void make_output_directory(const std::string &path, std::string_view option);

/// `text` with everything but letters, digits, '-', '_' and '.' replaced by '_': part of a file's name.
std::string file_name_part(std::string_view text);

} // namespace gradweave
