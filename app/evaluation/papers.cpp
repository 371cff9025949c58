#include "app/evaluation/papers.hpp"

#include "app/evaluation/igo/figures.hpp"
#include "sw_models/config/config_error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace gradweave::evaluation {

const std::vector<Paper> &papers() {
  static const std::vector<Paper> all{{"igo", igo::figures}};
  return all;
}

const Paper &paper_of(const Study &study) {
  std::vector<std::string_view> names;
  for (const Paper &paper : papers()) {
    if (study.paper.empty() || study.paper == paper.name) return paper;
    names.push_back(paper.name);
  }
  throw ConfigError(
      fmt::format("study '{}': no paper '{}'; there are: {}", study.name, study.paper, fmt::join(names, ", ")));
}

std::vector<const FigureMaker *> select_figures(const Paper &paper, const std::string &list) {
  std::vector<const FigureMaker *> selected;
  std::vector<std::string> wanted;
  std::istringstream in(list);
  for (std::string item; std::getline(in, item, ',');)
    wanted.push_back(item);
  for (const FigureMaker &maker : paper.figures())
    if (wanted.empty() || std::find(wanted.begin(), wanted.end(), maker.id) != wanted.end()) selected.push_back(&maker);
  for (const std::string &id : wanted)
    if (std::none_of(selected.begin(), selected.end(), [&](const FigureMaker *maker) { return maker->id == id; }))
      throw std::invalid_argument(fmt::format("--figure: no figure '{}'; there are: {}", id, figure_names(paper)));
  return selected;
}

std::string figure_names(const Paper &paper) {
  std::vector<std::string> names;
  for (const FigureMaker &maker : paper.figures())
    names.emplace_back(maker.id);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string figure_names() {
  std::string all;
  for (const Paper &paper : papers())
    all += fmt::format("{}{}: {}", all.empty() ? "" : "; ", paper.name, figure_names(paper));
  return all;
}

} // namespace gradweave::evaluation
