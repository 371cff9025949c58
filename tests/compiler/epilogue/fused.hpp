// A product, tile by tile, and operators on what it reads and gives, in a graph: run and compared with golden
// execution.
#pragma once

#include "compiler/epilogue/add_epilogues.hpp"
#include "tests/compiler/vector_stream/op_group.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace gradweave::compiler {

using graph::ElementType;
using graph::TensorId;

/// Semaphores of a product on one core.
enum Token : std::uint8_t { kLoadToCore = 1, kStoreToCore = 3, kCoreToLoad = 4, kCoreToStore = 5, kTokens = 7 };

struct Sizes {
  std::uint32_t m = 37, k = 11, n = 21;         ///< of the product
  std::uint32_t tile_rows = 16, tile_cols = 12; ///< of its result tiles
};

/// Y = X W, and operators behind it, in a graph.
class Fused {
public:
  explicit Fused(const Machine &npu, const Sizes &sizes = {}) : npu_(npu), sizes_(sizes), group_(npu_) {
    x_ = group_.input("x", ElementType::kBf16, graph::Shape{sizes.m, sizes.k});
    w_ = group_.input("w", ElementType::kBf16, graph::Shape{sizes.k, sizes.n});
    y_ = group_.add("Gemm", {x_, w_}, ElementType::kFp32, "y");
  }

  OpGroup &group() { return group_; }
  TensorId x() const { return x_; }
  TensorId w() const { return w_; }
  TensorId y() const { return y_; }

  OpJobs jobs() {
    std::vector<graph::OpId> ops;
    for (graph::OpId op = 1; op < group_.graph().ops.size(); ++op)
      ops.push_back(op);
    return lower_ops(group_.graph(), group_.graph().consumers(), ops);
  }

  Epilogue epilogue(bool store_result) {
    Epilogue e;
    e.jobs = jobs();
    e.rows = sizes_.m;
    e.cols = sizes_.n;
    for (const JobValue &value : e.jobs.values) {
      if (value.tensor == y_) e.result = e.in_memory.size();
      e.in_memory.push_back(value.tensor != graph::kNone && (value.tensor != y_ || store_result));
    }
    place(e);
    return e;
  }

  /// The product's commands, tile by tile, all in one place of the scratchpad.
  std::vector<isa::Command> product(std::vector<ResultStore> &stores) {
    std::vector<isa::Command> commands;
    const std::uint32_t rows = sizes_.tile_rows, cols = sizes_.tile_cols;
    for (std::uint32_t row = 0; row < sizes_.m; row += rows)
      for (std::uint32_t col = 0; col < sizes_.n; col += cols)
        add_tile(commands, stores,
                 {row, col, std::min(rows, sizes_.m - row), std::min(cols, sizes_.n - col),
                  row + rows >= sizes_.m && col + cols >= sizes_.n});
    return commands;
  }

  /// The first hazard or element that differs from golden execution.
  std::string difference(const Epilogue &e, const std::vector<isa::Command> &stream) {
    if (stream.empty()) return "it does not fit";
    if (std::string hazard = first_hazard(npu_, stream); !hazard.empty()) return hazard;
    if (!timing::run(npu_, stream).ok()) return "it does not end on the timing model";
    const graph::Graph &graph = group_.graph();
    graph::ExecutionOptions options;
    options.keep = [](TensorId) { return true; };
    graph::Execution<graph::Contract> golden(graph, options);
    DeviceMemory memory(end_ + stream.size() * isa::kCommandBytes);
    std::vector<std::uint8_t> poison(end_, 0xA5);
    memory.write(0, poison.data(), poison.size());
    Dice dice(kGroupSeed);
    for (TensorId id = 0; id < graph.tensors.size(); ++id) {
      if (graph.tensors[id].computed()) continue;
      const JobValue value = value_of(id);
      std::vector<float> values(value.elements);
      std::vector<std::uint32_t> words;
      for (float &v : values) {
        v = static_cast<float>(static_cast<int>(dice.below(4096)) - 2048) / 1024.0F;
        if (value.type == ElementType::kBf16) v = fp32_from_bits(bits_of_fp32(v) & 0xFFFF0000U);
        words.push_back(bits_of_fp32(v));
      }
      write_value(memory, addresses_[id], value, words);
      golden.set(id, std::move(values));
    }
    golden.run();
    if (!run_functional(npu_, memory, stream, end_)) return "the stream does not end well";
    for (std::size_t v = 0; v < e.jobs.values.size(); ++v) {
      const TensorId id = e.jobs.values[v].tensor;
      if (!e.in_memory[v] || !graph.tensors[id].computed()) continue;
      const std::vector<float> &right = golden.get(id).real;
      for (std::size_t i = 0; i < right.size(); ++i)
        if (read_element(memory, addresses_[id], e.jobs.values[v], i) != bits_of_fp32(right[i]))
          return fmt::format("'{}' [{}] differs", e.jobs.values[v].name, i);
    }
    return {};
  }

