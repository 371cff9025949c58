// The figures, tables and numbers of igo_micro23 that can be computed.
#pragma once

#include "app/evaluation/study/paper.hpp"

namespace gradweave::evaluation::igo {

/// In the order of the paper.
const std::vector<FigureMaker> &figures();

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

} // namespace gradweave::evaluation::igo
