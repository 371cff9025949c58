#include "base/file/journal.hpp"

#include "base/key/fingerprint.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/file.h>
#include <unistd.h>
#include <utility>

namespace gradweave {

using Json = nlohmann::ordered_json;

namespace {

/// Of a line, whose key tells the work and what it depends on.
std::string checksum_of(const std::string &key, const std::string &value) {
  return Fingerprint().add(key, value).hex();
}

} // namespace

Journal::Journal(std::filesystem::path file, std::string remedy)
    : file_(std::move(file)), remedy_(std::move(remedy)),
      fd_(::open(file_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) {
  if (fd_ < 0)
    throw OutputError(
        fmt::format("{}: cannot be opened for writing: {}; {}", file_.string(), std::strerror(errno), remedy_));
  if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    ::close(fd_);
    throw JournalInUse(fmt::format("{}: another run is using it; wait for that one or {}", file_.string(), remedy_));
  }
  read();
}

Journal::~Journal() { ::close(fd_); }

std::optional<std::pair<std::string, std::string>> Journal::parse_line(const std::string &line) {
  constexpr int kMaxDepth = 64; // writing JSON takes stack for each level
  bool deep = false;
  const auto watch_depth = [&deep](int depth, Json::parse_event_t, Json &) { return !(deep |= depth > kMaxDepth); };
  const Json json = Json::parse(line, watch_depth, false);
  if (deep || !json.is_object() || json.size() != 3 || !json.contains("key") || !json.contains("value") ||
      !json["key"].is_string() || !json.contains("sum"))
    return std::nullopt;
  std::pair entry{json["key"].get<std::string>(), json["value"].dump(-1, ' ', false, Json::error_handler_t::replace)};
  if (json["sum"] != checksum_of(entry.first, entry.second)) return std::nullopt;
  return entry;
}

std::string Journal::line(const std::string &key, const std::string &value) {
  const Json parsed = Json::parse(value);
  return Json{{"key", key}, {"value", parsed}, {"sum", checksum_of(key, parsed.dump())}}.dump() + '\n';
}

void Journal::read() {
  std::ifstream in(file_, std::ios::binary);
  std::string line;
  bool whole = true;
  while (std::getline(in, line)) {
    whole = !in.eof(); // else the line feed is missing
    if (auto entry = parse_line(line); whole && entry)
      values_[entry->first] = std::move(entry->second);
    else
      ++damaged_;
  }
  if (!whole) write("\n"); // what comes next begins a line of its own
}

void Journal::write(const std::string &line) {
  std::size_t done = 0;
  while (done < line.size()) {
    const ssize_t n = ::write(fd_, line.data() + done, line.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0)
      throw OutputError(
          fmt::format("{}: cannot be written: {}; make room or {}", file_.string(), std::strerror(errno), remedy_));
    done += static_cast<std::size_t>(n);
  }
}

const std::string *Journal::find(const std::string &key) const {
  const auto it = values_.find(key);
  return it == values_.end() ? nullptr : &it->second;
}

void Journal::append(const std::string &key, const std::string &value) {
  write(line(key, value));
  values_[key] = value;
}

void Journal::clear() {
  if (::ftruncate(fd_, 0) != 0)
    throw OutputError(fmt::format("{}: cannot be emptied: {}; {}", file_.string(), std::strerror(errno), remedy_));
  values_.clear();
}

} // namespace gradweave
