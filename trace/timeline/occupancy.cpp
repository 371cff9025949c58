#include "trace/timeline/occupancy.hpp"

#include "compiler/verify/verify_hazards.hpp"

#include <algorithm>
#include <variant>

namespace gradweave::runtime::timeline {
namespace {

using compiler::SpmView;
using timing::kNever;

class OccupancyFollower {
public:
  explicit OccupancyFollower(const Run &run)
      : run_(run), lanes_(run.npu.lanes()), bank_rows_(run.npu.bank_rows()), rows_(run.npu.spm_rows()),
        steps_(run.npu.spm_banks) {}

  std::vector<std::vector<Step>> follow(const std::vector<std::optional<isa::Decoded>> &commands) {
    for (std::size_t i = 0; i < commands.size(); ++i) {
      if (!commands[i] || run_.times[i].start == kNever) continue;
      now_ = {run_.times[i].start, end_of(run_.times[i], run_.cycles)};
      std::visit([this](const auto &op) { execute(op); }, commands[i]->op);
    }
    for (std::uint32_t row = 0; row < rows_.size(); ++row)
      close(row);
    flush();
    return std::move(steps_);
  }

private:
  struct Life {
    std::uint64_t begin = 0, end = 0; ///< cycles; equal: none
  };
  struct Row {
    Life content;
    std::uint64_t counted = 0; ///< end of what was counted of earlier contents
  };
  /// Neighbouring rows of a bank whose content lived at the same time.
  struct Stretch {
    std::uint32_t bank = 0, first = 0, count = 0;
    Life life;
  };

  void execute(const isa::DmaCommand &d) {
    if (d.store)
      read(compiler::view_of(d));
    else
      write(compiler::view_of(d));
  }
  void execute(const isa::GemmCommand &g) {
    const compiler::GemmViews views(g);
    read(views.a);
    read(views.b);
    if (g.acc) read(views.cin);
    write(views.cout);
  }
  /// Of the image all rows that its lines, moved by any tap, lie in.
  void execute(const isa::ConvCommand &v) {
    const isa::GemmCommand &g = v.product;
    const isa::RowSpan span = isa::tap_span(v.image);
    isa::SpmTile a = g.a;
    a.row = static_cast<std::uint32_t>(a.row + span.lo);
    const auto reach = static_cast<std::uint32_t>(span.hi - span.lo);
    read({a, reach + (v.weights ? g.k : g.m), v.weights ? g.m : g.k, false});
    read({g.b, v.b_rows(), g.b_col ? g.k : g.n, false});
    if (g.acc) read({g.cin, g.m, g.n, true});
    write({g.cout, g.m, g.n, !g.out_bf16});
  }
  void execute(const isa::AddCommand &a) {
    read({a.a, a.m, a.n, true});
    read({a.cin, a.m, a.n, true});
    write({a.cout, a.m, a.n, !a.out_bf16});
  }
  void execute(const isa::SyncCommand &) {}
  void execute(const isa::ProgramCommand &) {}
  void execute(const isa::TileCommand &) {}
  void execute(const isa::VectorCommand &) {}

  void read(const SpmView &view) {
    view.for_rows(lanes_, [this](std::uint32_t row) {
      Life &life = rows_[row].content;
      if (life.begin != life.end) life.end = std::max(life.end, now_.end);
    });
  }

  void write(const SpmView &view) {
    view.for_rows(lanes_, [this](std::uint32_t row) {
      close(row);
      rows_[row].content = now_;
    });
  }

  void close(std::uint32_t row) {
    Row &r = rows_[row];
    const Life life{std::max(r.content.begin, r.counted), r.content.end};
    if (life.begin >= life.end) return;
    r.counted = life.end;
    const std::uint32_t bank = row / bank_rows_;
    const bool joins = bank == open_.bank && row == open_.first + open_.count && life.begin == open_.life.begin &&
                       life.end == open_.life.end;
    if (!joins) {
      flush();
      open_ = {bank, row, 0, life};
    }
    ++open_.count;
  }

  void flush() {
    if (open_.count == 0) return;
    steps_[open_.bank].push_back({open_.life.begin, std::int64_t{open_.count}});
    steps_[open_.bank].push_back({open_.life.end, -std::int64_t{open_.count}});
    open_.count = 0;
  }

  const Run &run_;
  std::uint32_t lanes_, bank_rows_;
  std::vector<Row> rows_;
  std::vector<std::vector<Step>> steps_; ///< by bank
  Life now_;                             ///< start and end of the command in hand
  Stretch open_;                         ///< closed rows that are not in steps_ yet
};

} // namespace

std::vector<std::vector<Step>> follow_occupancy(const Run &run,
                                                const std::vector<std::optional<isa::Decoded>> &commands) {
  return OccupancyFollower(run).follow(commands);
}

} // namespace gradweave::runtime::timeline
