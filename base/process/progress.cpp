#include "base/process/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <unistd.h>
#include <utility>

namespace gradweave {
namespace {

constexpr double kShowAfterSeconds = 2;
constexpr double kLogIntervalSeconds = 10;
constexpr int kBarWidth = 30;
constexpr double kForecastFrom = 0.02; ///< share of the work that tells how long the rest takes

} // namespace

std::string duration(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::llround(std::max(seconds, 0.0)));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string describe(const Progress &progress) {
  std::string text = fmt::format("{} of {} jobs done, {:.0f} % of the work, {}", progress.finished, progress.jobs,
                                 100 * progress.fraction, duration(progress.elapsed_seconds));
  if (progress.seconds_left) text += fmt::format(", about {} more", duration(*progress.seconds_left));
  return text;
}

ProgressDisplay::ProgressDisplay(std::vector<double> weights, bool quiet)
    : weights_(std::move(weights)), fractions_(weights_.size(), 0), quiet_(quiet),
      terminal_(::isatty(STDERR_FILENO) == 1) {}

ProgressDisplay::~ProgressDisplay() { clear(); }

double ProgressDisplay::elapsed() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

Progress ProgressDisplay::progress() const {
  double done = 0;
  double total = 0;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    done += weights_[i] * fractions_[i];
    total += weights_[i];
  }
  Progress now;
  now.jobs = weights_.size();
  now.finished = finished_;
  now.fraction = total > 0 ? std::min(done / total, 1.0) : 1.0;
  now.elapsed_seconds = elapsed();
  if (now.fraction < 1 && now.fraction >= kForecastFrom)
    now.seconds_left = now.elapsed_seconds * (1 - now.fraction) / now.fraction;
  else if (now.fraction < 1 && expected_ && *expected_ > now.elapsed_seconds)
    now.seconds_left = *expected_ - now.elapsed_seconds;
  return now;
}

std::string ProgressDisplay::status() const {
  const Progress now = progress();
  std::string bar;
  if (terminal_) {
    const auto filled = static_cast<std::size_t>(now.fraction * kBarWidth);
    bar = fmt::format("[{}{}] ", std::string(filled, '#'), std::string(kBarWidth - filled, '.'));
  }
  return bar + describe(now);
}

void ProgressDisplay::skip(std::size_t job) {
  weights_[job] = 0;
  fractions_[job] = 1;
  ++finished_;
}

void ProgressDisplay::finish(std::size_t job, const std::string &name) {
  fractions_[job] = 1;
  ++finished_;
  if (name.empty() || quiet_ || terminal_ || elapsed() < kShowAfterSeconds) return;
  std::fprintf(stderr, "gradweave: %s done; %s\n", name.c_str(), status().c_str());
  last_log_ = elapsed();
}

void ProgressDisplay::tick() {
  if (quiet_ || elapsed() < kShowAfterSeconds) return;
  if (terminal_) {
    std::fprintf(stderr, "\r\033[K%s", status().c_str());
    shown_ = true;
  } else if (elapsed() - last_log_ >= kLogIntervalSeconds) {
    std::fprintf(stderr, "gradweave: %s\n", status().c_str());
    last_log_ = elapsed();
  }
}

void ProgressDisplay::clear() {
  if (!shown_) return;
  std::fputs("\r\033[K", stderr);
  shown_ = false;
}

} // namespace gradweave
