// A sweep's file: its points, and the results that there are so far.
#pragma once

#include "app/sweep/result.hpp"
#include "app/sweep/study.hpp"
#include "base/database/database.hpp"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gradweave::sweep {

/// A row of the table: a point, and its result if there is one.
struct Row {
  std::size_t number = 0; ///< of the point, from 0
  Point point;
  std::optional<Result> result;
};

/// All points of a study with their results, for tables and pages.
struct Table {
  Identity identity;
  std::vector<std::string> fields; ///< of the points
  std::vector<Row> rows;           ///< in the order of the points
  std::size_t missing() const;
  std::size_t count(Outcome outcome) const;
};

/// An SQLite file with the tables `points` (a column for each field), `results` (a column for each number), and
/// `sweep`, which is both side by side. Whose file it is, each point and each result have a checksum. Any number of
/// processes of one machine may work at it: each takes points that no living process has taken. Errors are those of
/// Database; DatabaseError also if the file holds another study, or was made by another version of gradweave: it is
/// left as it is.
class Store {
public:
  /// Opens the file, or makes it. Points that failed are to be tried again.
  Store(const std::filesystem::path &file, const Identity &identity, const std::vector<KeyedPoint> &points,
        DatabaseAccess access);

  /// Those of the keys that have no result yet, in their order.
  std::vector<std::string> missing(const std::vector<std::string> &keys);
  /// Takes a point for this process. False: it has a result, or a process that lives has taken it.
  bool claim(const std::string &key);
  /// Gives a point back.
  void release(const std::string &key);
  /// Keeps a result. A second one of a point is dropped.
  void keep(const std::string &key, const Result &result);
  /// Takes the points and results of another file over: how many results are new. Throws DatabaseError.
  std::size_t merge(const std::filesystem::path &other);

  /// Results that were found not to be as they were written, when the file was opened or in a file that was merged:
  /// they are gone, and their points are missing.
  std::size_t dropped() const { return dropped_; }

  const std::filesystem::path &file() const { return database_.file(); }

private:
  void make(const Identity &identity, const std::vector<KeyedPoint> &points);
  /// Removes results that are not as they were written: how many.
  std::size_t drop_changed();

  Database database_;
  Identity identity_;
  std::string owner_;
  std::size_t dropped_ = 0;
};

/// What a file says: whose it is, with all points. Throws DatabaseError if it is no such file, or not as it was
/// written.
std::pair<Identity, std::vector<KeyedPoint>> read_points(const std::filesystem::path &file);
Table read_table(const std::filesystem::path &file);

} // namespace gradweave::sweep
