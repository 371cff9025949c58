#include "app/evaluation/unit/results_file.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace gradweave::evaluation {
namespace {

constexpr int kApplication = 0x67775245; ///< "gwRE": what file(1) and others tell the file by

} // namespace

ResultsFile::ResultsFile(const std::filesystem::path &file) : database_(file, DatabaseAccess::kExclusive) {
  Transaction transaction(database_);
  if (database_.pragma("application_id") == 0 && database_.pragma("schema_version") == 0)
    database_.execute(fmt::format("PRAGMA application_id = {}; CREATE TABLE results (key TEXT PRIMARY KEY, value TEXT "
                                  "NOT NULL) WITHOUT ROWID",
                                  kApplication));
  if (database_.pragma("application_id") != kApplication)
    throw DatabaseError(
        fmt::format("{}: is a database of something else and is left as it is; name another directory", file.string()));
  Statement all(database_, "SELECT key, value FROM results");
  while (all.step())
    texts_[all.text(0)] = all.text(1);
  transaction.commit();
}

const std::string *ResultsFile::find(const std::string &key) const {
  const auto it = texts_.find(key);
  return it == texts_.end() ? nullptr : &it->second;
}

void ResultsFile::keep(const std::string &key, const std::string &text) {
  Statement insert(database_, "INSERT OR REPLACE INTO results VALUES (?, ?)");
  insert.bind(key).bind(text);
  insert.run();
  texts_[key] = text;
}

} // namespace gradweave::evaluation
