#include "dma_bench.hpp"
#include "tests/rtl/make_model.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::dma_test {

Bench::Bench(const BenchOptions &options)
    : options_(options), rng_(options.seed), memory_(options.dram_base, 2 * std::size_t{kDramHalf}),
      expected_memory_(memory_), spm_(2 * kSpmHalf, kLanes), expected_spm_(spm_),
      axi_({kBus, kOutstanding, options.latency, options.stall, options.faults}, memory_, options.seed + 1),
      model_(test::make_model<GW_MODEL>()) {
  for (std::uint8_t &b : memory_.data)
    b = static_cast<std::uint8_t>(rng_());
  for (std::uint16_t &x : spm_.data)
    x = static_cast<std::uint16_t>(rng_());
  memory_.repeats = options.far;
  expected_memory_ = memory_;
  expected_spm_.data = spm_.data;
  model_->clear_i = 0;
  for (int i = 0; i < 2; ++i) {
    settle();
    model_->clk_i = 1;
    model_->eval();
  }
  model_->rst_ni = 1;
}

void Bench::settle() {
  model_->clk_i = 0;
  model_->eval();
}

void Bench::problem(const std::string &text) { problems_.push_back(fmt::format("cycle {}: {}", axi_.cycle, text)); }

std::string Bench::problems() const {
  std::string text;
  std::size_t lines = 0;
  for (const auto *list : {&problems_, &axi_.problems})
    for (const std::string &line : *list)
      if (lines++ < 10) text += line + "\n";
  return lines > 10 ? text + fmt::format("and {} more\n", lines - 10) : text;
}

// --- Commands ------------------------------------------------------------------------------------

void Bench::enqueue(bool store, const isa::Decoded &d, std::uint64_t amount) {
  Engine &e = engines_[store ? 1 : 0];
  e.expected += amount;
  std::uint32_t posts = d.sync.posts[0] | d.sync.posts[1] << 8 | d.sync.posts[2] << 16;
  e.waiting.push_back({isa::encode(d), next_index_++, posts, e.expected});
}

void Bench::add_sync(bool store) {
  isa::Decoded d;
  d.op = isa::SyncCommand{static_cast<std::uint8_t>(store ? 1 : 0)};
  for (std::uint8_t &p : d.sync.posts)
    p = static_cast<std::uint8_t>(rng_());
  enqueue(store, d, 0);
}

void Bench::add(const isa::DmaCommand &c) {
  isa::Decoded d;
  d.op = c;
  d.tag = static_cast<std::uint16_t>(rng_());
  for (std::uint8_t &p : d.sync.posts)
    p = static_cast<std::uint8_t>(rng_());
  Engine &e = engines_[c.store ? 1 : 0];
  std::vector<Burst> bursts = bursts_of(c, next_index_, kBus);
  e.bursts.insert(e.bursts.end(), bursts.begin(), bursts.end());
  e.bytes += std::uint64_t{c.rows} * c.cols * element_bytes(c);

  std::uint64_t written = 0;
  for_each_element(c, kLanes, [&](std::uint64_t addr, std::uint32_t row, std::uint32_t lane) {
    if (c.store) {
      std::uint32_t value = expected_spm_.get(row, lane, c.fp32);
      for (std::uint32_t i = 0; i < element_bytes(c); ++i)
        expected_memory_.write(addr + i, static_cast<std::uint8_t>(value >> (8 * i)));
    } else if (axi_.response_of(false, addr / kBus * kBus, kBus) == 0) {
      std::uint32_t value = 0;
      for (std::uint32_t i = 0; i < element_bytes(c); ++i)
        value |= std::uint32_t{memory_.read(addr + i)} << (8 * i);
      expected_spm_.put(row, lane, c.fp32, value);
      ++written;
    }
  });
  enqueue(c.store, d, c.store ? bursts.size() : written);
}

void Bench::add_random(std::uint32_t commands) {
  for (std::uint32_t i = 0; i < commands; ++i) {
    bool store = (rng_() & 1U) != 0;
    if (rng_() % 6 == 0) {
      add_sync(store);
    } else if (store) {
      add(random_tile({options_.dram_base + kDramHalf, kDramHalf, kSpmHalf, kSpmHalf, kLanes}, true, rng_));
    } else {
      add(random_tile({options_.dram_base, kDramHalf, 0, kSpmHalf, kLanes}, false, rng_));
    }
  }
}

