#include "compiler/epilogue/operand_sums.hpp"

#include "compiler/ir/arithmetic.hpp"
#include "compiler/vector_stream/group/across.hpp"
#include "compiler/vector_stream/stage/programs.hpp"
#include "compiler/vector_stream/stage/stage.hpp"
#include "compiler/verify/verify_hazards.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace gradweave::compiler {
namespace {

constexpr std::size_t kNever = ~std::size_t{0};

/// From whom to whom a token goes, counted from the room's first semaphore; the first two as of sections of jobs.
enum SumToken : std::uint8_t {
  kSumComputed = 2, ///< VECTOR to STORE: the sum is there
  kTileRead = 3,    ///< VECTOR to LOAD: a tile may be replaced
  kTileThere = 8,   ///< LOAD to VECTOR: a tile is there
  kTileUsed = 9     ///< VECTOR to the first core: a tile may be replaced
};

/// Who replaces tiles, and what these wait for.
constexpr std::array<isa::Engine, 2> kReplacing{isa::Engine::LOAD, isa::Engine::COMPUTE0};
constexpr std::array<SumToken, 2> kReplaced{kTileRead, kTileUsed};

/// A tile of the operand, as it is loaded.
struct SumPart {
  isa::DmaCommand dma;
  std::size_t columns = 0; ///< which range
  bool first = false, last = false;
  std::size_t load = 0, run = kNever;                  ///< commands: its LOAD, and the product behind which it runs
  std::array<std::size_t, 2> replaced{kNever, kNever}; ///< the first command of each of kReplacing that replaces rows
};

/// Columns that are summed together, and how many of their rows are so far.
struct SumColumns {
  std::uint32_t col = 0, cols = 0;
  std::size_t rows = 0;
};

struct SumPlan {
  std::vector<SumColumns> columns;
  std::vector<SumPart> parts;
};

/// What a command of the product writes to the scratchpad.
std::optional<SpmView> written_by(const isa::Decoded &command) {
  if (const auto *dma = std::get_if<isa::DmaCommand>(&command.op)) {
    if (dma->store) return std::nullopt;
    return view_of(*dma);
  }
  if (const auto *gemm = std::get_if<isa::GemmCommand>(&command.op)) return GemmViews(*gemm).cout;
  if (const auto *conv = std::get_if<isa::ConvCommand>(&command.op)) return GemmViews(conv->product).cout;
  if (const auto *add = std::get_if<isa::AddCommand>(&command.op)) return AddViews(*add).cout;
  return std::nullopt;
}

class SumPlanning {
public:
  SumPlanning(const OperandSum &sum, std::uint32_t end_row, const NpuConfig &npu)
      : sum_(sum), end_row_(end_row), npu_(npu) {}

  /// None: the sum cannot be had.
  std::optional<SumPlan> run(const std::vector<isa::Command> &commands) {
    of_row_.assign(end_row_, kNever);
    for (std::size_t i = 0; i < commands.size(); ++i) {
      const isa::Decoded command = *isa::decode(commands[i]);
      if (const auto *gemm = std::get_if<isa::GemmCommand>(&command.op)) {
        const GemmViews views(*gemm);
        for (const SpmView &view : {views.a, views.b})
          use(view, i);
      }
      const std::optional<SpmView> written = written_by(command);
      if (written && written->place.row < end_row_ && !replace(*written, i, command.engine())) return std::nullopt;
      const auto *dma = std::get_if<isa::DmaCommand>(&command.op);
      if (dma != nullptr && !dma->store && dma->spm.row < end_row_ && is_of_operand(*dma) && !take(*dma, i))
        return std::nullopt;
    }
    if (!is_whole()) return std::nullopt;
    return std::move(plan_);
  }

private:
  std::uint64_t begin() const { return sum_.addresses[sum_.operand]; }
  std::size_t element_bytes() const { return graph::bytes_of(sum_.jobs.values[sum_.operand].type); }
  std::uint64_t pitch() const { return sum_.cols * element_bytes(); }
  bool is_of_operand(const isa::DmaCommand &dma) const {
    return dma.dram_addr >= begin() && dma.dram_addr < begin() + sum_.rows * pitch();
  }

