#include "compiler/emit/emit.hpp"
#include "compiler/emit/image_command.hpp"
#include "compiler/ir/grid/tile_rows.hpp"
#include "compiler/ir/image.hpp"
#include "compiler/ir/vector_section.hpp"
#include "compiler/lower/order.hpp"

namespace gradweave::compiler {
namespace {

isa::SpmTile spm_tile(const Place &place) {
  return {place.rows.first + place.guard, place.pstride, static_cast<isa::Lane>(place.rot)};
}

/// The waits and posts of an action, in as many SYNCs as they take beside the action's own: a command has three of
/// each.
class Tokens {
public:
  Tokens(const Handshake &handshake, std::size_t self) {
    for (std::size_t e = 0; (handshake.waits | handshake.posts) >> e != 0; ++e) {
      if ((handshake.waits >> e & 1U) != 0) waits_[wait_count_++] = semaphore(e, self);
      if ((handshake.posts >> e & 1U) != 0) posts_[post_count_++] = semaphore(self, e);
    }
  }
  bool waits_left() const { return wait_count_ > kEach; }
  bool posts_left() const { return post_next_ < post_count_; }
  /// The next waits; the last ones go with the action.
  void take_waits(isa::Sync &sync) {
    for (std::size_t i = 0; i < kEach && wait_count_ > 0; ++i)
      sync.waits[i] = {waits_[--wait_count_], 1};
  }
  void take_posts(isa::Sync &sync) {
    for (std::size_t i = 0; i < kEach && posts_left(); ++i)
      sync.posts[i] = posts_[post_next_++];
  }

private:
  static constexpr std::size_t kEach = 3;
  std::array<std::uint8_t, kMostEngines> waits_{}, posts_{};
  std::size_t wait_count_ = 0, post_count_ = 0, post_next_ = 0;
};

/// Of one of the tile's runs of rows.
isa::DmaCommand dma_command(const Action &a, const TileForm &form, const RowRun &run, std::uint32_t lanes) {
  isa::DmaCommand d;
  d.store = a.kind == Action::Kind::kStore;
  d.fp32 = a.fp32;
  // The action's address is that of the rectangle's row as if it were one of the tensor.
  const std::uint32_t pitch = a.memory.pitch;
  d.dram_addr = a.memory.address - std::uint64_t{a.row} * pitch + std::uint64_t{run.row} * pitch;
  d.pitch = pitch * run.step;
  d.rows = run.rows;
  d.cols = form.cols;
  d.spm = spm_tile(form.place(a.place.row));
  d.spm.row += run.at * (a.fp32 ? 2 : 1);
  d.spm.rot = static_cast<isa::Lane>((form.rot + run.at) % lanes);
  return d;
}

isa::AddCommand add_command(const Action &a, const Program &program) {
  isa::AddCommand c;
  c.core = a.core;
  c.out_bf16 = a.out_bf16;
  c.m = program.form(a).lines;
  c.n = program.form(a).cols;
  c.a = spm_tile(program.place(a.in.a));
  c.cin = spm_tile(program.place(a.in.cin));
  c.cout = spm_tile(program.place(a.place));
  return c;
}

isa::GemmCommand gemm_command(const Action &a, const Program &program, const GemmRoles &r) {
  isa::GemmCommand g;
  g.core = a.core;
  g.a_col = r.a_col;
  g.b_col = r.b_col;
  g.acc = a.acc;
  g.out_bf16 = a.out_bf16;
  g.m = tile_rows(r.c_rect);
  g.n = r.c_rect.cols;
  g.k = r.red_size;
  g.a = spm_tile(program.place(a.in.a));
  g.b = spm_tile(program.place(a.in.b));
  if (a.acc) g.cin = spm_tile(program.place(a.in.cin));
  g.cout = spm_tile(program.place(a.place));
  return g;
}

/// Where commands go, and, if that is asked for, what they are.
struct Sink {
  std::vector<isa::Command> &commands;
  std::vector<CommandInfo> *info;