// --- One cycle ------------------------------------------------------------------------------------

void Bench::drive_engine(Engine &e, bool store) {
  double chance = std::uniform_real_distribution<double>(0, 1)(rng_);
  e.offered = !e.waiting.empty() && (e.offered || chance >= options_.stall);
  const Queued none{};
  const Queued &head = e.waiting.empty() ? none : e.waiting.front();
  (store ? model_->s_start_valid_i : model_->l_start_valid_i) = e.offered;
  (store ? model_->s_head_valid_i : model_->l_head_valid_i) = !e.waiting.empty();
  (store ? model_->s_index_i : model_->l_index_i) = head.index;
  for (std::size_t w = 0; w < head.command.words.size(); ++w)
    (store ? model_->s_cmd_i : model_->l_cmd_i)[w] = head.command.words[w];
}

void Bench::drive() {
  drive_engine(engines_[0], false);
  drive_engine(engines_[1], true);
  model_->run_i = run_enabled;

  if (options_.fetch && !fetch_.valid && commands_left() && rng_() % 4 == 0) {
    fetch_ = {true, false, options_.dram_base + rng_() % (kDramHalf / 4096) * 4096,
              static_cast<std::uint8_t>(rng_() % std::min(4U, 4096 / kBus))}; // in its page
  }
  model_->f_ar_valid_i = fetch_.valid;
  model_->f_ar_addr_i = fetch_.addr;
  model_->f_ar_len_i = fetch_.len;

  axi_.drive();
  model_->arready_i = axi_.ar_ready;
  model_->awready_i = axi_.aw_ready;
  model_->wready_i = axi_.w_ready;
  model_->rvalid_i = axi_.r.valid;
  model_->rid_i = axi_.r.id;
  model_->rresp_i = axi_.r.response;
  model_->rlast_i = axi_.r.last;
  model_->bvalid_i = axi_.b_valid;
  model_->bresp_i = axi_.b_response;
  for (std::uint32_t w = 0; w < kBus / 4; ++w) {
    std::uint32_t value = 0;
    for (std::uint32_t i = 0; i < 4; ++i)
      value |= std::uint32_t{axi_.r.data[4 * w + i]} << (8 * i);
    model_->rdata_i[w] = value;
    model_->st_data_i[w] = read_data_[w];
  }
}

namespace {

/// Scratchpad row of element `e` of a beat.
std::uint32_t row_of(std::uint32_t e, std::uint32_t addr, std::uint32_t split, std::uint32_t pstride) {
  return (addr + (e < split ? 0 : (1 + (e - split) / kLanes) * pstride)) & ((1U << isa::field::SPM_ROW.width) - 1);
}

} // namespace

void Bench::take_load_write() {
  if (!model_->ld_en_o) return;
  bool fp32 = model_->ld_fp32_o;
  for (std::uint32_t e = 0; e < model_->ld_count_o; ++e) {
    std::uint32_t slot = model_->ld_first_o + e;
    std::uint32_t word = model_->ld_data_o[fp32 ? slot : slot / 2];
    std::uint32_t row = row_of(e, model_->ld_addr_o, model_->ld_split_o, model_->ld_pstride_o);
    spm_.put(row, step_lane(model_->ld_lane_o, e), fp32, fp32 ? word : word >> (16 * (slot % 2)));
    ++engines_[0].moved;
  }
}

void Bench::take_store_read() {
  for (std::uint32_t &word : read_data_)
    word = static_cast<std::uint32_t>(rng_()); // slots not asked for
  if (!model_->st_en_o) return;
  bool fp32 = model_->st_fp32_o;
  for (std::uint32_t e = 0; e < model_->st_count_o; ++e) {
    std::uint32_t slot = model_->st_first_o + e;
    std::uint32_t row = row_of(e, model_->st_addr_o, model_->st_split_o, model_->st_pstride_o);
    std::uint32_t value = spm_.get(row, step_lane(model_->st_lane_o, e), fp32);
    std::uint32_t &word = read_data_[fp32 ? slot : slot / 2];
    word = fp32 ? value : (slot % 2 != 0 ? (word & 0xFFFFU) | value << 16 : (word & 0xFFFF0000U) | value);
  }
}

