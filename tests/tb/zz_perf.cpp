#include "compiler/compiler.hpp"
#include "runtime/lookup.hpp"
#include "sw_models/timing/timing_model.hpp"
#include <fmt/format.h>
#include <chrono>
#include <cstdlib>
#include <fstream>
using namespace gradweave;
int main(int argc,char**argv){
  NpuConfig npu=load_npu_config(runtime::find_npu(argv[1]));
  int reps=atoi(argv[2]);
  std::string cache=fmt::format("/tmp/perf_{}_{}_{}.bin",argv[1],argv[3],argv[4]);
  std::vector<std::vector<isa::Command>> streams;
  std::ifstream in(cache,std::ios::binary);
  if(in){ uint64_t n; while(in.read((char*)&n,8)){ std::vector<isa::Command> v(n); in.read((char*)v.data(),n*64); streams.push_back(v);} }
  else {
    auto net=compiler::load_network(runtime::find_model(argv[3]));
    compiler::CompileOptions o; o.schedule=compiler::Schedule::kRearrange; o.pass=compiler::parse_pass(argv[4]);
    std::ofstream out(cache,std::ios::binary);
    for(auto&l:net.layers){ auto c=compiler::compile_layer(l,npu,o); streams.push_back(c.stream); uint64_t n=c.stream.size(); out.write((char*)&n,8); out.write((char*)c.stream.data(),n*64);} }
  uint64_t cyc=0,cmds=0,beats=0,blocks=0,bytes=0; auto cpu=[]{timespec t; clock_gettime(CLOCK_PROCESS_CPUTIME_ID,&t); return t.tv_sec+1e-9*t.tv_nsec;}; double best=1e9;
  for(int r=0;r<reps;++r){ double t0=cpu(); cyc=cmds=beats=blocks=bytes=0; for(auto&s:streams){ auto x=timing::run(npu,s); cyc+=x.cycles(); cmds+=s.size(); beats+=x.counter(isa::Counter::READ_BEATS)+x.counter(isa::Counter::WRITE_BEATS); blocks+=x.counter(isa::Counter::BLOCKS); if(!x.ok()) fmt::print("error\n"); } best=std::min(best,cpu()-t0); }
  double sec=best;
 uint64_t bursts=0; for(auto&st:streams) for(auto&c:st){ auto d=isa::decode(c); if(auto*m=std::get_if<isa::DmaCommand>(&d->op)){ uint64_t rb=m->cols*(m->fp32?4:2); for(uint32_t r=0;r<m->rows;++r){ uint64_t a=m->dram_addr+(uint64_t)r*m->pitch; bursts+=(a+rb-1)/4096-a/4096+1; } } }
  fmt::print("{} layers {} cmds {} cycles {} beats {} blocks: {:.3f} ms, {:.0f} Mcycles/s, {:.0f} ns/cmd, {:.1f} ns/beat, {} bursts {:.1f} ns/burst\n",streams.size(),cmds,cyc,beats,blocks,sec*1e3,cyc/sec/1e6,sec*1e9/cmds,sec*1e9/beats,bursts,sec*1e9/bursts);
}