  /// A tile that the scratchpad has from command `at` on.
  bool take(const isa::DmaCommand &dma, std::size_t at) {
    const std::uint64_t row = (dma.dram_addr - begin()) / pitch();
    const auto col = static_cast<std::uint32_t>((dma.dram_addr - begin()) % pitch() / element_bytes());
    if (dma.rows > 1 && dma.pitch != pitch()) return false;
    const auto same = [&](const SumColumns &c) { return c.col == col && c.cols == dma.cols; };
    auto found = std::find_if(plan_.columns.begin(), plan_.columns.end(), same);
    if (found == plan_.columns.end()) {
      plan_.columns.push_back({col, dma.cols, 0});
      found = std::prev(plan_.columns.end());
    }
    if (row + dma.rows <= found->rows) return true; // it is loaded again
    if (row != found->rows) return false;
    SumPart part;
    part.dma = dma;
    part.columns = static_cast<std::size_t>(found - plan_.columns.begin());
    part.first = row == 0;
    found->rows += dma.rows;
    part.last = found->rows == sum_.rows;
    part.load = at;
    const std::size_t number = plan_.parts.size();
    plan_.parts.push_back(part);
    view_of(dma).for_rows(npu_.lanes(), [&](std::uint32_t r) { of_row_[r] = number; });
    return true;
  }

  /// Rows that product `at` reads: it uses what lies there, and all parts before that run with it.
  void use(const SpmView &read, std::size_t at) {
    read.for_rows(npu_.lanes(), [&](std::uint32_t r) {
      if (r >= end_row_ || of_row_[r] == kNever) return;
      for (; next_run_ <= of_row_[r]; ++next_run_)
        plan_.parts[next_run_].run = at;
    });
  }

  /// Rows that command `at` writes over.
  bool replace(const SpmView &written, std::size_t at, std::uint32_t engine) {
    const auto by = std::find(kReplacing.begin(), kReplacing.end(), static_cast<isa::Engine>(engine));
    bool may = true;
    written.for_rows(npu_.lanes(), [&](std::uint32_t r) {
      if (r >= end_row_ || of_row_[r] == kNever) return;
      SumPart &part = plan_.parts[of_row_[r]];
      of_row_[r] = kNever;
      may = may && by != kReplacing.end() && part.run < at;
      if (!may) return;
      std::size_t &replaced = part.replaced.at(static_cast<std::size_t>(by - kReplacing.begin()));
      replaced = std::min(replaced, at);
    });
    return may;
  }

  bool is_whole() const {
    std::size_t cols = 0;
    for (const SumColumns &columns : plan_.columns) {
      if (columns.rows != sum_.rows) return false;
      cols += columns.cols;
    }
    return cols == sum_.cols && next_run_ == plan_.parts.size();
  }

  const OperandSum &sum_;
  std::uint32_t end_row_;
  const NpuConfig &npu_;
  SumPlan plan_;
  std::vector<std::size_t> of_row_; ///< of the scratchpad: which part it has, that may be unread
  std::size_t next_run_ = 0;        ///< the first part that no product has used
};

/// The chain, with its rows as lanes (across.hpp); none if it is no such.
std::optional<Stage> chain_of(const OperandSum &sum) {
  if (sum.jobs.steps.size() != 1) return std::nullopt;
  const auto *job = std::get_if<VectorJob>(&sum.jobs.steps[0]);
  if (job == nullptr || job->operands.size() != 1 || job->results.size() != 1) return std::nullopt;
  const Stage stage = stage_of(sum.jobs, *job);
  const StridedTile &from = stage.operands[0], &to = stage.results[0];
  if (stage.lanes != sum.cols || stage.steps != sum.rows || from.value != sum.operand || from.first != 0 ||
      from.lane != 1 || from.step != sum.cols || to.first != 0 || to.lane != 1 || to.step != 0 || !to.fp32)
    return std::nullopt;
  return across_of(stage);
}

class AddingSum {
public:
  AddingSum(const OperandSum &sum, const Stage &chain, const SumPlan &plan, const EpilogueRoom &room,
            const NpuConfig &npu)
      : sum_(sum), chain_(chain), plan_(plan), room_(room), npu_(npu), registers_(handed_on(chain)) {
    std::uint32_t row = room.first_row;
    for (const SumColumns &columns : plan.columns) {
      first_rows_.push_back(row);
      row += static_cast<std::uint32_t>((registers_.size() + 1) * 2 * strips(columns.cols));
    }
    end_row_ = row;
    for (std::size_t p = 0; p < plan.parts.size(); ++p)
      for (std::size_t by = 0; by < kReplacing.size(); ++by)
        if (plan.parts[p].replaced.at(by) != kNever) posting_.at(by).push_back(p);
  }

