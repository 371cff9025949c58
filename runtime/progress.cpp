#include "runtime/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <unistd.h>
#include <utility>

namespace gradweave::runtime {
namespace {

constexpr double kShowAfterSeconds = 2;
constexpr double kLogIntervalSeconds = 10;
constexpr int kBarWidth = 30;
constexpr double kForecastFrom = 0.02; ///< share of the work that tells how long the rest takes

} // namespace

ProgressDisplay::ProgressDisplay(std::vector<double> weights, bool quiet)
    : weights_(std::move(weights)), fractions_(weights_.size(), 0), quiet_(quiet),
      terminal_(::isatty(STDERR_FILENO) == 1) {}

ProgressDisplay::~ProgressDisplay() { clear(); }

double ProgressDisplay::elapsed() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

std::string ProgressDisplay::status() const {
  double done = 0;
  double total = 0;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    done += weights_[i] * fractions_[i];
    total += weights_[i];
  }
  const double fraction = total > 0 ? std::min(done / total, 1.0) : 1.0;
  std::string bar;
  if (terminal_) {
    const auto filled = static_cast<std::size_t>(fraction * kBarWidth);
    bar = fmt::format("[{}{}] ", std::string(filled, '#'), std::string(kBarWidth - filled, '.'));
  }
  std::string text = fmt::format("{}{} of {} jobs done, {:.0f} % of the work, {:.0f} s", bar, finished_,
                                 weights_.size(), 100 * fraction, elapsed());
  if (fraction >= kForecastFrom && fraction < 1)
    text += fmt::format(", about {:.0f} s more", elapsed() * (1 - fraction) / fraction);
  return text;
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

} // namespace gradweave::runtime
