#include "app/evaluation/papers.hpp"

#include "app/evaluation/dpt/figures.hpp"
#include "app/evaluation/flexer/figures.hpp"
#include "app/evaluation/igo/figures.hpp"
#include "app/evaluation/layerweaver/figures.hpp"
#include "app/evaluation/memory/figures.hpp"
#include "base/text/split.hpp"
#include "sw_models/config/config_error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

namespace gradweave::evaluation {

const std::vector<Paper> &papers() {
  static const std::vector<Paper> all{
      {"igo", igo::figures, true, true, false, true, igo::open},
      {"memory", memory::figures, false, false, false, false, memory::open},
      {"layerweaver", layerweaver::figures, false, false, false, false, layerweaver::open},
      {"dpt", dpt::figures, false, false, false, false, dpt::open},
      {"flexer", flexer::figures, false, true, true, false, flexer::open}};
  return all;
}

std::string paper_names() {
  std::string names;
  for (const Paper &paper : papers())
    names += fmt::format("{}{}", names.empty() ? "" : ", ", paper.name);
  return names;
}

const Paper &paper_of(const Study &study) {
  for (const Paper &paper : papers())
    if (study.paper.empty() || study.paper == paper.name) return paper;
  throw ConfigError(fmt::format("{}: no paper '{}'; there are: {}", study.file.string(), study.paper, paper_names()));
}

std::vector<std::string_view> select_figures(const Paper &paper, const std::string &list) {
  std::vector<std::string_view> selected;
  const std::vector<std::string> wanted = split(list, ',');
  for (const std::string_view id : paper.figures())
    if (wanted.empty() || std::find(wanted.begin(), wanted.end(), id) != wanted.end()) selected.push_back(id);
  for (const std::string &id : wanted)
    if (std::find(selected.begin(), selected.end(), id) == selected.end())
      throw std::invalid_argument(fmt::format("--figure: no figure '{}'; there are: {}", id, figure_names(paper)));
  return selected;
}

std::string figure_names(const Paper &paper) { return fmt::format("{}", fmt::join(paper.figures(), ", ")); }

std::string figure_names() {
  std::string all;
  for (const Paper &paper : papers())
    all += fmt::format("{}{}: {}", all.empty() ? "" : "; ", paper.name, figure_names(paper));
  return all;
}

} // namespace gradweave::evaluation
