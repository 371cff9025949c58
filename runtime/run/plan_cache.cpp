#include "runtime/run/plan_cache.hpp"

#include "base/file/journal.hpp"
#include "base/file/json_field.hpp"
#include "base/file/output_file.hpp"
#include "base/key/fingerprint.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

namespace gradweave::runtime {
namespace {

namespace fs = std::filesystem;
using compiler::FoundPlans;
using compiler::PhasePlan;
using nlohmann::json;

constexpr std::uint64_t kMostFileBytes = 1U << 20U;
/// Plans kept from one look at the size of the directory to the next.
constexpr std::uint64_t kKeptUnseen = 64;

template <typename Enum> json number(Enum value) { return static_cast<unsigned>(value); }
/// What it means is decided by whoever uses the plan.
template <typename Enum> Enum enumerator(const json &value) {
  return static_cast<Enum>(whole_number<std::uint8_t>(value));
}

// Every field is named, so that a new one does not compile until it is kept, too.

json to_json(const compiler::RowRange &range) {
  const auto &[first, rows] = range;
  return {first, rows};
}

json to_json(const PhasePlan &plan) {
  const auto &[kind, layer, parts, tile, loops, split, woven, joined, takes_parts, starts_empty, reach, window, policy,
               products, section] = plan;
  const auto &[dim, count, cores, reduction, sharing] = parts;
  const auto &[m, k, n] = tile;
  const auto &[shared, other, result] = split;
  const auto &[reload, conflict] = policy;
  return {{"kind", number(kind)},
          {"layer", layer},
          {"parts", {number(dim), count, cores, number(reduction), number(sharing)}},
          {"tile", {m, k, n}},
          {"loops", {number(loops[0]), number(loops[1]), number(loops[2])}},
          {"split", {to_json(shared), to_json(other), to_json(result)}},
          {"woven", woven},
          {"joined", joined},
          {"takes_parts", takes_parts},
          {"starts_empty", starts_empty},
          {"reach", reach},
          {"window", window},
          {"policy", {reload, conflict}}};
}

json to_json(const compiler::Tuning &tuning) {
  const auto &[candidates, simulated, improvements, cycles_before, seconds] = tuning;
  return {candidates, simulated, improvements, cycles_before, seconds};
}

json to_json(const FoundPlans &found) {
  const auto &[plans, cycles, cost, tuning] = found; // the cost is known from the plans
  json phases = json::array();
  for (const PhasePlan &plan : plans)
    phases.push_back(to_json(plan));
  return {{"plans", phases}, {"cycles", cycles}, {"tuning", to_json(tuning)}};
}

compiler::RowRange range_from(const json &j) {
  return {whole_number<std::uint32_t>(j.at(0)), whole_number<std::uint32_t>(j.at(1))};
}

PhasePlan plan_from(const json &j) {
  const auto entry = [&](const char *key, std::size_t i) { return whole_number<std::uint32_t>(j.at(key).at(i)); };
  PhasePlan plan;
  plan.kind = enumerator<compiler::PhaseKind>(j.at("kind"));
  read_field(j, "layer", plan.layer);
  plan.parts.dim = enumerator<compiler::Dim>(j.at("parts").at(0));
  plan.parts.count = entry("parts", 1);
  plan.parts.cores = entry("parts", 2);
  plan.parts.reduction = enumerator<compiler::Reduction>(j.at("parts").at(3));
  plan.parts.sharing = enumerator<compiler::Sharing>(j.at("parts").at(4));
  plan.tile = {entry("tile", 0), entry("tile", 1), entry("tile", 2)};
  for (std::size_t i = 0; i < plan.loops.size(); ++i)
    plan.loops[i] = enumerator<compiler::Dim>(j.at("loops").at(i));
  const json &split = j.at("split");
  plan.split = {range_from(split.at(0)), range_from(split.at(1)), range_from(split.at(2))};
  read_field(j, "woven", plan.woven);
  read_field(j, "joined", plan.joined);
  read_field(j, "takes_parts", plan.takes_parts);
  read_field(j, "starts_empty", plan.starts_empty);
  read_field(j, "reach", plan.reach);
  read_field(j, "window", plan.window);
  plan.policy = {j.at("policy").at(0).get<double>(), j.at("policy").at(1).get<double>()};
  return plan;
}

/// Throws nlohmann::json::exception or std::invalid_argument if it is not what to_json() gives.
FoundPlans found_from(const json &j) {
  FoundPlans found;
  for (const json &plan : j.at("plans"))
    found.plans.push_back(plan_from(plan));
  read_field(j, "cycles", found.cycles);
  const json &tuning = j.at("tuning");
  found.tuning.candidates = whole_number<std::uint64_t>(tuning.at(0));
  found.tuning.simulated = whole_number<std::uint64_t>(tuning.at(1));
  found.tuning.improvements = whole_number<std::uint64_t>(tuning.at(2));
  found.tuning.cycles_before = whole_number<std::uint64_t>(tuning.at(3));
  found.tuning.seconds = tuning.at(4).get<double>();
  return found;
}

/// The file's text; nothing if it is not there.
std::optional<std::string> read(const fs::path &file) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  if (error) return std::nullopt;
  if (size > kMostFileBytes) return std::string(); // as bad as an empty one
  std::ifstream in(file, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

void tell(const fs::path &file, const char *problem) {
  fmt::print(stderr, "gradweave: {}: {}; the plan is searched again\n", file.string(), problem);
}

} // namespace

PlanCache::PlanCache(fs::path directory, std::string version, std::uint64_t most_bytes)
    : directory_(std::move(directory)), version_(std::move(version)), most_bytes_(most_bytes) {}

std::string PlanCache::full_key(const std::string &key) const { return version_ + "/" + key; }

fs::path PlanCache::file_of(const std::string &key) const {
  return directory_ / (Fingerprint().add(full_key(key)).hex() + ".plan");
}

std::optional<FoundPlans> PlanCache::find(const std::string &key) {
  const fs::path file = file_of(key);
  const std::optional<std::string> text = read(file);
  if (!text) return std::nullopt;
  const auto entry = Journal::parse_line(text->substr(0, text->find('\n')));
  if (!entry) {
    tell(file, "is damaged");
    return std::nullopt;
  }
  if (entry->first != full_key(key)) {
    tell(file, "is of another compilation");
    return std::nullopt;
  }
  try {
    return found_from(json::parse(entry->second));
  } catch (const std::exception &) { // a checksum that fits, but no plans
    tell(file, "holds no plans");
    return std::nullopt;
  }
}

void PlanCache::reject(const std::string &key) { tell(file_of(key), "does not do what it says"); }

void PlanCache::keep(const std::string &key, const FoundPlans &found) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!writable_) return;
  std::error_code error;
  fs::create_directories(directory_, error); // OutputFile tells what is wrong
  try {
    OutputFile(file_of(key)).commit(Journal::line(full_key(key), to_json(found).dump()));
  } catch (const OutputError &problem) {
    writable_ = false;
    fmt::print(stderr, "gradweave: plans are not kept: {}\n", problem.what());
    return;
  }
  if (kept_++ % kKeptUnseen == 0) remove_oldest();
}

