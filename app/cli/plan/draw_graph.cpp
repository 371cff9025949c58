#include "app/cli/plan/draw_graph.hpp"

#include "app/page/xml.hpp"
#include "graph/ir/operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

namespace gradweave::cli {
namespace {

using graph::kNone;

// Lengths in SVG user units.
constexpr double kBoxWidth = 200, kBoxHeight = 46, kLineWide = 14, kColumnGap = 16, kRowGap = 26, kMargin = 16;
constexpr std::size_t kMostLetters = 30;

std::string shortened(const std::string &text) {
  if (text.size() <= kMostLetters) return text;
  std::size_t begin = text.size() - kMostLetters + 3;
  while (begin < text.size() && (static_cast<unsigned char>(text[begin]) & 0xc0U) == 0x80)
    ++begin; // not within a letter
  return "..." + text.substr(begin);
}

/// What stands in a row: a box, or where a line passes.
struct Cell {
  std::size_t row = 0;
  double x = 0;
  bool box = true, rounded = false;
  std::string title, name, note;
  std::vector<std::size_t> above = {}; ///< cells of the row before that lead here
};

class GraphDrawing {
public:
  explicit GraphDrawing(const graph::Graph &graph) : graph_(graph), cell_of_(graph.tensors.size(), kNobody) {}

  std::string draw() {
    for (graph::TensorId id = 0; id < graph_.tensors.size(); ++id)
      if (graph_.tensors[id].role == graph::Role::kInput) add_input(id);
    for (const graph::Op &op : graph_.ops)
      add_op(op);
    for (const graph::TensorId id : graph_.results)
      add_result(id);
    lower_inputs();
    join();
    place();
    return svg();
  }

private:
  static constexpr std::size_t kNobody = static_cast<std::size_t>(-1);

  std::size_t add(Cell cell) {
    cells_.push_back(std::move(cell));
    return cells_.size() - 1;
  }

  void add_input(graph::TensorId id) {
    const graph::Tensor &tensor = graph_.tensors[id];
    cell_of_[id] = add({0, 0, true, true, "input", tensor.name, tensor.shape.text()});
  }

  void add_op(const graph::Op &op) {
    Cell cell;
    cell.title = op.type->name;
    cell.name = op.name;
    std::string parameters;
    std::size_t row = 0;
    std::vector<std::size_t> from;
    for (const graph::TensorId id : op.inputs) {
      if (id == kNone) continue;
      const graph::Tensor &tensor = graph_.tensors[id];
      if (tensor.role == graph::Role::kParameter) parameters += " " + tensor.shape.text();
      if (cell_of_[id] == kNobody) continue;
      row = std::max(row, cells_[cell_of_[id]].row + 1);
      from.push_back(cell_of_[id]);
    }
    cell.row = row;
    for (const graph::TensorId id : op.outputs)
      if (id != kNone && cell.note.empty()) cell.note = graph_.tensors[id].shape.text();
    if (!parameters.empty()) cell.note += "  w" + parameters;
    const std::size_t own = add(std::move(cell));
    for (const graph::TensorId id : op.outputs)
      if (id != kNone) cell_of_[id] = own;
    add_edges(std::move(from), own);
  }

  void add_result(graph::TensorId id) {
    if (cell_of_[id] == kNobody) return;
    const graph::Tensor &tensor = graph_.tensors[id];
    const std::size_t own =
        add({cells_[cell_of_[id]].row + 1, 0, true, true, "result", tensor.name, tensor.shape.text()});
    add_edges({cell_of_[id]}, own);
  }

  void add_edges(std::vector<std::size_t> from, std::size_t to) {
    std::sort(from.begin(), from.end());
    from.erase(std::unique(from.begin(), from.end()), from.end());
    for (const std::size_t cell : from)
      edges_.emplace_back(cell, to);
  }

  /// Inputs stand right above their first reader.
  void lower_inputs() {
    std::map<std::size_t, std::size_t> first;
    for (const auto &[from, to] : edges_)
      if (cells_[from].title == "input") {
        const auto [it, fresh] = first.emplace(from, cells_[to].row);
        if (!fresh) it->second = std::min(it->second, cells_[to].row);
      }
    for (const auto &[cell, row] : first)
      cells_[cell].row = row - 1;
  }

  /// Lines through rows get a place in each.
  void join() {
    for (const auto &[from, to] : edges_) {
      std::size_t last = from;
      for (std::size_t row = cells_[from].row + 1; row < cells_[to].row; ++row) {
        Cell passing;
        passing.row = row;
        passing.box = false;
        passing.above = {last};
        last = add(std::move(passing));
      }
      cells_[to].above.push_back(last);
    }
  }

  double width(const Cell &cell) const { return cell.box ? kBoxWidth : kLineWide; }

