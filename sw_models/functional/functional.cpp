#include "sw_models/functional/functional.hpp"

#include "sw_models/numerics/numerics.hpp"
#include "sw_models/vector/interpreter.hpp"

#include <algorithm>
#include <limits>

namespace gradweave {

namespace {

using isa::Counter;
using isa::ErrorCode;

constexpr std::uint64_t kCommandBytes = isa::kCommandBytes;

/// A stored operand as a dense row-major array.
std::vector<std::uint16_t> gather(const Scratchpad &spm, const isa::SpmTile &t, std::uint32_t rows,
                                  std::uint32_t cols) {
  std::vector<std::uint16_t> out(std::size_t{rows} * cols);
  for (std::uint32_t i = 0; i < rows; ++i)
    spm.read_row(t, i, cols, out.data() + std::size_t{i} * cols);
  return out;
}

/// A product's operands as dense row-major arrays: A is m x k if `a_by_rows`, else k x m; B is k x n.
struct Operands {
  std::vector<std::uint16_t> a, b;
  std::uint32_t k = 0;
};

/// The image's tile as a tap reads it.
isa::SpmTile moved(const isa::SpmTile &t, const isa::ImageWalk &i, std::uint32_t row, std::uint32_t col,
                   std::uint32_t lanes) {
  isa::SpmTile to = t;
  to.row = static_cast<std::uint32_t>(t.row + tap_shift(i, row, col));
  to.rot = static_cast<isa::Lane>((t.rot + tap_turn(i, row, col) % lanes + lanes) % lanes);
  return to;
}

bool in_image(const isa::ImageWalk &i, std::int64_t row, std::int64_t col) {
  return row >= 0 && row < i.img_h && col >= 0 && col < i.img_w;
}

/// Every tap of every pixel, from the image or +0; B as it lies.
Operands taps_of(const Scratchpad &spm, const isa::ConvCommand &v) {
  const isa::GemmCommand &g = v.product;
  const isa::ImageWalk &i = v.image;
  Operands o;
  o.k = v.steps();
  o.a.resize(std::size_t{g.m} * o.k);
  for (std::uint32_t line = 0; line < g.m; ++line) {
    const std::uint32_t x = line % i.grid_w, y = (i.grid_y + line / i.grid_w) % i.grid_h;
    std::uint16_t *out = o.a.data() + std::size_t{line} * o.k;
    for (std::uint32_t r = 0; r < i.taps_y; ++r)
      for (std::uint32_t q = 0; q < i.taps_x; ++q, out += g.k)
        if (in_image(i, image_row(i, y, r), image_col(i, x, q)))
          spm.read_row(moved(g.a, i, r, q, spm.lanes()), line, g.k, out);
  }
  const std::vector<std::uint16_t> b = gather(spm, g.b, v.b_rows(), g.b_col ? g.k : g.n);
  o.b.resize(std::size_t{o.k} * g.n);
  for (std::uint32_t tap = 0; tap < i.taps(); ++tap)
    for (std::uint32_t c = 0; c < g.k; ++c)
      for (std::uint32_t j = 0; j < g.n; ++j)
        o.b[(std::size_t{tap} * g.k + c) * g.n + j] =
            g.b_col ? b[(std::size_t{tap} * i.b_tap + j) * g.k + c] : b[(std::size_t{tap} * i.b_tap + c) * g.n + j];
  return o;
}

/// The lines of the grid that take part, moved by the one tap.
Operands lines_of(const Scratchpad &spm, const isa::ConvCommand &v) {
  const isa::GemmCommand &g = v.product;
  const isa::ImageWalk &i = v.image;
  const std::vector<std::uint16_t> b = gather(spm, g.b, g.b_col ? g.n : g.k, g.b_col ? g.k : g.n);
  Operands o;
  for (std::uint32_t line = 0; line < g.k; ++line) {
    const std::uint32_t x = line % i.grid_w, y = (i.grid_y + line / i.grid_w) % i.grid_h;
    if (x >= i.out_w || y >= i.out_h) continue;
    o.a.resize(o.a.size() + g.m);
    if (in_image(i, image_row(i, y, 0), image_col(i, x, 0)))
      spm.read_row(moved(g.a, i, 0, 0, spm.lanes()), line, g.m, o.a.data() + std::size_t{o.k} * g.m);
    for (std::uint32_t j = 0; j < g.n; ++j)
      o.b.push_back(g.b_col ? b[std::size_t{j} * g.k + line] : b[std::size_t{line} * g.n + j]);
    ++o.k;
  }
  return o;
}

/// Moves the rows of one element type; rows in ascending order, as the bus does.
template <typename Element>
void move_rows(Scratchpad &spm, DeviceMemory &memory, const isa::DmaCommand &d, std::uint64_t pitch) {
  std::vector<Element> row(d.cols);
  for (std::uint32_t i = 0; i < d.rows; ++i) {
    const std::uint64_t addr = d.dram_addr + i * pitch;
    if (d.store) {
      spm.read_row(d.spm, i, d.cols, row.data());
      memory.write(addr, row.data(), row.size() * sizeof(Element));
    } else {
      memory.read(addr, row.data(), row.size() * sizeof(Element));
      spm.write_row(d.spm, i, d.cols, row.data());
    }
  }
}

} // namespace

FunctionalNpu::FunctionalNpu(const NpuConfig &config, DeviceMemory &memory)
    : config_(config), memory_(memory), spm_(config.spm_rows(), config.lanes()), semaphores_(config.semaphores),
      counters_(isa::counter_count(config.cores, config.vectors()), 0), units_(config.vectors()) {
  limits_.lanes = config.lanes();
  limits_.spm_rows = config.spm_rows();
  limits_.cores = config.cores;
  limits_.semaphores = config.semaphores;
  limits_.vectors = config.vectors();
  set_dram_window(0, memory.size());
}

void FunctionalNpu::set_dram_window(std::uint64_t base, std::uint64_t size) {
  limits_.dram_base = base;
  limits_.dram_size = size;
}

void FunctionalNpu::clear() {
  status_ = {};
  std::fill(counters_.begin(), counters_.end(), std::uint64_t{0});
  std::fill(semaphores_.begin(), semaphores_.end(), std::uint16_t{0});
  marks_.clear();
  for (vector::UnitState &unit : units_)
    unit.begin_run();
  places_ = 0;
  open_ = false;
}

void FunctionalNpu::open(std::uint64_t addr, std::uint32_t places) {
  start(addr, places);
  if (addr % isa::kRingAlignment != 0 || places * kCommandBytes % isa::kRingAlignment != 0)
    status_.error = ErrorCode::BAD_START;
  places_ = places;
  open_ = true;
  stream_count_ = 0;
}

void FunctionalNpu::close() {
  open_ = false;
  status_.done = next_ == stream_count_;
}

void FunctionalNpu::start(std::uint64_t addr, std::uint32_t count) {
  clear();
  stream_addr_ = addr;
  stream_count_ = count;
  next_ = 0;
  const std::uint64_t offset = addr - limits_.dram_base;
  const bool inside =
      addr >= limits_.dram_base && offset <= limits_.dram_size && count * kCommandBytes <= limits_.dram_size - offset;
  if (addr % kCommandBytes != 0 || count == 0 || !inside) status_.error = ErrorCode::BAD_START;
}

const FunctionalNpu::Status &FunctionalNpu::run() {
  while (!status_.done && status_.error == ErrorCode::NONE && next_ != stream_count_)
    step();
  return status_;
}

const FunctionalNpu::Status &FunctionalNpu::step() {
  if (status_.done || status_.error != ErrorCode::NONE || next_ == stream_count_) return status_;
  const std::uint64_t addr = stream_addr_ + (places_ == 0 ? next_ : next_ % places_) * kCommandBytes;
  isa::Command command;
  ErrorCode error = ErrorCode::FETCH_DECERR;
  if (memory_.contains(addr, kCommandBytes)) {
    memory_.read(addr, command.words.data(), kCommandBytes);
    count_fetch();
    error = execute(command);
  }
  if (error != ErrorCode::NONE) {
    status_.error = error;
    status_.error_index = next_;
    return status_;
  }
  ++next_;
  status_.done = next_ == stream_count_ && !open_;
  return status_;
}

ErrorCode FunctionalNpu::execute(const isa::Command &command) {
  if (const ErrorCode error = isa::check_command(command, limits_); error != ErrorCode::NONE) return error;
  const isa::Decoded d = *isa::decode(command);
  if (!take_waits(d.sync)) return ErrorCode::WATCHDOG;
  if (const auto *dma = std::get_if<isa::DmaCommand>(&d.op)) {
    if (const ErrorCode error = move(*dma); error != ErrorCode::NONE) return error;
  } else if (const auto *gemm = std::get_if<isa::GemmCommand>(&d.op)) {
    multiply(*gemm);
  } else if (const auto *conv = std::get_if<isa::ConvCommand>(&d.op)) {
    convolve(*conv);
  } else if (const auto *sum = std::get_if<isa::AddCommand>(&d.op)) {
    add_tiles(*sum);
  } else if (const auto *program = std::get_if<isa::ProgramCommand>(&d.op)) {
    units_[program->unit].take(*program);
  } else if (const auto *tiles = std::get_if<isa::TileCommand>(&d.op)) {
    units_[tiles->unit].take(*tiles);
  } else if (const auto *run = std::get_if<isa::VectorCommand>(&d.op)) {
    if (const ErrorCode error = run_program(*run); error != ErrorCode::NONE) return error;
  } else if (std::get<isa::SyncCommand>(d.op).mark) {
    marks_.push_back(d.tag);
  }
  return post(d.sync) ? ErrorCode::NONE : ErrorCode::SEM_OVERFLOW;
}

bool FunctionalNpu::take_waits(const isa::Sync &sync) {
  for (const isa::Wait &w : sync.waits)
    if (w.semaphore != isa::kNoSemaphore && semaphores_[w.semaphore] < w.count) return false;
  for (const isa::Wait &w : sync.waits)
    if (w.semaphore != isa::kNoSemaphore)
      semaphores_[w.semaphore] = static_cast<std::uint16_t>(semaphores_[w.semaphore] - w.count);
  return true;
}

bool FunctionalNpu::post(const isa::Sync &sync) {
  for (const std::uint8_t p : sync.posts) {
    if (p == isa::kNoSemaphore) continue;
    if (semaphores_[p] == std::numeric_limits<std::uint16_t>::max()) return false;
    ++semaphores_[p];
  }
  return true;
}

ErrorCode FunctionalNpu::move(const isa::DmaCommand &d) {
  const std::uint64_t row_bytes = std::uint64_t{d.cols} * (d.fp32 ? 4 : 2);
  const std::uint64_t pitch = d.rows == 1 ? 0 : d.pitch;
  // The window of the registers may be larger than the memory behind the bus, which answers beyond its end with DECERR.
  if (!memory_.contains(d.dram_addr, (d.rows - 1) * pitch + row_bytes))
    return d.store ? ErrorCode::WRITE_DECERR : ErrorCode::READ_DECERR;

  if (d.fp32) {
    move_rows<std::uint32_t>(spm_, memory_, d, pitch);
  } else {
    move_rows<std::uint16_t>(spm_, memory_, d, pitch);
  }
  add(d.store ? Counter::WRITE_BYTES : Counter::READ_BYTES, d.rows * row_bytes);
  for (std::uint32_t i = 0; i < d.rows; ++i)
    add(d.store ? Counter::WRITE_BEATS : Counter::READ_BEATS, beats(d.dram_addr + i * pitch, row_bytes));
  return ErrorCode::NONE;
}

void FunctionalNpu::multiply(const isa::GemmCommand &g) {
  const std::vector<std::uint16_t> a = gather(spm_, g.a, g.a_col ? g.m : g.k, g.a_col ? g.k : g.m);
  const std::vector<std::uint16_t> b = gather(spm_, g.b, g.b_col ? g.n : g.k, g.b_col ? g.k : g.n);
  const golden::MatrixView a_view =
      g.a_col ? golden::MatrixView{a.data(), g.k, 1} : golden::MatrixView{a.data(), 1, g.m};
  const golden::MatrixView b_view =
      g.b_col ? golden::MatrixView{b.data(), 1, g.k} : golden::MatrixView{b.data(), g.n, 1};
  accumulate(g, a_view, b_view, g.k);
}

void FunctionalNpu::convolve(const isa::ConvCommand &v) {
  const isa::GemmCommand &g = v.product;
  const Operands o = v.weights ? lines_of(spm_, v) : taps_of(spm_, v);
  const golden::MatrixView a_view =
      v.weights ? golden::MatrixView{o.a.data(), 1, g.m} : golden::MatrixView{o.a.data(), o.k, 1};
  accumulate(g, a_view, golden::MatrixView{o.b.data(), g.n, 1}, o.k);
}

void FunctionalNpu::accumulate(const isa::GemmCommand &g, const golden::MatrixView &a, const golden::MatrixView &b,
                               std::uint32_t k) {
  std::vector<float> c(std::size_t{g.m} * g.n);
  std::vector<std::uint32_t> fp32_row(g.n);
  std::vector<std::uint16_t> bf16_row(g.n);
  for (std::uint32_t i = 0; g.acc && i < g.m; ++i) {
    spm_.read_row(g.cin, i, g.n, fp32_row.data());
    std::transform(fp32_row.begin(), fp32_row.end(), c.begin() + std::size_t{i} * g.n, fp32_from_bits);
  }
  golden::accumulate(a, b, g.m, g.n, k, c.data());
  for (std::uint32_t i = 0; i < g.m; ++i) {
    const float *row = c.data() + std::size_t{i} * g.n;
    if (g.out_bf16) {
      std::transform(row, row + g.n, bf16_row.begin(), bf16_from_fp32);
      spm_.write_row(g.cout, i, g.n, bf16_row.data());
    } else {
      std::transform(row, row + g.n, fp32_row.begin(), bits_of_fp32);
      spm_.write_row(g.cout, i, g.n, fp32_row.data());
    }
  }
  const std::uint64_t block_rows = (g.m + config_.rows - 1) / config_.rows;
  const std::uint64_t block_cols = (g.n + config_.cols - 1) / config_.cols;
  add(Counter::BLOCKS, block_rows * block_cols, g.core);
}

void FunctionalNpu::add_tiles(const isa::AddCommand &c) {
  std::vector<std::uint32_t> a(c.n), b(c.n);
  std::vector<std::uint16_t> bf16_row(c.n);
  for (std::uint32_t i = 0; i < c.m; ++i) {
    spm_.read_row(c.a, i, c.n, a.data());
    spm_.read_row(c.cin, i, c.n, b.data());
    const auto sum = [&](std::uint32_t j) { return add_fp32(fp32_from_bits(a[j]), fp32_from_bits(b[j])); };
    for (std::uint32_t j = 0; j < c.n; ++j) {
      if (c.out_bf16)
        bf16_row[j] = bf16_from_fp32(sum(j));
      else
        a[j] = bits_of_fp32(sum(j));
    }
    if (c.out_bf16)
      spm_.write_row(c.cout, i, c.n, bf16_row.data());
    else
      spm_.write_row(c.cout, i, c.n, a.data());
  }
}

ErrorCode FunctionalNpu::run_program(const isa::VectorCommand &v) {
  const vector::UnitState &unit = units_[v.unit];
  if (const std::optional<isa::vector::Fault> fault = unit.fault(v)) {
    status_.error_word = static_cast<std::uint32_t>(fault->code) << 16U | (v.first + fault->index);
    return ErrorCode::VECTOR_FAULT;
  }
  vector::Execution x;
  x.lanes = config_.lanes();
  x.strips = (v.elements + x.lanes - 1) / x.lanes;
  x.steps = v.steps;
  const auto lanes_of = [&](std::uint32_t strip) { return std::min(x.lanes, v.elements - strip * x.lanes); };
  const std::uint32_t group = 4 * config_.vector_groups;
  x.read = [&](const vector::LinePlace &at, std::uint32_t *line) {
    const isa::VectorTile &tile = unit.slot(at.tile);
    spm_.read_line(tile, at.step, at.strip * x.lanes, lanes_of(at.strip), line);
    // What all strips read alike is read once for those that are worked on together.
    if (!tile.same_element || at.strip % group == 0) add(Counter::VECTOR_READS, 1, v.unit);
  };
  x.write = [&](const vector::LinePlace &at, const std::uint32_t *line) {
    spm_.write_line(unit.slot(isa::vector::kTiles + at.tile), at.step, at.strip * x.lanes, lanes_of(at.strip), line);
    add(Counter::VECTOR_WRITES, 1, v.unit);
  };
  vector::interpret(isa::vector::decode(unit.words(v.first)), x);
  return ErrorCode::NONE;
}

std::uint64_t FunctionalNpu::beats(std::uint64_t addr, std::uint64_t bytes) const {
  return (addr + bytes - 1) / config_.bus_bytes - addr / config_.bus_bytes + 1;
}

void FunctionalNpu::count_fetch() {
  // With a bus wider than a command several commands share a beat; it is counted with the first of them.
  const std::uint64_t before = next_ == 0 ? 0 : beats(stream_addr_, next_ * kCommandBytes);
  add(Counter::FETCH_BEATS, beats(stream_addr_, (next_ + 1) * kCommandBytes) - before);
}

} // namespace gradweave
