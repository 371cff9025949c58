// The files of an evaluation.
#pragma once

#include "app/evaluation/page/evaluation.hpp"

#include <filesystem>

namespace gradweave::evaluation {

/// results.json: every number of the evaluation.
std::string results_json(const Evaluation &evaluation);
/// Lines chart,group,series,value of the figure's charts; of its plots, x is the group.
std::string figure_csv(const Figure &figure);
/// rows.csv: the numbers beside the paper's.
std::string rows_csv(const Evaluation &evaluation);
/// index.html: a page that needs nothing else; well-formed XML.
std::string page(const Evaluation &evaluation);

/// Writes all of them into `directory`, and a drawing of each chart. Throws OutputError.
void write_outputs(const Evaluation &evaluation, const std::filesystem::path &directory);

} // namespace gradweave::evaluation
