// The papers whose evaluations can be repeated: a folder beside this file and a line in papers.cpp each.
#pragma once

#include "app/evaluation/study/paper.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gradweave::evaluation {

/// At least one.
const std::vector<Paper> &papers();

/// Their names, as in "igo, memory".
std::string paper_names();

/// The paper of a study; the first one if it names none. Throws ConfigError that lists them if there is no such paper.
const Paper &paper_of(const Study &study);

/// The figures named by a comma-separated list; empty: all. Throws std::invalid_argument that lists them.
std::vector<std::string_view> select_figures(const Paper &paper, const std::string &list);
/// "table3, ...": all of them.
std::string figure_names(const Paper &paper);
/// The same of all papers, for a help text.
std::string figure_names();

} // namespace gradweave::evaluation
