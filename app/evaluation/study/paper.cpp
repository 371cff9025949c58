#include "app/evaluation/study/paper.hpp"

#include <fmt/format.h>

#include <utility>

namespace gradweave::evaluation {

Row published_row(const Study &study, const std::string &figure, const std::string &key, const std::string &command) {
  Row row;
  row.figure = figure;
  row.key = row.text = key;
  row.command = fmt::format("{} --figure {}", command, figure);
  if (const Published *published = find_published(study, figure, key)) {
    row.text = published->text;
    row.unit = published->unit;
    row.paper = published->value;
  }
  return row;
}

Row compared_row(const Study &study, const std::string &figure, const std::string &key, const std::string &command,
                 std::optional<double> ours, std::string note) {
  Row row = published_row(study, figure, key, command);
  row.ours = {ours, std::nullopt};
  if (ours && row.paper) row.ours[1] = *ours - *row.paper;
  row.note = std::move(note);
  return row;
}

} // namespace gradweave::evaluation
