#include "app/evaluation/plans/plan_text.hpp"

#include "app/evaluation/plans/number.hpp"
#include "base/text/split.hpp"
#include "compiler/ir/contraction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

namespace gradweave::evaluation {
namespace {

using compiler::Dim;
using compiler::PhaseKind;
using compiler::PhaseParts;
using compiler::PhasePlan;

constexpr std::string_view kUnit = "unit";
constexpr std::array<std::pair<std::string_view, PhaseKind>, 6> kKinds{{{"y", PhaseKind::kForward},
                                                                        {"dx", PhaseKind::kDx},
                                                                        {"dw", PhaseKind::kDw},
                                                                        {"interleave", PhaseKind::kInterleave},
                                                                        {"dx_major", PhaseKind::kDxMajor},
                                                                        {"dw_major", PhaseKind::kDwMajor}}};
constexpr std::array<std::pair<std::string_view, bool PhasePlan::*>, 4> kFlags{{{"woven", &PhasePlan::woven},
                                                                                {"joined", &PhasePlan::joined},
                                                                                {"parts", &PhasePlan::takes_parts},
                                                                                {"empty", &PhasePlan::starts_empty}}};
constexpr std::string_view kDims = "mkn";

char letter(Dim dim) { return kDims[static_cast<std::size_t>(dim)]; }

[[noreturn]] void refuse(std::string_view word) {
  throw std::invalid_argument(fmt::format("'{}' is no word of a plan", word));
}

Dim dim_of(char letter) {
  const std::size_t at = kDims.find(letter);
  if (at == std::string_view::npos) refuse(std::string_view(&letter, 1));
  return static_cast<Dim>(at);
}

std::string text_of(const compiler::RowRange &range) { return fmt::format("{}+{}", range.first, range.rows); }

compiler::RowRange range_of(const std::string &text) {
  const std::vector<std::string> ends = split(text, '+');
  if (ends.size() != 2) refuse(text);
  return {number<std::uint32_t>(ends[0]), number<std::uint32_t>(ends[1])};
}

/// Items of a word, of which there have to be so many.
std::vector<std::string> items(std::string_view word, char separator, std::size_t count) {
  std::vector<std::string> all = split(word, separator);
  if (all.size() != count) refuse(word);
  return all;
}

double weight(const std::string &text) {
  const auto value = number<double>(text);
  if (!std::isfinite(value) || value < 0) refuse(text);
  return value;
}

PhaseParts parts_of(std::string_view text) {
  const std::vector<std::string> words = items(text, ',', 5);
  PhaseParts parts;
  parts.dim = dim_of(words[0].empty() ? ' ' : words[0][0]);
  parts.count = number<std::uint32_t>(words[1]);
  parts.cores = number<std::uint32_t>(words[2]);
  parts.reduction = compiler::parse_reduction(words[3]);
  parts.sharing = compiler::parse_sharing(words[4]);
  if (parts.count == 0 || parts.cores == 0 || parts.cores > parts.count) refuse(text);
  return parts;
}

std::string text_of(const PhaseParts &parts) {
  return fmt::format("{},{},{},{},{}", letter(parts.dim), parts.count, parts.cores,
                     compiler::to_string(parts.reduction), compiler::to_string(parts.sharing));
}

/// What stands behind an equals sign.
void set_option(PhasePlan &plan, std::string_view name, const std::string &value) {
  if (name == "window") {
    plan.window = number<std::uint32_t>(value);
    if (plan.window == 0) refuse(value);
  } else if (name == "reach") {
    plan.reach = number<std::uint32_t>(value);
  } else if (name == "policy") {
    const std::vector<std::string> weights = items(value, ',', 2);
    plan.policy = {weight(weights[0]), weight(weights[1])};
  } else if (name == "cut") {
    plan.parts = parts_of(value);
  } else {
    refuse(name);
  }
}

void set_word(PhasePlan &plan, const std::string &word) {
  if (const std::size_t equals = word.find('='); equals != std::string::npos) {
    set_option(plan, std::string_view(word).substr(0, equals), word.substr(equals + 1));
    return;
  }
  const auto *const flag = std::find_if(kFlags.begin(), kFlags.end(), [&](const auto &f) { return f.first == word; });
  if (flag == kFlags.end()) refuse(word);
  plan.*flag->second = true;
}

/// Tile, loops and areas.
void set_places(PhasePlan &plan, const std::vector<std::string> &words) {
  const std::vector<std::string> sides = items(words[1], 'x', 3);
  plan.tile = {number<std::uint32_t>(sides[0]), number<std::uint32_t>(sides[1]), number<std::uint32_t>(sides[2])};
  for (const std::uint32_t side : {plan.tile.m, plan.tile.k, plan.tile.n})
    if (side == 0 || side > compiler::kMaxTileSide) refuse(words[1]);
  if (words[2].size() != plan.loops.size()) refuse(words[2]);
  std::transform(words[2].begin(), words[2].end(), plan.loops.begin(), dim_of);
  const auto &orders = compiler::all_loop_orders();
  if (std::find(orders.begin(), orders.end(), plan.loops) == orders.end()) refuse(words[2]);
  const std::vector<std::string> areas = items(words[3], ',', 3);
  plan.split = {range_of(areas[0]), range_of(areas[1]), range_of(areas[2])};
}

} // namespace

std::string plan_text(const PhasePlan &plan) {
  // Every field is named, so that a new one does not compile until it is kept, too.
  const auto &[kind, layer, parts, tile, loops, areas, woven, joined, takes_parts, starts_empty, reach, window, policy,
               products, section] = plan;
  std::string text(kKinds.at(static_cast<std::size_t>(kind)).first);
  if (section)
    text += fmt::format(" {}", kUnit);
  else
    text += fmt::format(" {}x{}x{} {}{}{} {},{},{}", tile.m, tile.k, tile.n, letter(loops[0]), letter(loops[1]),
                        letter(loops[2]), text_of(areas.shared), text_of(areas.other), text_of(areas.result));
  const PhasePlan usual;
  if (window != usual.window) text += fmt::format(" window={}", window);
  if (policy.reload != usual.policy.reload || policy.conflict != usual.policy.conflict)
    text += fmt::format(" policy={},{}", policy.reload, policy.conflict);
  if (reach != usual.reach) text += fmt::format(" reach={}", reach);
  if (parts.count != 1) text += " cut=" + text_of(parts);
  for (const auto &[name, flag] : kFlags)
    if (plan.*flag) text += fmt::format(" {}", name);
  return text;
}

PhasePlan parse_plan(std::string_view text, bool &is_section) {
  constexpr std::size_t kPlaces = 4; // words up to the areas
  const std::vector<std::string> words = split(text, ' ');
  if (words.size() < 2) refuse(text);
  PhasePlan plan;
  const auto *const kind =
      std::find_if(kKinds.begin(), kKinds.end(), [&](const auto &k) { return k.first == words[0]; });
  if (kind == kKinds.end()) refuse(words[0]);
  plan.kind = kind->second;
  is_section = words[1] == kUnit;
  if (!is_section && words.size() < kPlaces) refuse(text);
  if (!is_section) set_places(plan, words);
  for (std::size_t i = is_section ? 2 : kPlaces; i < words.size(); ++i)
    set_word(plan, words[i]);
  return plan;
}

} // namespace gradweave::evaluation
