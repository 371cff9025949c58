#include "app/validate/sense.hpp"

#include <fmt/format.h>

namespace gradweave::runtime {
namespace {

std::string_view remedy_of(const UndrawnEnds &ends) {
  const std::string_view watchdog = isa::kErrorNames[static_cast<std::size_t>(isa::ErrorCode::WATCHDOG)];
  if (ends.errors.count(watchdog) != 0) return "give more cycles with --watchdog, or take an NPU with a faster memory";
  return "take an NPU with room for the streams (size_bytes of [memory]), or the other --profile";
}

} // namespace

void UndrawnEnds::add(const ValidationVerdict &verdict) {
  if (verdict.outcome != Outcome::kPass || verdict.error_drawn) return;
  ++streams;
  if (verdict.end != isa::ErrorCode::NONE) ++errors[isa::kErrorNames[static_cast<std::size_t>(verdict.end)]];
}

void UndrawnEnds::add(const UndrawnEnds &other) {
  streams += other.streams;
  for (const auto &[error, count] : other.errors)
    errors[error] += count;
}

std::uint64_t UndrawnEnds::failed() const {
  std::uint64_t sum = 0;
  for (const auto &[error, count] : errors)
    sum += count;
  return sum;
}

bool UndrawnEnds::senseless() const {
  return static_cast<double>(failed()) > kMostUndrawn * static_cast<double>(streams);
}

std::string complaint(std::string_view npu, std::string_view kind, const UndrawnEnds &ends) {
  std::string errors;
  for (const auto &[error, count] : ends.errors)
    errors += fmt::format("{}{} {}", errors.empty() ? "" : ", ", count, error);
  return fmt::format("npu {}: {} of {} {} streams end by an error that was not drawn for them ({}): {:.1f} %, but over "
                     "{:.0f} % the streams do not test this NPU; {}",
                     npu, ends.failed(), ends.streams, kind, errors,
                     100 * static_cast<double>(ends.failed()) / static_cast<double>(ends.streams), 100 * kMostUndrawn,
                     remedy_of(ends));
}

} // namespace gradweave::runtime
