#include "runtime/record/sketch_json.hpp"

#include "base/file/json_field.hpp"

#include <nlohmann/json.hpp>

#include <stdexcept>

namespace gradweave::runtime {
namespace {

using Json = nlohmann::ordered_json;
using timeline::SketchBar;
using timeline::SketchRow;

constexpr std::size_t kNumbersOfABar = 4;

template <typename T> std::vector<T> numbers_of(const Json &json) {
  std::vector<T> numbers;
  for (const Json &number : json)
    numbers.push_back(whole_number<T>(number));
  return numbers;
}

Json row_json(const SketchRow &row) {
  Json bars = Json::array();
  std::uint64_t end = 0;
  for (const SketchBar &bar : row.bars) {
    for (const std::uint64_t number :
         {bar.begin - end, bar.end - bar.begin, std::uint64_t{bar.tensor}, std::uint64_t{bar.commands}})
      bars.push_back(number);
    end = bar.end;
  }
  return {{"engine", row.engine}, {"tensors", row.tensors}, {"bars", std::move(bars)}};
}

SketchRow row_from_json(const Json &json) {
  SketchRow row;
  read_field(json, "engine", row.engine);
  row.tensors = json.at("tensors").get<std::vector<std::string>>();
  const auto numbers = numbers_of<std::uint64_t>(json.at("bars"));
  if (numbers.size() % kNumbersOfABar != 0) throw std::out_of_range("bars of a sketch have four numbers each");
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < numbers.size(); i += kNumbersOfABar) {
    SketchBar bar{end + numbers[i], 0, static_cast<std::uint32_t>(numbers[i + 2]),
                  static_cast<std::uint32_t>(numbers[i + 3])};
    end = bar.end = bar.begin + numbers[i + 1];
    if (bar.tensor >= row.tensors.size()) throw std::out_of_range("a bar of a sketch is of no tensor");
    row.bars.push_back(bar);
  }
  return row;
}

} // namespace

Json to_json(const timeline::Sketch &sketch) {
  Json rows = Json::array();
  for (const SketchRow &row : sketch.rows)
    rows.push_back(row_json(row));
  return {{"cycles", sketch.cycles},    {"commands", sketch.commands}, {"grain", sketch.grain},
          {"rows", std::move(rows)},    {"spm_rows", sketch.spm_rows}, {"interval", sketch.interval},
          {"occupied", sketch.occupied}};
}

timeline::Sketch sketch_from_json(const Json &json) {
  timeline::Sketch sketch;
  read_field(json, "cycles", sketch.cycles);
  read_field(json, "commands", sketch.commands);
  read_field(json, "grain", sketch.grain);
  for (const Json &row : json.at("rows"))
    sketch.rows.push_back(row_from_json(row));
  read_field(json, "spm_rows", sketch.spm_rows);
  read_field(json, "interval", sketch.interval);
  sketch.occupied = numbers_of<std::uint32_t>(json.at("occupied"));
  return sketch;
}

} // namespace gradweave::runtime