  void put(const isa::Decoded &command, const CommandInfo &of) {
    commands.push_back(isa::encode(command));
    if (info != nullptr) info->push_back(of);
  }
  void put(const VectorPiece &piece) {
    commands.insert(commands.end(), piece.commands.begin(), piece.commands.end());
    if (info != nullptr) info->insert(info->end(), piece.info.begin(), piece.info.end());
  }
};

/// Runs follow one another on the engine: the first waits for all, and the last ends last. The last one is left to
/// whoever posts.
void put_runs(const Action &a, const Program &program, std::uint32_t lanes, const CommandInfo &info, isa::Decoded &d,
              Sink &sink) {
  const TileForm &form = program.form(a);
  if (form.pixels.width == 0 && form.taps.rows == 0) { // most
    d.op = dma_command(a, form, {a.row, 1, form.rows, 0}, lanes);
    return;
  }
  const Layer &layer = program.layers[a.layer];
  const std::vector<RowRun> runs = row_runs(program.rect(a), layer.image ? kernel_channels(layer) : 0);
  for (std::size_t run = 0; run + 1 < runs.size(); ++run) {
    d.op = dma_command(a, form, runs[run], lanes);
    sink.put(d, info);
    d.sync = {};
  }
  d.op = dma_command(a, form, runs.back(), lanes);
}

void put_product(const Action &a, const Program &program, const NpuConfig &npu, CommandInfo &info, isa::Decoded &d) {
  const TileProduct &p = program.products[a.product];
  const Layer &layer = program.layers[a.layer];
  const GemmRoles r = roles(p, layer);
  if (a.kind == Action::Kind::kAdd)
    d.op = add_command(a, program);
  else if (layer.image)
    d.op = image_command(gemm_command(a, program, r), r, p, layer, npu.lanes());
  else
    d.op = gemm_command(a, program, r);
  info.red = r.red;
  info.red_n = r.red_size;
}

void emit_action(std::size_t index, const Program &program, const std::vector<Handshake> &handshakes,
                 const NpuConfig &npu, Sink &sink) {
  const Action &a = program.actions[index];
  if (const VectorPiece *piece = piece_of(program, a)) return sink.put(*piece);
  if (a.kind == Action::Kind::kRows && handshakes[index].posts == 0) return; // nobody waits
  Tokens tokens(handshakes[index], engine_of(a));
  const TileForm &form = program.form(a);
  CommandInfo info{a.tensor, a.spill, a.row, a.col, form.rows, form.cols};
  info.layer = a.layer;
  if (form.pixels.phase != 0) {
    std::uint32_t end = 0;
    tensor_rows(program.rect(a), info.row, end);
  }
  const CommandInfo moved = info;
  isa::Decoded sync;
  sync.op = isa::SyncCommand{static_cast<std::uint8_t>(engine_of(a))};
  while (tokens.waits_left()) {
    isa::Decoded d = sync;
    tokens.take_waits(d.sync);
    sink.put(d, moved);
  }
  isa::Decoded d;
  tokens.take_waits(d.sync);
  if (a.kind == Action::Kind::kGate || a.kind == Action::Kind::kRows || a.kind == Action::Kind::kDone)
    d.op = sync.op;
  else if (a.computes())
    put_product(a, program, npu, info, d);
  else
    put_runs(a, program, npu.lanes(), info, d, sink);
  tokens.take_posts(d.sync);
  sink.put(d, info);
  while (tokens.posts_left()) {
    isa::Decoded more = sync;
    tokens.take_posts(more.sync);
    sink.put(more, moved);
  }
}

} // namespace

EmittedStream emit(const Program &program, const std::vector<Handshake> &handshakes, const NpuConfig &npu) {
  EmittedStream stream;
  stream.commands.reserve(program.actions.size());
  stream.info.reserve(program.actions.size());
  Sink sink{stream.commands, &stream.info};
  for (std::size_t i = 0; i < program.actions.size(); ++i)
    emit_action(i, program, handshakes, npu, sink);
  return stream;
}

std::vector<isa::Command> emit_commands(const Program &program, const std::vector<Handshake> &handshakes,
                                        const NpuConfig &npu) {
  std::vector<isa::Command> commands;
  commands.reserve(program.actions.size());
  Sink sink{commands, nullptr};
  for (std::size_t i = 0; i < program.actions.size(); ++i)
    emit_action(i, program, handshakes, npu, sink);
  return commands;
}

} // namespace gradweave::compiler