  std::uint32_t rows() const { return end_row_ - room_.first_row; }

  std::vector<isa::Command> run(const std::vector<isa::Command> &commands) {
    if (!write_programs(commands)) return {};
    std::size_t next_load = 0, next_run = 0;
    for (std::size_t i = 0; i < commands.size(); ++i) {
      wait_for_runs(i);
      isa::Decoded command = *isa::decode(commands[i]);
      const bool loads = next_load < plan_.parts.size() && plan_.parts[next_load].load == i;
      const auto free = std::find(command.sync.posts.begin(), command.sync.posts.end(), isa::kNoSemaphore);
      if (loads && free != command.sync.posts.end()) *free = id(kTileThere);
      out_.push_back(isa::encode(command));
      if (loads && free == command.sync.posts.end())
        emit(isa::SyncCommand{static_cast<std::uint8_t>(isa::Engine::LOAD)}, {}, {id(kTileThere)});
      next_load += loads ? 1 : 0;
      for (; next_run < plan_.parts.size() && plan_.parts[next_run].run == i; ++next_run)
        emit_part(plan_.parts[next_run]);
    }
    return std::move(out_);
  }

private:
  std::uint8_t id(SumToken s) const { return static_cast<std::uint8_t>(room_.first_semaphore + s); }
  std::size_t strips(std::size_t cols) const { return divide_up(cols, npu_.lanes()); }

  template <typename Op>
  void emit(const Op &op, const std::vector<isa::Wait> &waits = {}, const std::vector<std::uint8_t> &posts = {}) {
    isa::Decoded command;
    command.op = op;
    std::copy(waits.begin(), waits.end(), command.sync.waits.begin());
    std::copy(posts.begin(), posts.end(), command.sync.posts.begin());
    out_.push_back(isa::encode(command));
  }

  ChainPart chain_part(bool first, bool last) const {
    return compiler::chain_part(*chain_.program, loops_of(*chain_.program).front(), first, last, 0);
  }

  /// Behind those that there are.
  bool write_programs(const std::vector<isa::Command> &commands) {
    std::uint32_t at = 0;
    for (const isa::Command &command : commands)
      if (const isa::Decoded decoded = *isa::decode(command);
          const auto *p = std::get_if<isa::ProgramCommand>(&decoded.op))
        at = std::max(at, p->at + p->count);
    for (const SumPart &part : plan_.parts) {
      const auto [found, is_new] = programs_.try_emplace({part.first, part.last}, at);
      if (!is_new) continue;
      const isa::vector::Words words = isa::vector::encode(chain_part(part.first, part.last).program);
      if (at + words.size() > isa::kProgramWords) return false;
      for (const isa::ProgramCommand &p : program_commands(words, at))
        emit(p);
      at += static_cast<std::uint32_t>(words.size());
    }
    return true;
  }

  /// If command `at` replaces tiles: for the runs of the last of them, and so of all before it.
  void wait_for_runs(std::size_t at) {
    for (std::size_t by = 0; by < kReplacing.size(); ++by) {
      std::size_t end = taken_.at(by);
      for (std::size_t p = end; p < posting_.at(by).size(); ++p)
        if (plan_.parts[posting_.at(by)[p]].replaced.at(by) == at) end = p + 1;
      for (; taken_.at(by) < end; ++taken_.at(by))
        emit(isa::SyncCommand{static_cast<std::uint8_t>(kReplacing.at(by))}, {{id(kReplaced.at(by)), 1}});
    }
  }