/// Down to three quarters, if there is too much. Others may remove the same files.
void PlanCache::remove_oldest() const {
  struct Kept {
    fs::file_time_type written;
    std::uintmax_t bytes;
    fs::path file;
  };
  std::vector<Kept> files;
  std::uint64_t bytes = 0;
  std::error_code error;
  for (fs::directory_iterator at(directory_, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() != ".plan") continue;
    std::error_code gone;
    Kept kept{at->last_write_time(gone), 0, at->path()};
    if (!gone) kept.bytes = at->file_size(gone);
    if (gone) continue;
    bytes += kept.bytes;
    files.push_back(std::move(kept));
  }
  if (bytes <= most_bytes_) return;
  std::sort(files.begin(), files.end(),
            [](const Kept &x, const Kept &y) { return std::tie(x.written, x.file) < std::tie(y.written, y.file); });
  for (const Kept &oldest : files) {
    if (bytes <= most_bytes_ / 4 * 3) break;
    fs::remove(oldest.file, error);
    bytes -= oldest.bytes;
  }
}

std::string plan_cache_directory(const std::string &option) {
  const auto variable = [](const char *name) -> std::string {
    const char *value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  std::string chosen = option.empty() ? variable("GRADWEAVE_PLAN_CACHE") : option;
  if (chosen == "off") return {};
  if (!chosen.empty()) return chosen;
  if (const std::string cache = variable("XDG_CACHE_HOME"); !cache.empty() && cache.front() == '/')
    return (fs::path(cache) / "gradweave").string();
  const std::string home = variable("HOME");
  return home.empty() ? std::string() : (fs::path(home) / ".cache" / "gradweave").string();
}

} // namespace gradweave::runtime
