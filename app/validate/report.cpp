#include "app/validate/report.hpp"

#include "app/validate/verdict/verdict_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace gradweave::runtime {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kInFull = 3; // differing streams of an NPU
constexpr std::uint64_t kNamed = 20; // in one line
constexpr int kReportVersion = 1;    // raised when a field changes its meaning or goes; new fields leave it alone

std::string_view name_of(isa::ErrorCode error) { return isa::kErrorNames[static_cast<std::size_t>(error)]; }

std::string counts(const ValidationTotals &t) {
  return fmt::format("{} commands compared, {} differ; {} counters, {} differ", t.commands, t.commands_differ,
                     t.counters, t.counters_differ);
}

Json undrawn_json(const ValidationTotals &t) {
  Json kinds = Json::object();
  for (const auto &[kind, ends] : t.undrawn) {
    kinds[kind] = {{"streams", ends.streams}, {"errors", Json::object()}};
    for (const auto &[error, count] : ends.errors)
      kinds[kind]["errors"][std::string(error)] = count;
  }
  return kinds;
}

Json totals_json(const ValidationTotals &t) {
  Json ends = Json::object();
  for (const auto &[error, count] : t.ends)
    ends[std::string(error)] = count;
  return {{"streams", t.streams},
          {"streams_differ", t.streams_differ},
          {"streams_failed", t.streams_failed},
          {"commands", t.commands},
          {"commands_differ", t.commands_differ},
          {"counters", t.counters},
          {"counters_differ", t.counters_differ},
          {"cycles", t.cycles},
          {"rings", t.rings},
          {"marks", t.marks},
          {"vector_streams", t.vector_streams},
          {"vectors", t.vectors},
          {"ends", ends},
          {"undrawn", undrawn_json(t)}};
}

} // namespace

void ValidationTotals::add(const ValidationVerdict &v) {
  ++streams;
  commands += v.commands;
  commands_differ += v.commands_differ;
  counters += v.counters;
  counters_differ += v.counters_differ;
  cycles += v.cycles;
  rings += v.ring ? 1 : 0;
  marks += v.marks;
  vector_streams += v.vectors != 0 ? 1 : 0;
  vectors += v.vectors;
  if (v.outcome == Outcome::kMismatch) ++streams_differ;
  if (v.outcome > Outcome::kMismatch)
    ++streams_failed;
  else
    ++ends[name_of(v.end)];
  if (!v.kind.empty()) undrawn[v.kind].add(v);
}

void ValidationTotals::add(const ValidationTotals &other) {
  streams += other.streams;
  streams_differ += other.streams_differ;
  streams_failed += other.streams_failed;
  commands += other.commands;
  commands_differ += other.commands_differ;
  counters += other.counters;
  counters_differ += other.counters_differ;
  cycles += other.cycles;
  rings += other.rings;
  marks += other.marks;
  vector_streams += other.vector_streams;
  vectors += other.vectors;
  for (const auto &[error, count] : other.ends)
    ends[error] += count;
  for (const auto &[kind, of_kind] : other.undrawn)
    undrawn[kind].add(of_kind);
}

void ValidationReport::add(const std::vector<ValidationVerdict> &verdicts) {
  for (const ValidationVerdict &v : verdicts) {
    outcome_ = std::max(outcome_, v.outcome);
    by_npu_[v.npu].add(v);
    if (v.outcome != Outcome::kPass) {
      print(v);
      unequal_.push_back(v);
    } else if (each_) {
      fmt::print(out_, "{}: {} commands, 0 differ; {} counters, 0 differ; {} cycles\n", v.name, v.commands, v.counters,
                 v.cycles);
    }
  }
  std::fflush(out_);
}

void ValidationReport::print(const ValidationVerdict &v) {
  const std::uint64_t before = shown_[v.npu]++;
  if (before >= kInFull + kNamed) {
    if (before == kInFull + kNamed) fmt::print(out_, "more of npu {} differ; the JSON report has them all\n", v.npu);
    return;
  }
  if (v.outcome == Outcome::kMismatch)
    fmt::print(out_, "DIFFERENT: npu {}, {}: {} of {} commands, {} of {} counters\n", v.npu, v.name, v.commands_differ,
               v.commands, v.counters_differ, v.counters);
  else
    fmt::print(out_, "{}: npu {}, {}\n", v.outcome == Outcome::kUnavailable ? "NOT RUN" : "FAILED", v.npu, v.name);
  if (before < kInFull) fmt::print(out_, "{}\n", v.report);
  if (!v.reproduce.empty()) fmt::print(out_, "  repeat: {}\n", v.reproduce);
}

ValidationTotals ValidationReport::sum() const {
  ValidationTotals all;
  for (const auto &[npu, t] : by_npu_)
    all.add(t);
  return all;
}

std::vector<std::string> ValidationReport::complaints() const {
  std::vector<std::string> all;
  for (const auto &[npu, t] : by_npu_)
    for (const auto &[kind, ends] : t.undrawn)
      if (ends.senseless()) all.push_back(complaint(npu, kind, ends));
  return all;
}

Outcome ValidationReport::outcome() const {
  return complaints().empty() ? outcome_ : std::max(outcome_, Outcome::kBadInput);
}

void ValidationReport::end() const {
  if (by_npu_.size() > 1)
    for (const auto &[npu, t] : by_npu_)
      fmt::print(out_, "{:<9} {:>6} {}, {} cycles, {}\n", npu, t.streams, noun_, t.cycles, counts(t));
  const ValidationTotals all = sum();
  std::string errors;
  for (const auto &[error, count] : all.ends)
    if (error != name_of(isa::ErrorCode::NONE))
      errors += fmt::format("{}{} {}", errors.empty() ? "" : ", ", count, error);
  if (!errors.empty()) fmt::print(out_, "{} cycles of the RTL; ended by an error: {}\n", all.cycles, errors);
  if (all.rings != 0)
    fmt::print(out_, "{} of the {} came through a ring; their hosts took {} marks\n", all.rings, noun_, all.marks);
  if (all.vectors != 0)
    fmt::print(out_, "{} of the {} ran {} VECTOR commands to their end\n", all.vector_streams, noun_, all.vectors);
  for (const std::string &text : complaints())
    fmt::print(out_, "error: {}\n", text);
  // A run can end differently, and the model can fail, without any event or counter that differs.
  const std::string differ = all.streams_differ == 0 ? "" : fmt::format(" ({} differ)", all.streams_differ);
  const std::string failed =
      all.streams_failed == 0 ? "" : fmt::format("; {} {} could not be compared", all.streams_failed, noun_);
  fmt::print(out_, "validate: {} {}{}, {}{}\n", all.streams, noun_, differ, counts(all), failed);
}

std::string ValidationReport::json(const std::string &reproduce) const {
  Json report = {{"report_version", kReportVersion}, {"verdict", std::string(verdict(outcome()))},
                 {"reproduce", reproduce},           {"totals", totals_json(sum())},
                 {"npus", Json::object()},           {"senseless", complaints()},
                 {"unequal", Json::array()}};
  for (const auto &[npu, t] : by_npu_)
    report["npus"][npu] = totals_json(t);
  for (const ValidationVerdict &verdict : unequal_)
    report["unequal"].push_back(to_json(verdict));
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace gradweave::runtime
