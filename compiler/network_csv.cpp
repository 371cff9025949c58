// Plain GEMM lists: lines name,M,K,N.
#include "compiler/network_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

namespace gradweave::compiler {
namespace {

std::string_view trim(std::string_view text) {
  const auto space = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && space(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && space(text.back()))
    text.remove_suffix(1);
  return text;
}

std::uint32_t parse_dimension(const std::filesystem::path &file, std::size_t line, char field, std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range)
    fail(file, line,
         fmt::format("{} = {} is out of range; give a whole number from 1 to {}", field, text, kMaxDimension));
  if (text.empty() || error != std::errc{} || end != text.data() + text.size())
    fail(file, line, fmt::format("{} = '{}' is not a whole number; write lines as name,M,K,N", field, text));
  return checked_dimension(file, line, std::string_view(&field, 1), value);
}

bool is_header(const std::array<std::string_view, 4> &cells) {
  const auto is = [](std::string_view cell, char letter) {
    return cell.size() == 1 && std::toupper(static_cast<unsigned char>(cell[0])) == letter;
  };
  return is(cells[1], 'M') && is(cells[2], 'K') && is(cells[3], 'N');
}

} // namespace

Network load_network_csv(const std::filesystem::path &file) {
  const std::string text = read_text(file);
  Network network;
  network.name = file.stem().string();
  network.description = "GEMM list";
  LayerList layers(file);
  bool first = true;
  std::size_t line = 0;
  for (std::string_view rest = text; !rest.empty();) {
    ++line;
    const std::size_t end = rest.find('\n');
    const std::string_view content = trim(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (content.empty() || content.front() == '#') continue;

    std::array<std::string_view, 4> cells;
    std::size_t count = 0;
    for (std::size_t begin = 0; begin <= content.size(); ++count) {
      const std::size_t comma = std::min(content.find(',', begin), content.size());
      if (count < cells.size()) cells[count] = trim(content.substr(begin, comma - begin));
      begin = comma + 1;
    }
    if (count != cells.size())
      fail(file, line, fmt::format("{} fields where there must be 4; write lines as name,M,K,N", count));
    if (std::exchange(first, false) && is_header(cells)) continue;

    Layer layer;
    layer.name = std::string(cells[0]);
    layer.m = parse_dimension(file, line, 'M', cells[1]);
    layer.k = parse_dimension(file, line, 'K', cells[2]);
    layer.n = parse_dimension(file, line, 'N', cells[3]);
    layers.add(std::move(layer), line);
  }
  network.layers = layers.take();
  network.layers.front().dx = false;
  return network;
}

} // namespace gradweave::compiler
