#include "app/evaluation/unit/results_file.hpp"

#include "base/key/fingerprint.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace gradweave::evaluation {
namespace {

constexpr int kApplication = 0x67775245; ///< "gwRE": what file(1) and others tell the file by

std::string checksum_of(const std::string &key, const std::string &text) { return Fingerprint().add(key, text).hex(); }

} // namespace

ResultsFile::ResultsFile(const std::filesystem::path &file) : database_(file, DatabaseAccess::kExclusive) {
  Transaction transaction(database_);
  if (database_.pragma("application_id") == 0 && database_.pragma("schema_version") == 0)
    database_.execute(fmt::format("PRAGMA application_id = {}", kApplication));
  if (database_.pragma("application_id") != kApplication)
    throw DatabaseError(
        fmt::format("{}: is a database of something else and is left as it is; name another directory", file.string()));
  database_.execute("CREATE TABLE IF NOT EXISTS evaluations (key TEXT PRIMARY KEY, value TEXT NOT NULL, sum TEXT NOT "
                    "NULL) WITHOUT ROWID");
  Statement all(database_, "SELECT key, value, sum FROM evaluations");
  while (all.step())
    if (all.text(2) == checksum_of(all.text(0), all.text(1))) texts_[all.text(0)] = all.text(1);
  transaction.commit();
}

const std::string *ResultsFile::find(const std::string &key) const {
  const auto it = texts_.find(key);
  return it == texts_.end() ? nullptr : &it->second;
}

void ResultsFile::keep(const std::string &key, const std::string &text) {
  Statement insert(database_, "INSERT OR REPLACE INTO evaluations VALUES (?, ?, ?)");
  insert.bind(key).bind(text).bind(checksum_of(key, text));
  insert.run();
  texts_[key] = text;
}

} // namespace gradweave::evaluation
