#include "app/evaluation/igo/figures.hpp"

#include "app/evaluation/igo/figure_support.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gradweave::evaluation::igo {
namespace {

const Published *find_published(const Study &study, const std::string &figure, const std::string &key) {
  for (const Published &p : study.published)
    if (p.figure == figure && p.key == key) return &p;
  return nullptr;
}

} // namespace

const std::vector<FigureMaker> &figures() {
  static const std::vector<FigureMaker> makers{
      {"table3", table3}, {"table4", table4},     {"5", figure5},    {"6", figure6},   {"algorithm1", algorithm1},
      {"knn", knn},       {"12", figure12},       {"13", figure13},  {"14", figure14}, {"15", figure15},
      {"16", figure16},   {"policies", policies}, {"search", search}};
  return makers;
}

Costs costs_of(const Context &context, const Setting &setting, const std::string &policy) {
  const bool searched = policy == kSearched;
  return {context.evaluations, setting.npu, policy, searched ? std::vector<std::uint32_t>{} : context.study.parts,
          context.study.plans};
}

Costs costs_of(const Context &context, const Setting &setting, bool searched) {
  return costs_of(context, setting, searched ? std::string(kSearched) : context.policy);
}

Normalised normalised(const Context &context, const Setting &setting, Technique technique) {
  const Costs described = costs_of(context, setting, false);
  const Costs searched = costs_of(context, setting, true);
  Normalised result;
  for (const Workload &workload : context.workloads.at(setting)) {
    const double described_time = described.cycles(workload, technique);
    const double searched_baseline = searched.cycles(workload, Technique::kBaseline);
    result.described.push_back(described_time / described.cycles(workload, Technique::kBaseline));
    result.searched.push_back(searched.cycles(workload, technique) / searched_baseline);
    result.crossed.push_back(described_time / searched_baseline);
  }
  return result;
}

double gain_percent(const std::vector<double> &normalised) { return 100 * (1 - mean(normalised)); }

bool is_published(const Context &context, const std::string &figure, const std::string &key) {
  return find_published(context.study, figure, key) != nullptr;
}

Row published_row(const Context &context, const std::string &figure, const std::string &key) {
  Row row;
  row.figure = figure;
  row.key = row.text = key;
  row.command = fmt::format("{} --figure {}", context.command, figure);
  if (const Published *published = find_published(context.study, figure, key)) {
    row.text = published->text;
    row.unit = published->unit;
    row.paper = published->value;
  }
  return row;
}

Row gain_row(const Context &context, const std::string &figure, const std::string &key, const Normalised &values) {
  Row row = published_row(context, figure, key);
  row.described = gain_percent(values.described);
  row.searched = gain_percent(values.searched);
  row.crossed = gain_percent(values.crossed);
  return row;
}

Chart network_chart(const Context &context, std::string name, std::string title, std::string axis,
                    std::vector<Series> series, std::optional<double> reference) {
  Chart chart{std::move(name),           std::move(title),  std::move(axis),
              context.workloads.names(), std::move(series), reference};
  chart.groups.emplace_back("mean");
  for (Series &s : chart.series)
    s.values.push_back(mean(s.values));
  return chart;
}

} // namespace gradweave::evaluation::igo