  /// Each row in the order of the means of what leads to it, in the middle of the drawing.
  void place() {
    std::map<std::size_t, std::vector<std::size_t>> rows;
    for (std::size_t i = 0; i < cells_.size(); ++i)
      rows[cells_[i].row].push_back(i);
    for (auto &[row, cells] : rows) {
      std::vector<std::pair<double, std::size_t>> order;
      double total = -kColumnGap;
      for (const std::size_t i : cells) {
        double mean = 0;
        for (const std::size_t above : cells_[i].above)
          mean += cells_[above].x / static_cast<double>(cells_[i].above.size());
        order.emplace_back(mean, i);
        total += width(cells_[i]) + kColumnGap;
      }
      std::sort(order.begin(), order.end());
      double x = -total / 2;
      for (const auto &[mean, i] : order) {
        cells_[i].x = x + width(cells_[i]) / 2;
        x += width(cells_[i]) + kColumnGap;
      }
      half_ = std::max(half_, total / 2);
    }
    rows_ = rows.empty() ? 0 : rows.rbegin()->first + 1;
  }

  double top(const Cell &cell) const { return kMargin + static_cast<double>(cell.row) * (kBoxHeight + kRowGap); }
  double middle(const Cell &cell) const { return kMargin + half_ + cell.x; }

  std::string svg() {
    const double width = 2 * (half_ + kMargin);
    const double height = 2 * kMargin + static_cast<double>(rows_) * (kBoxHeight + kRowGap);
    svg_.open("svg", {{"xmlns", "http://www.w3.org/2000/svg"},
                      {"viewBox", fmt::format("0 0 {:.0f} {:.0f}", width, height)},
                      {"width", fmt::format("{:.0f}", width)},
                      {"height", fmt::format("{:.0f}", height)},
                      {"font-family", "sans-serif"},
                      {"font-size", "11"}});
    svg_.element("title", graph_.name);
    svg_.element("desc", fmt::format("{} ops of {}", graph_.ops.size(), graph_.name));
    svg_.empty("rect", {{"width", "100%"}, {"height", "100%"}, {"fill", "#fff"}});
    for (const Cell &cell : cells_)
      lines(cell);
    for (const Cell &cell : cells_)
      if (cell.box) box(cell);
    svg_.close();
    svg_.line_feed();
    return svg_.str();
  }

  void lines(const Cell &cell) {
    std::string path;
    for (const std::size_t i : cell.above) {
      const Cell &from = cells_[i];
      const double x1 = middle(from), y1 = top(from) + kBoxHeight, x2 = middle(cell), y2 = top(cell), y = (y1 + y2) / 2;
      path += fmt::format("M{:.0f} {:.0f}C{:.0f} {:.0f} {:.0f} {:.0f} {:.0f} {:.0f}", x1, y1, x1, y, x2, y, x2, y2);
    }
    if (!cell.box) path += fmt::format("M{:.0f} {:.0f}v{:.0f}", middle(cell), top(cell), kBoxHeight);
    svg_.empty("path", {{"d", path}, {"fill", "none"}, {"stroke", "#888"}});
    svg_.line_feed();
  }

  void box(const Cell &cell) {
    const double x = middle(cell), y = top(cell);
    svg_.open("g");
    svg_.element("title", fmt::format("{} {} {}", cell.title, cell.name, cell.note));
    svg_.empty("rect", {{"x", fmt::format("{:.0f}", x - kBoxWidth / 2)},
                        {"y", fmt::format("{:.0f}", y)},
                        {"width", fmt::format("{:.0f}", kBoxWidth)},
                        {"height", fmt::format("{:.0f}", kBoxHeight)},
                        {"rx", cell.rounded ? "16" : "3"},
                        {"fill", cell.rounded ? "#e8f0e4" : "#eef2f8"},
                        {"stroke", "#446"}});
    text(x, y + 14, cell.title, "bold");
    text(x, y + 28, shortened(cell.name), "normal");
    text(x, y + 41, shortened(cell.note), "normal");
    svg_.close();
    svg_.line_feed();
  }

  void text(double x, double y, const std::string &words, const char *weight) {
    svg_.element("text", words,
                 {{"x", fmt::format("{:.0f}", x)},
                  {"y", fmt::format("{:.0f}", y)},
                  {"text-anchor", "middle"},
                  {"font-weight", weight},
                  {"fill", "#222"}});
  }

  const graph::Graph &graph_;
  std::vector<Cell> cells_;
  std::vector<std::size_t> cell_of_; ///< of each tensor that is computed or put in
  std::vector<std::pair<std::size_t, std::size_t>> edges_;
  double half_ = kBoxWidth / 2; ///< of the widest row
  std::size_t rows_ = 0;
  page::XmlWriter svg_;
};

} // namespace

std::string draw_graph(const graph::Graph &graph) { return GraphDrawing(graph).draw(); }

} // namespace gradweave::cli
