// What the functions of several figures have in common.
#pragma once

#include "app/evaluation/study/context.hpp"

namespace gradweave::evaluation::igo {

/// Costs on the setting's NPU under the policy of the paper's baseline (`searched`: under the compiler's search, which
/// chooses tiles and orders itself, so that nothing is partitioned over time).
Costs costs_of(const Context &context, const Setting &setting, bool searched);
Costs costs_of(const Context &context, const Setting &setting, const std::string &policy);

/// Time of each network over the time of a baseline.
struct Normalised {
  std::vector<double> described, searched, crossed; ///< as the columns
};
Normalised normalised(const Context &context, const Setting &setting, Technique technique);

/// 100 (1 - mean).
double gain_percent(const std::vector<double> &normalised);

/// The columns of our numbers.
enum OursColumn : std::size_t {
  kOursDescribed, ///< the technique under the paper's policy against the baseline as the paper describes it; or, for a
                  ///< row that compares with no baseline, our number under that policy
  kOursSearched,  ///< the technique against the baseline, both with plans that the compiler searches for
  kOursCrossed,   ///< the technique under the paper's policy against the searched baseline
  kOursColumns
};

/// evaluation::published_row(), with all columns.
Row published_row(const Context &context, const std::string &figure, const std::string &key);
/// The same with the gains over the baselines.
Row gain_row(const Context &context, const std::string &figure, const std::string &key, const Normalised &values);

/// A chart over the networks; the last group is their mean.
Chart network_chart(const Context &context, std::string name, std::string title, std::string axis,
                    std::vector<Series> series, std::optional<double> reference = 1.0);

/// True if the study has a number for this.
bool is_published(const Context &context, const std::string &figure, const std::string &key);

} // namespace gradweave::evaluation::igo