  std::string difference(bool store_result = false, std::size_t machine = 0) {
    const Epilogue e = epilogue(store_result);
    std::vector<ResultStore> stores;
    const std::vector<isa::Command> commands = product(stores);
    EpilogueRoom room = epilogue_room(npu_, without_epilogue_room(npu_).at(machine), kTokens);
    std::string found;
    using Among = EpilogueRoom::Among;
    for (const Among among : {Among::kBefore, Among::kBehind, Among::kLast})
      for (const std::uint32_t ahead : {1U, 2U, 3U}) {
        room.ahead = ahead;
        room.among = among;
        if (found.empty()) found = difference(e, add_epilogues(commands, stores, {e}, room, npu_));
      }
    return found;
  }

private:
  struct Tile {
    std::uint32_t row, col, rows, cols;
    bool last;
  };

  JobValue value_of(TensorId id) {
    const graph::Tensor &tensor = group_.graph().tensors[id];
    return {tensor.name, id, tensor.type, tensor.shape.elements()};
  }

  void place(Epilogue &e) {
    addresses_.clear();
    end_ = 0x1000;
    for (TensorId id = 0; id < group_.graph().tensors.size(); ++id) {
      addresses_.push_back(end_);
      end_ += (value_of(id).elements * SectionPlaces::bytes(value_of(id)) + 63) / 64 * 64;
    }
    for (const JobValue &value : e.jobs.values)
      e.addresses.push_back(value.tensor == graph::kNone ? 0 : addresses_[value.tensor]);
  }

  std::uint32_t panels(std::uint32_t cols) const { return (cols + npu_.lanes() - 1) / npu_.lanes(); }

  void add_tile(std::vector<isa::Command> &commands, std::vector<ResultStore> &stores, const Tile &tile) {
    const bool first = tile.row == 0 && tile.col == 0;
    const isa::SpmTile a{0, tile.rows, 1}, b{sizes_.tile_rows * panels(sizes_.k), sizes_.k, 2};
    const std::uint32_t behind = (b.row + sizes_.k * panels(sizes_.tile_cols) + 1) / 2 * 2;
    const isa::SpmTile c{behind, tile.rows * 2, 3};
    const auto put = [&commands](const auto &op, isa::Sync sync) { commands.push_back(isa::encode({op, sync, 0})); };
    isa::Sync sync;
    if (!first) sync.waits[0] = {kCoreToLoad, 1};
    put(isa::DmaCommand{false, false, addresses_[x_] + tile.row * sizes_.k * 2, sizes_.k * 2, tile.rows, sizes_.k, a},
        sync);
    sync = {};
    sync.posts[0] = kLoadToCore;
    put(isa::DmaCommand{false, false, addresses_[w_] + tile.col * 2, sizes_.n * 2, sizes_.k, tile.cols, b}, sync);
    isa::GemmCommand gemm;
    gemm.a_col = true;
    gemm.m = tile.rows;
    gemm.n = tile.cols;
    gemm.k = sizes_.k;
    gemm.a = a;
    gemm.b = b;
    gemm.cout = c;
    sync = {};
    sync.waits[0] = {kLoadToCore, 1};
    if (!first) sync.waits[1] = {kStoreToCore, 1};
    sync.posts[0] = kCoreToStore;
    if (!tile.last) sync.posts[1] = kCoreToLoad;
    put(gemm, sync);
    sync = {};
    sync.waits[0] = {kCoreToStore, 1};
    if (!tile.last) sync.posts[0] = kStoreToCore;
    stores.push_back({commands.size(), 0, tile.row, tile.col});
    put(isa::DmaCommand{true, true, addresses_[y_] + (tile.row * sizes_.n + tile.col) * 4, sizes_.n * 4, tile.rows,
                        tile.cols, c},
        sync);
  }

  Machine npu_;
  Sizes sizes_;
  OpGroup group_;
  TensorId x_ = 0, w_ = 0, y_ = 0;
  std::vector<std::uint64_t> addresses_; ///< of each tensor
  std::uint64_t end_ = 0;
};

} // namespace gradweave::compiler
