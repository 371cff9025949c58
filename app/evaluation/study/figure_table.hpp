// A paper's figures as a table: an id and a function for each, in the order of the paper.
#pragma once

#include "app/evaluation/study/paper.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace gradweave::evaluation {

/// `Inputs`: what the paper's figures are made from.
template <typename Inputs> struct FigureMaker {
  std::string_view id;
  Figure (*make)(const Inputs &inputs);
};

/// As of Paper::figures.
template <typename Inputs, std::size_t kCount>
std::vector<std::string_view> ids_of(const std::array<FigureMaker<Inputs>, kCount> &makers) {
  std::vector<std::string_view> ids;
  for (const FigureMaker<Inputs> &maker : makers)
    ids.push_back(maker.id);
  return ids;
}

/// Throws std::logic_error if there is no such figure.
template <typename Inputs, std::size_t kCount>
Figure make_figure(const std::array<FigureMaker<Inputs>, kCount> &makers, std::string_view id, const Inputs &inputs) {
  for (const FigureMaker<Inputs> &maker : makers)
    if (maker.id == id) {
      Figure figure = maker.make(inputs);
      figure.id = id;
      return figure;
    }
  throw std::logic_error(fmt::format("no figure '{}'", id));
}

} // namespace gradweave::evaluation