void Bench::check_reads() {
  if ((model_->f_r_valid_o != 0) != (axi_.r.valid && !axi_.r.id)) problem("fetch data went astray");
  if (model_->f_r_valid_o && axi_.r.last) --fetches_pending_;
  // Fetch goes first: it waits for the register only, never for a load.
  if (fetch_.valid && !model_->f_ar_ready_o && (!model_->arvalid_o || axi_.ar_ready)) problem("fetch had to wait");
  if (fetch_.valid && model_->f_ar_ready_o) {
    fetch_.valid = false;
    ++fetches_;
    ++fetches_pending_;
  }
}

void Bench::cycle() {
  drive();
  settle();
  if (options_.probe_paths) check_paths();

  View load{model_->l_start_ready_o != 0,
            model_->l_done_valid_o != 0,
            model_->l_err_valid_o != 0,
            model_->l_busy_o != 0,
            model_->l_quiet_o != 0,
            axi_.r.valid && axi_.r.id,
            model_->l_done_index_o,
            model_->l_done_posts_o,
            model_->l_err_code_o,
            model_->l_err_index_o,
            model_->l_oldest_o,
            model_->l_counts_o,
            model_->l_bytes_o};
  View store{model_->s_start_ready_o != 0,
             model_->s_done_valid_o != 0,
             model_->s_err_valid_o != 0,
             model_->s_busy_o != 0,
             model_->s_quiet_o != 0,
             model_->wvalid_o && axi_.w_ready,
             model_->s_done_index_o,
             model_->s_done_posts_o,
             model_->s_err_code_o,
             model_->s_err_index_o,
             model_->s_oldest_o,
             model_->s_counts_o,
             model_->s_bytes_o};
  check_engine(engines_[0], load, "load");
  check_engine(engines_[1], store, "store");
  check_error(engines_[0], load, "load", load.active ? axi_.r.response : std::uint8_t{0}, load.active && axi_.r.last);
  check_error(engines_[1], store, "store", axi_.b_response, axi_.b_valid);
  if (axi_.b_valid) ++engines_[1].moved;
  take_load_write();
  take_store_read();

  check_reads();

  WriteData w;
  w.valid = model_->wvalid_o;
  w.last = model_->wlast_o;
  for (std::uint32_t i = 0; i < kBus; ++i) {
    w.data[i] = static_cast<std::uint8_t>(model_->wdata_o[i / 4] >> (8 * (i % 4)));
    w.strobe[i] = (model_->wstrb_o[i / 32] >> (i % 32) & 1U) != 0;
  }
  axi_.clock({model_->arvalid_o != 0, model_->arid_o != 0, model_->araddr_o, model_->arlen_o},
             {model_->awvalid_o != 0, false, model_->awaddr_o, model_->awlen_o}, w);
  model_->clk_i = 1;
  model_->eval();
}

bool Bench::commands_left() const {
  return std::any_of(engines_.begin(), engines_.end(),
                     [](const Engine &e) { return !e.waiting.empty() || !e.started.empty(); });
}

void Bench::run(std::uint64_t max_cycles) {
  std::uint64_t end = axi_.cycle + max_cycles;
  while (commands_left() || fetches_pending_ > 0 || fetch_.valid) {
    if (axi_.cycle == end) {
      problem(fmt::format("not finished after {} cycles", max_cycles));
      break;
    }
    cycle();
  }
  for (int i = 0; i < 4; ++i)
    cycle();
  compare();
}

void Bench::clear() {
  for (Engine &e : engines_)
    e = Engine{};
  drive();
  model_->clear_i = 1;
  settle();
  model_->clk_i = 1;
  model_->eval();
  model_->clear_i = 0;
  axi_.forget_offers();
  axi_.loads.clear();
  axi_.stores.clear();
  expected_spm_.data = spm_.data;
  expected_memory_ = memory_;
}

} // namespace gradweave::dma_test
