// Results of work that is done already, in a file that survives an interruption at any time.
#pragma once

#include "base/database/database.hpp"

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>

namespace gradweave::evaluation {

/// An SQLite file with a table `evaluations`: a text for each key, and a checksum of both; a row that is not as it was
/// written is as good as none. One process at a time can have it open, so all that it holds is read once.
class ResultsFile {
public:
  /// Opens the file, or makes it. Throws DatabaseBusy if another process has it open, DatabaseError if it is damaged or
  /// something else, which is left as it is, OutputError if it cannot be written.
  explicit ResultsFile(const std::filesystem::path &file);

  /// The text of `key`; null if there is none.
  const std::string *find(const std::string &key) const;
  /// Keeps a text in place of an earlier one; it is there even if this process is killed then. Throws as the
  /// constructor.
  void keep(const std::string &key, const std::string &text);

  std::size_t size() const { return texts_.size(); }
  const std::filesystem::path &file() const { return database_.file(); }

private:
  Database database_;
  std::map<std::string, std::string> texts_;
};

} // namespace gradweave::evaluation
