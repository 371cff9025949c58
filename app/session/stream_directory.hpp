// The streams of a network's layers in a directory, all or none.
#pragma once

#include "compiler/compiler.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace gradweave::cli {

/// Streams are written as they are compiled, into a directory of their own inside the one asked for, so that no more
/// than one has to be held; commit() moves them to their names. Without it, nothing is left behind.
class StreamDirectory {
public:
  /// Makes the directory, if it is not there; throws OutputError.
  explicit StreamDirectory(const std::string &directory);
  ~StreamDirectory();
  StreamDirectory(const StreamDirectory &) = delete;
  StreamDirectory &operator=(const StreamDirectory &) = delete;

  /// Throws OutputError.
  void add(const compiler::Compiled &compiled, bool listing);
  void commit();

private:
  /// What goes if the streams are not committed.
  const std::filesystem::path &begun() const { return made_.empty() ? staging_ : made_; }

  std::filesystem::path directory_, made_, staging_; ///< made_: the topmost directory that was not there before
  std::vector<std::string> files_;
};

/// "3-ffn1.gws"
std::string stream_file_name(const compiler::Compiled &compiled);

} // namespace gradweave::cli
