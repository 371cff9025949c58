#include "compiler/emit.hpp"

namespace gradweave::compiler {
namespace {

isa::SpmTile spm_tile(const Place &place) { return {place.rows.first, place.pstride, 0}; }

isa::Sync sync_of(const Ordering &ordering, std::size_t self) {
  isa::Sync sync;
  std::size_t wait = 0, post = 0;
  for (std::size_t e = 0; e < kEngines; ++e) {
    if (ordering.after[e] >= 0) sync.waits.at(wait++) = {semaphore(e, self), 1};
    if (ordering.posts[e]) sync.posts.at(post++) = semaphore(self, e);
  }
  return sync;
}

isa::DmaCommand dma_command(const Action &a) {
  isa::DmaCommand d;
  d.store = a.kind == Action::Kind::kStore;
  d.fp32 = a.fp32;
  d.dram_addr = a.dram_addr;
  d.pitch = a.pitch;
  d.rows = a.rect.rows;
  d.cols = a.rect.cols;
  d.spm = spm_tile(a.place);
  return d;
}

isa::GemmCommand gemm_command(const Action &a, const TileProduct &p) {
  const GemmRoles r = roles(p);
  isa::GemmCommand g;
  g.a_col = r.a_col;
  g.b_col = r.b_col;
  g.acc = a.acc;
  g.out_bf16 = a.out_bf16;
  g.m = r.c_rect.rows;
  g.n = r.c_rect.cols;
  g.k = r.red_size;
  g.a = spm_tile(a.a);
  g.b = spm_tile(a.b);
  if (a.acc) g.cin = spm_tile(a.cin);
  g.cout = spm_tile(a.cout);
  return g;
}

} // namespace

EmittedStream emit(const Program &program, const std::vector<Ordering> &ordering) {
  EmittedStream stream;
  stream.commands.reserve(program.actions.size());
  stream.info.reserve(program.actions.size());
  for (std::size_t i = 0; i < program.actions.size(); ++i) {
    const Action &a = program.actions[i];
    isa::Decoded d;
    d.sync = sync_of(ordering[i], engine_of(a));
    CommandInfo info{a.tensor, a.rect.row, a.rect.col, a.rect.rows, a.rect.cols, a.spill, 0, 0};
    if (a.kind == Action::Kind::kGemm) {
      const TileProduct &p = program.products[a.product];
      d.op = gemm_command(a, p);
      info.red = roles(p).red;
      info.red_n = roles(p).red_size;
    } else {
      d.op = dma_command(a);
    }
    stream.commands.push_back(isa::encode(d));
    stream.info.push_back(info);
  }
  return stream;
}

} // namespace gradweave::compiler
