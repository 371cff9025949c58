// Work of the evaluation of Flexer: a layer on a machine under its scheduler, its baselines, and ours.
#pragma once

#include "app/evaluation/flexer/settings.hpp"
#include "app/evaluation/unit/evaluations.hpp"
#include "compiler/request/flexer_policy.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gradweave::evaluation::flexer {

/// What is compared, by the name of its scheduler.
enum class Way : std::uint8_t {
  kFlexer,    ///< the paper's
  kLoopOrder, ///< (a): the paper's baseline
  kSearch,    ///< (b): the strongest static order
  kList       ///< ours
};
inline constexpr std::array<Way, 4> kWays{Way::kFlexer, Way::kLoopOrder, Way::kSearch, Way::kList};
std::string_view scheduler_of(Way way);

/// What a layer takes. While nothing is known all are 1.
struct Taken {
  double cycles = 1, bytes = 1;

  Taken &operator+=(const Taken &other) {
    cycles += other.cycles;
    bytes += other.bytes;
    return *this;
  }
};

/// Types of data in the order of figure 10.
enum class Type : std::uint8_t { kInput, kWeights, kOutput, kSums };
inline constexpr std::size_t kTypes = 4;
std::string_view to_string(Type type);

/// Bytes of all input, weights and output of a forward pass, each once.
std::array<double, 3> bytes_once(const compiler::Layer &layer);

/// A schedule, moves and operations.
struct Detail {
  Taken taken;
  /// Of each type, bytes of tiles by how often each of them is moved: once, twice, and so on, the last more often.
  static constexpr std::size_t kTimes = 6;
  std::array<std::array<double, kTimes>, kTypes> moved{};
  /// Shares of the steps, of as many operations as there are cores, in which cores share input only, weights only,
  /// both, or nothing.
  std::array<double, 4> shared{};
};

/// A layer under all ways.
struct LayerRuns {
  std::array<Taken, 4> of{}; ///< by Way
  Taken bound;               ///< cycles that no schedule beats; bytes of each tensor once
  const Taken &operator[](Way way) const { return of[static_cast<std::size_t>(way)]; }
};

/// Asks for results.
class Runs {
public:
  Runs(const FlexerStudy &study, Evaluations &evaluations) : study_(study), evaluations_(evaluations) {}

  /// All ways with the paper's policy.
  LayerRuns all(const compiler::Layer &layer, const Machine &npu) const;
  /// Flexer or (a) with another policy.
  Taken with(const compiler::Layer &layer, const Machine &npu, Way way, const compiler::flexer::Policy &policy) const;
  Detail detail(const compiler::Layer &layer, const Machine &npu, Way way) const;
  /// Flexer's schedules of all tilings.
  std::vector<Taken> cloud(const compiler::Layer &layer, const Machine &npu) const;

private:
  std::string network_of(const compiler::Layer &layer) const;

  const FlexerStudy &study_;
  Evaluations &evaluations_;
};

} // namespace gradweave::evaluation::flexer
