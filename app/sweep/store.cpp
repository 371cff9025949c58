#include "app/sweep/store.hpp"

#include "app/sweep/owner.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <system_error>
#include <unordered_set>

namespace gradweave::sweep {
namespace {

namespace fs = std::filesystem;

constexpr int kFormat = 1;               ///< of the tables
constexpr int kApplication = 0x67775357; ///< "gwSW": what file(1) and others tell the file by

std::vector<std::string> fields_of(const std::vector<KeyedPoint> &points) {
  std::vector<std::string> fields;
  if (!points.empty())
    for (const Field &field : points.front().point)
      fields.push_back(field.name);
  return fields;
}

/// Numbers go in as numbers, so that they are ordered as such; what would come out as another text is text.
void bind_value(Statement &statement, const std::string &text) {
  std::int64_t whole = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (error == std::errc() && end == text.data() + text.size() && std::to_string(whole) == text)
    statement.bind(whole);
  else
    statement.bind(text);
}

[[noreturn]] void refuse(const Database &database, const std::string &problem) {
  throw DatabaseError(fmt::format("{}: {}", database.file().string(), problem));
}

/// Throws unless the file is one of sweeps, of this form.
void check_format(Database &database) {
  if (database.pragma("application_id") != kApplication)
    refuse(database, "is a database of something else and is left as it is; name another file");
  if (const std::int64_t format = database.pragma("user_version"); format != kFormat)
    refuse(database, fmt::format("has the form {} of a sweep's file, but this gradweave knows {}; it is left as it is: "
                                 "name another file, or use the gradweave that made it",
                                 format, kFormat));
}

std::string meta(Database &database, const std::string &name) {
  Statement statement(database, "SELECT value FROM meta WHERE name = ?");
  statement.bind(name);
  return statement.step() ? statement.text(0) : std::string();
}

Identity identity_in(Database &database) {
  return {meta(database, "study"), meta(database, "title"), meta(database, "tool")};
}

void check_identity(Database &database, const Identity &wanted) {
  const Identity there = identity_in(database);
  if (there.tool.empty())
    refuse(database, "is damaged: it does not say whose results it holds; it is left as it is; `sqlite3 FILE .recover` "
                     "may read the rest of it; name another file");
  if (there.tool != wanted.tool)
    refuse(database,
           fmt::format("its results are of compiler and models {}, and these are {}: they could differ. It is "
                       "left as it is; name another file, or read it with `gradweave sweep collect`",
                       there.tool, wanted.tool));
  if (there.study != wanted.study)
    refuse(database, fmt::format("holds the points of another study{}; it is left as it is: name another file with "
                                 "--out, or repeat that study",
                                 there.title.empty() ? std::string() : fmt::format(", '{}'", there.title)));
}

std::vector<std::string> point_columns(Database &database) {
  std::vector<std::string> names;
  Statement statement(database, "SELECT name FROM pragma_table_info('points') WHERE name NOT IN ('number', 'key')");
  while (statement.step())
    names.push_back(statement.text(0));
  return names;
}

std::string result_columns() {
  std::vector<std::string> names;
  for (const Column &column : columns)
    names.emplace_back(column.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

void insert_points(Database &database, const std::vector<KeyedPoint> &points) {
  std::string marks;
  for (std::size_t i = 0; i < points.front().point.size(); ++i)
    marks += ", ?";
  Statement insert(database, fmt::format("INSERT INTO points VALUES (?, ?{})", marks));
  for (std::size_t number = 0; number < points.size(); ++number) {
    insert.bind(static_cast<std::int64_t>(number)).bind(points[number].key);
    for (const Field &field : points[number].point)
      bind_value(insert, field.value);
    insert.run();
  }
}

} // namespace

std::size_t Table::missing() const {
  return static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), [](const Row &r) { return !r.result; }));
}

std::size_t Table::count(Outcome outcome) const {
  return static_cast<std::size_t>(
      std::count_if(rows.begin(), rows.end(), [&](const Row &r) { return r.result && r.result->outcome == outcome; }));
}

Store::Store(const fs::path &file, const Identity &identity, const std::vector<KeyedPoint> &points,
             DatabaseAccess access)
    : database_(file, access), identity_(identity), owner_(this_owner()) {
  Transaction transaction(database_);
  if (database_.pragma("application_id") == 0 && database_.pragma("schema_version") == 0) make(identity, points);
  check_format(database_);
  check_identity(database_, identity);
  // Files that a study names may have changed since: then its points have other keys, and other results.
  Statement key(database_, "SELECT key FROM points ORDER BY number");
  bool same = true;
  for (const KeyedPoint &point : points)
    same = same && key.step() && key.text(0) == point.key;
  if (!same) {
    database_.execute("DELETE FROM points");
    insert_points(database_, points);
  }
  database_.execute("DELETE FROM results WHERE outcome = 'failed'");
  transaction.commit();
}

