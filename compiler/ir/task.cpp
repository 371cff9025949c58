#include "compiler/ir/task.hpp"

#include "compiler/ir/arithmetic.hpp"

#include <algorithm>
#include <stdexcept>

namespace gradweave::compiler {
namespace {

using graph::Op;
using graph::Product;
using graph::ProductKind;
using graph::Shape;

using graph::Walk;

std::uint32_t side(std::uint32_t asked, std::uint32_t extent) { return asked == 0 ? extent : std::min(asked, extent); }

std::uint32_t tiles(std::uint32_t extent, std::uint32_t tile) {
  return static_cast<std::uint32_t>(divide_up(extent, tile));
}

/// Ranges of M, K and N of a product's task.
struct Ranges {
  std::uint32_t m, m_size, k, k_size, n, n_size;
};

Ranges ranges(const Task &t, ProductKind kind) {
  switch (kind) {
  case ProductKind::kForward:
    return {t.box.row, t.box.rows, t.first, t.terms, t.box.col, t.box.cols};
  case ProductKind::kInputGradient:
    return {t.box.row, t.box.rows, t.box.col, t.box.cols, t.first, t.terms};
  case ProductKind::kWeightGradient:
    return {t.first, t.terms, t.box.row, t.box.rows, t.box.col, t.box.cols};
  }
  throw std::logic_error("a product of no kind");
}

Rect whole(const Shape &shape) { return {0, 0, static_cast<std::uint32_t>(shape.rows()), shape.cols()}; }

/// Rows of the image that the output pixels [first, first + count) read, halo included.
Rect pixels_read(const Convolution &conv, std::uint32_t first, std::uint32_t count) {
  const std::uint32_t line = conv.out_width(), image = conv.out_height() * line;
  const auto row_of = [&](std::uint32_t pixel, std::uint32_t tap) {
    const std::int64_t y = static_cast<std::int64_t>(pixel % image / line) * conv.stride_height - conv.pad_top +
                           static_cast<std::int64_t>(tap) * conv.dilation_height;
    const auto inside = std::clamp<std::int64_t>(y, 0, conv.height - 1);
    return static_cast<std::uint32_t>(pixel / image * conv.height + inside);
  };
  const std::uint32_t begin = row_of(first, 0), end = row_of(first + count - 1, conv.kernel_height - 1) + 1;
  return {begin * conv.width, 0, (end - begin) * conv.width, conv.channels};
}

} // namespace

TaskGraph::Form TaskGraph::form_of(const Op &op, TaskGrid grid) const {
  const graph::OpView view{graph_, op};
  Form form;
  if (op.type->lower != nullptr) form.lowering = op.type->lower(view);
  const graph::Tensor &output = view.output(0);
  form.rows = static_cast<std::uint32_t>(output.shape.rows());
  form.cols = output.shape.cols();
  if (output.role == graph::Role::kUpdated) form.kind = TaskKind::kUpdate;
  if (const auto &product = form.lowering.product) {
    form.kind = TaskKind::kProduct;
    form.groups = product->groups;
    const bool forward = product->kind == ProductKind::kForward, dx = product->kind == ProductKind::kInputGradient;
    form.rows = forward || dx ? product->m : product->k;
    form.cols = dx ? product->k : product->n;
    form.terms = forward ? product->k : dx ? product->n : product->m;
    form.steps = tiles(form.terms, form.tile.terms = side(grid.terms, form.terms));
  }
  // What a reduction runs along is in one tile.
  const Walk walk = form.lowering.walk;
  const bool whole_rows = form.kind != TaskKind::kProduct && walk != Walk::kElements && walk != Walk::kColumns;
  const bool one = form.kind != TaskKind::kProduct && (walk == Walk::kWhole || walk == Walk::kScatter);
  form.tile.rows = one ? form.rows : side(grid.rows, form.rows);
  form.tile.cols = whole_rows ? form.cols : side(grid.cols, form.cols);
  form.row_tiles = tiles(form.rows, form.tile.rows);
  form.col_tiles = tiles(form.cols, form.tile.cols);
  return form;
}

TaskGraph::TaskGraph(const graph::Graph &graph, std::vector<TaskGrid> grids) : graph_(graph), first_{0} {
  if (grids.size() != graph.ops.size()) throw std::invalid_argument("TaskGraph: as many grids as ops are wanted");
  for (graph::OpId op = 0; op < graph.ops.size(); ++op) {
    forms_.push_back(form_of(graph.ops[op], grids[op]));
    const Form &form = forms_.back();
    first_.push_back(first_.back() + TaskId{form.groups} * form.row_tiles * form.col_tiles * form.steps);
  }
}

Task TaskGraph::task(TaskId id) const {
  const auto op = static_cast<graph::OpId>(std::upper_bound(first_.begin(), first_.end(), id) - first_.begin() - 1);
  const Form &form = forms_.at(op);
  TaskId at = id - first_[op];
  const auto digit = [&at](std::uint32_t base) {
    const auto value = static_cast<std::uint32_t>(at % base);
    at /= base;
    return value;
  };
  const std::uint32_t step = digit(form.steps), col = digit(form.col_tiles) * form.tile.cols,
                      row = digit(form.row_tiles) * form.tile.rows;
  Task task;
  task.op = op;
  task.kind = form.kind;
  task.group = static_cast<std::uint32_t>(at);
  task.box = {row, col, std::min(form.tile.rows, form.rows - row), std::min(form.tile.cols, form.cols - col)};
  if (form.kind == TaskKind::kProduct) {
    task.first = step * form.tile.terms;
    task.terms = std::min(form.tile.terms, form.terms - task.first);
    task.last = step + 1 == form.steps;
  }
  return task;
}

std::vector<Need> TaskGraph::needs(const Task &task) const {
  std::vector<Need> needs;
  const Form &form = forms_[task.op];
  if (form.kind == TaskKind::kProduct)
    product_needs(task, form, needs);
  else
    vector_needs(task, form, needs);
  return needs;
}

void TaskGraph::product_needs(const Task &task, const Form &form, std::vector<Need> &needs) const {
  const Op &op = graph_.ops[task.op];
  const Product &p = *form.lowering.product;
  if (p.grouping == Product::Grouping::kBatch) {
    // A dense matrix a group; which rows of it is left out.
    for (const graph::TensorId input : op.inputs)
      if (input != graph::kNone) {
        const Shape &shape = graph_.tensors[input].shape;
        const auto rows =
            static_cast<std::uint32_t>(shape.rows() % p.groups == 0 ? shape.rows() / p.groups : shape.rows());
        const std::uint32_t first = rows * p.groups == shape.rows() ? task.group * rows : 0;
        needs.push_back({input, {first, 0, rows, shape.cols()}});
      }
    return;
  }
  const Ranges at = ranges(task, p.kind);
  const std::uint32_t g = task.group;
  // The rectangles of X (M x GK), W (GK x N) and Y or dY (M x GN).
  const Rect x = p.conv && !p.conv->is_pointwise() ? pixels_read(*p.conv, at.m, at.m_size)
                                                   : Rect{at.m, g * p.k + at.k, at.m_size, at.k_size};
  const Rect w{g * p.k + at.k, at.n, at.k_size, at.n_size};
  const Rect y{at.m, g * p.n + at.n, at.m_size, at.n_size};
  const bool forward = p.kind == ProductKind::kForward, dx = p.kind == ProductKind::kInputGradient;
  needs.push_back({op.inputs[0], dx ? y : x});
  needs.push_back({op.inputs[1], forward || dx ? w : y});
  for (std::size_t i = 2; i < op.inputs.size(); ++i) // initial values of the chain
    if (op.inputs[i] != graph::kNone && task.first == 0) needs.push_back({op.inputs[i], w});
}

void TaskGraph::vector_needs(const Task &task, const Form &form, std::vector<Need> &needs) const {
  const Op &op = graph_.ops[task.op];
  const Shape &result = graph_.tensors[op.outputs[0]].shape;
  for (const graph::TensorId input : op.inputs) {
    if (input == graph::kNone) continue;
    const Shape &shape = graph_.tensors[input].shape;
    Rect rect = whole(shape);
    switch (form.lowering.walk) {
    case Walk::kElements:
      if (shape == result)
        rect = task.box;
      else if (shape.cols() == result.cols())
        rect.col = task.box.col, rect.cols = task.box.cols;
      break;
    case Walk::kRows:
      if (shape.rows() == result.rows()) rect.row = task.box.row, rect.rows = task.box.rows;
      break;
    case Walk::kColumns:
      if (shape.cols() == result.cols()) rect.col = task.box.col, rect.cols = task.box.cols;
      break;
    case Walk::kWindow:
    case Walk::kMove:
    case Walk::kGather:
    case Walk::kScatter:
    case Walk::kWhole:
      break;
    }
    needs.push_back({input, rect});
  }
}

void TaskGraph::for_writers(const Need &need, const std::function<void(TaskId)> &visit) const {
  const graph::Tensor &tensor = graph_.tensors[need.tensor];
  if (!tensor.computed()) return;
  const graph::OpId op = tensor.producer;
  const Form &form = forms_[op];
  const std::optional<Product> &p = form.lowering.product;
  std::uint32_t group = 0, groups = form.groups;
  Rect box = need.rect;
  // Where tiles of the op are no rectangles of the tensor, all of them count.
  const bool first_output = graph_.ops[op].outputs[0] == need.tensor;
  const bool folded = p && p->kind == ProductKind::kInputGradient && p->conv && !p->conv->is_pointwise();
  bool all = !first_output || folded;
  if (groups > 1 && !all) {
    const bool below = p->grouping == Product::Grouping::kBatch || p->kind == ProductKind::kWeightGradient;
    std::uint32_t &at = below ? box.row : box.col;
    std::uint32_t &size = below ? box.rows : box.cols;
    const std::uint32_t extent = below ? form.rows : form.cols;
    group = at / extent;
    all = (at + size - 1) / extent != group;
    groups = group + 1;
    at -= group * extent;
  }
  if (all) group = 0, groups = form.groups, box = {0, 0, form.rows, form.cols};
  const std::uint32_t row = box.row / form.tile.rows, row_end = tiles(box.row + box.rows, form.tile.rows);
  const std::uint32_t col = box.col / form.tile.cols, col_end = tiles(box.col + box.cols, form.tile.cols);
  for (std::uint32_t g = group; g < groups; ++g)
    for (std::uint32_t i = row; i < row_end; ++i)
      for (std::uint32_t j = col; j < col_end; ++j)
        visit(first_[op] + ((TaskId{g} * form.row_tiles + i) * form.col_tiles + j + 1) * form.steps - 1);
}

void TaskGraph::for_predecessors(TaskId id, const std::function<void(TaskId)> &visit) const {
  const Task task = this->task(id);
  if (task.first > 0) visit(id - 1);
  const std::vector<Need> needs = this->needs(task);
  for (std::size_t i = 0; i < needs.size(); ++i) {
    const auto same = [&](const Need &other) { return other.tensor == needs[i].tensor && other.rect == needs[i].rect; };
    if (std::none_of(needs.begin(), needs.begin() + static_cast<std::ptrdiff_t>(i), same)) for_writers(needs[i], visit);
  }
}

} // namespace gradweave::compiler