  void emit_part(const SumPart &part) {
    const ChainPart chain = chain_part(part.first, part.last);
    const SumColumns &columns = plan_.columns[part.columns];
    std::vector<isa::VectorTile> tiles =
        tiles_handed_on(chain, {registers_, first_rows_[part.columns], strips(columns.cols), columns.cols});
    isa::VectorTile from;
    from.slot = 0;
    from.spm = part.dma.spm;
    from.rows = part.dma.rows;
    from.cols = part.dma.cols;
    from.fp32 = part.dma.fp32;
    tiles.push_back(from);
    const isa::SpmTile line{
        first_rows_[part.columns] + static_cast<std::uint32_t>(registers_.size() * 2 * strips(columns.cols)), 2, 0};
    if (part.last) {
      isa::VectorTile to;
      to.slot = isa::kOperandSlots;
      to.spm = line;
      to.rows = 1;
      to.cols = columns.cols;
      to.fp32 = to.same_step = true;
      tiles.push_back(to);
    }
    for (const isa::TileCommand &command : tile_commands(tiles))
      emit(command);
    isa::VectorCommand v;
    v.first = programs_.at({part.first, part.last});
    v.elements = columns.cols;
    v.steps = part.dma.rows;
    std::vector<std::uint8_t> posts;
    if (part.last) posts.push_back(id(kSumComputed));
    for (std::size_t by = 0; by < kReplacing.size(); ++by)
      if (part.replaced.at(by) != kNever) posts.push_back(id(kReplaced.at(by)));
    emit(v, {{id(kTileThere), 1}}, posts);
    if (part.last) emit_store(columns, line);
  }

  void emit_store(const SumColumns &columns, const isa::SpmTile &line) {
    isa::DmaCommand d;
    d.store = d.fp32 = true;
    d.dram_addr = sum_.addresses[chain_.results[0].value] + std::uint64_t{columns.col} * sizeof(float);
    d.rows = 1;
    d.cols = columns.cols;
    d.spm = line;
    emit(d, {{id(kSumComputed), 1}});
  }

  const OperandSum &sum_;
  const Stage &chain_;
  const SumPlan &plan_;
  const EpilogueRoom &room_;
  const NpuConfig &npu_;
  std::map<unsigned, std::size_t> registers_;               ///< that parts hand on
  std::vector<std::uint32_t> first_rows_;                   ///< of each range of columns: its lines
  std::uint32_t end_row_ = 0;                               ///< behind them all
  std::map<std::pair<bool, bool>, std::uint32_t> programs_; ///< of parts that are first, last: their first word
  std::array<std::vector<std::size_t>, 2> posting_;         ///< of each of kReplacing: parts that it replaces
  std::array<std::size_t, 2> taken_{};                      ///< of these, whose runs it has waited for
  std::vector<isa::Command> out_;
};

} // namespace

bool is_operand_sum(const OperandSum &sum) { return chain_of(sum).has_value(); }

std::uint32_t rows_of_sum(const std::vector<isa::Command> &product, const OperandSum &sum, std::uint32_t end_row,
                          const NpuConfig &npu) {
  const std::optional<Stage> chain = chain_of(sum);
  if (!chain) return 0;
  const std::optional<SumPlan> plan = SumPlanning(sum, end_row, npu).run(product);
  return plan ? AddingSum(sum, *chain, *plan, {}, npu).rows() : 0;
}

std::vector<isa::Command> add_operand_sum(const std::vector<isa::Command> &commands, const OperandSum &sum,
                                          std::uint32_t end_row, const EpilogueRoom &room, const NpuConfig &npu) {
  const std::optional<Stage> chain = chain_of(sum);
  const std::optional<SumPlan> plan = SumPlanning(sum, end_row, npu).run(commands);
  if (!chain || !plan) return {};
  return AddingSum(sum, *chain, *plan, room, npu).run(commands);
}

} // namespace gradweave::compiler
