// The figures, tables and numbers of igo_micro23 that can be computed.
#pragma once

#include "app/evaluation/study/context.hpp"
#include "app/evaluation/study/paper.hpp"

namespace gradweave::evaluation::igo {

struct FigureMaker {
  std::string_view id;
  Figure (*make)(const Context &context);
};
/// In the order of the paper.
const std::vector<FigureMaker> &figure_makers();

/// As of Paper.
const std::vector<std::string_view> &figures();
std::unique_ptr<Repetition> open(const Study &study, const Request &request);

// NPUs and networks: figure_tables.cpp
Figure table3(const Context &context);
Figure table4(const Context &context);
// Traffic of dY: figure_dy.cpp
Figure figure5(const Context &context);
Figure figure6(const Context &context);
// Time under the techniques: figure_gains.cpp
Figure algorithm1(const Context &context);
Figure figure12(const Context &context);
Figure figure14(const Context &context);
Figure figure15(const Context &context);
Figure figure16(const Context &context);
// figure_layers.cpp, figure_knn.cpp, figure_policies.cpp, figure_search.cpp
Figure figure13(const Context &context);
Figure knn(const Context &context);
Figure policies(const Context &context);
Figure search(const Context &context);
Figure images(const Context &context);

} // namespace gradweave::evaluation::igo