void Store::make(const Identity &identity, const std::vector<KeyedPoint> &points) {
  std::string fields, numbers;
  for (const std::string &field : fields_of(points))
    fields += ", " + sql_name(field);
  for (const Column &column : columns)
    numbers += fmt::format(", {} {}", column.name, column.whole ? "INTEGER" : "REAL");
  database_.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};"
                                "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT);"
                                "CREATE TABLE points (number INTEGER PRIMARY KEY, key TEXT NOT NULL{});"
                                "CREATE TABLE results (key TEXT PRIMARY KEY, outcome TEXT NOT NULL, problem TEXT NOT "
                                "NULL{}, seconds REAL, ended TEXT);"
                                "CREATE TABLE claims (key TEXT PRIMARY KEY, owner TEXT NOT NULL);"
                                "CREATE VIEW sweep AS SELECT number{}, outcome, {}, problem FROM points LEFT JOIN "
                                "results USING (key) ORDER BY number",
                                kApplication, kFormat, fields, numbers, fields, result_columns()));
  Statement insert(database_, "INSERT INTO meta VALUES (?, ?)");
  for (const auto &[name, value] :
       {std::pair("study", identity.study), {"title", identity.title}, {"tool", identity.tool}}) {
    insert.bind(name).bind(value);
    insert.run();
  }
  insert_points(database_, points);
}

std::vector<std::string> Store::missing(const std::vector<std::string> &keys) {
  std::unordered_set<std::string> known;
  Statement all(database_, "SELECT key FROM results");
  while (all.step())
    known.insert(all.text(0));
  std::vector<std::string> missing;
  for (const std::string &key : keys)
    if (known.count(key) == 0) missing.push_back(key);
  return missing;
}

bool Store::claim(const std::string &key) {
  Transaction transaction(database_);
  Statement result(database_, "SELECT 1 FROM results WHERE key = ?");
  if (result.bind(key).step()) return false;
  Statement claim(database_, "SELECT owner FROM claims WHERE key = ?");
  if (claim.bind(key).step() && claim.text(0) != owner_ && lives(claim.text(0))) return false;
  Statement take(database_, "INSERT OR REPLACE INTO claims VALUES (?, ?)");
  take.bind(key).bind(owner_);
  take.run();
  transaction.commit();
  return true;
}

void Store::release(const std::string &key) {
  Statement statement(database_, "DELETE FROM claims WHERE key = ? AND owner = ?");
  statement.bind(key).bind(owner_);
  statement.run();
}

void Store::keep(const std::string &key, const Result &result) {
  Transaction transaction(database_);
  std::string marks;
  for (std::size_t i = 0; i < columns.size(); ++i)
    marks += ", ?";
  Statement insert(database_, fmt::format("INSERT OR IGNORE INTO results VALUES (?, ?, ?{}, ?, "
                                          "strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))",
                                          marks));
  insert.bind(key).bind(to_string(result.outcome)).bind(result.problem);
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (result.outcome != Outcome::kOk)
      insert.bind_null();
    else if (columns.at(i).whole)
      insert.bind(static_cast<std::int64_t>(result.values.at(i)));
    else
      insert.bind(result.values.at(i));
  insert.bind(result.seconds);
  insert.run();
  release(key);
  transaction.commit();
}

std::size_t Store::merge(const fs::path &other) {
  {
    Database source(other, DatabaseAccess::kRead);
    check_format(source);
    check_identity(source, identity_);
  }
  Statement attach(database_, "ATTACH ? AS other");
  attach.bind(other.string());
  attach.run();
  std::size_t merged = 0;
  try {
    Transaction transaction(database_);
    database_.execute("INSERT OR IGNORE INTO results SELECT * FROM other.results WHERE outcome <> 'failed'");
    Statement changes(database_, "SELECT changes()");
    if (changes.step()) merged = static_cast<std::size_t>(changes.integer(0));
    database_.execute("INSERT OR IGNORE INTO results SELECT * FROM other.results");
    transaction.commit();
  } catch (const DatabaseError &error) {
    throw DatabaseError(fmt::format("{}, merging {}", error.what(), other.string()));
  }
  database_.execute("DETACH other");
  return merged;
}

std::pair<Identity, std::vector<KeyedPoint>> read_points(const fs::path &file) {
  Database database(file, DatabaseAccess::kRead);
  check_format(database);
  const std::vector<std::string> fields = point_columns(database);
  std::vector<KeyedPoint> points;
  Statement all(database, "SELECT * FROM points ORDER BY number");
  while (all.step()) {
    KeyedPoint point{all.text(1), {}};
    for (std::size_t f = 0; f < fields.size(); ++f)
      point.point.push_back({fields[f], all.text(static_cast<int>(f) + 2)});
    points.push_back(std::move(point));
  }
  return {identity_in(database), std::move(points)};
}

Table read_table(const fs::path &file) {
  Database database(file, DatabaseAccess::kRead);
  check_format(database);
  Table table{identity_in(database), point_columns(database), {}};
  std::vector<std::string> names;
  for (const std::string &field : table.fields)
    names.push_back(sql_name(field));
  Statement all(database, fmt::format("SELECT number, outcome, problem, seconds, {}, {} FROM points LEFT JOIN results "
                                      "USING (key) ORDER BY number",
                                      result_columns(), fmt::join(names, ", ")));
  while (all.step()) {
    Row row{static_cast<std::size_t>(all.integer(0)), {}, std::nullopt};
    int at = 4;
    if (!all.is_null(1)) {
      row.result = Result{parse_outcome(all.text(1)), all.text(2), {}, all.number(3)};
      for (std::size_t i = 0; i < columns.size(); ++i)
        row.result->values.at(i) = all.number(at + static_cast<int>(i));
    }
    at += static_cast<int>(columns.size());
    for (const std::string &field : table.fields)
      row.point.push_back({field, all.text(at++)});
    table.rows.push_back(std::move(row));
  }
  return table;
}

} // namespace gradweave::sweep
