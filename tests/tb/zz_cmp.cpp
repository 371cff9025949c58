#include "runtime/device.hpp"
#include "runtime/lookup.hpp"
#include "runtime/corpus/random_stream.hpp"
#include "sw_models/timing/timing_model.hpp"
#include "isa/assembler.hpp"
#include <fmt/format.h>
#include <cstdlib>
using namespace gradweave;
int main(int argc,char**argv){
  NpuConfig npu=load_npu_config(runtime::find_npu(argv[1]));
  uint64_t first=atoll(argv[2]), count=atoll(argv[3]); bool verbose=argc>4;
  auto dev=make_rtl_device(npu,{});
  uint64_t base=dev->allocate(128u<<20)+4096;
  int bad=0; uint64_t cmds=0;
  for(uint64_t seed=first;seed<first+count;++seed){
    corpus::RandomStreamOptions o; o.seed=seed;o.commands=10+seed%60;o.dram_base=base;
    auto s=corpus::make_random_stream(npu,o);
    dev->submit(s.commands); auto st=dev->wait(); auto c=dev->read_counters();
    timing::RunOptions ro; auto r=timing::run(npu,s.commands,ro);
    auto&t=dev->command_times(); cmds+=t.size();
    std::string p;
    uint64_t best=~0ull; size_t bi=0; const char* ev="";
    for(size_t i=0;i<t.size();++i){
      auto chk=[&](uint64_t a,uint64_t b,const char*n){ if(a!=b&&std::min(a,b)<best){best=std::min(a,b);bi=i;ev=n;} };
      chk(t[i].issue,r.commands[i].issue,"issue");chk(t[i].start,r.commands[i].start,"start");chk(t[i].done,r.commands[i].done,"done");
    }
    if(best!=~0ull) p+=fmt::format("  cmd {} {} rtl {}/{}/{} model {}/{}/{}: {}\n",bi,ev,t[bi].issue,t[bi].start,t[bi].done,r.commands[bi].issue,r.commands[bi].start,r.commands[bi].done,isa::disassemble(s.commands[bi]));
    for(size_t i=0;i<isa::kCounters.size();++i) if(c.values[i]!=r.counters[i]) p+=fmt::format("  {} rtl {} model {}\n",isa::kCounters[i].name,c.values[i],r.counters[i]);
    if(st.error!=r.error||st.error_index!=r.error_index) p+="  status\n";
    if(!p.empty()){ ++bad; if(bad<=3||verbose) fmt::print("seed {} ({} cmds)\n{}",seed,t.size(),p);
      if(verbose) for(size_t i=0;i<t.size();++i) fmt::print("{:3} {:5} {:5} {:5} | {:5} {:5} {:5} {}\n",i,(int64_t)t[i].issue,(int64_t)t[i].start,(int64_t)t[i].done,(int64_t)r.commands[i].issue,(int64_t)r.commands[i].start,(int64_t)r.commands[i].done,isa::disassemble(s.commands[i])); }
  }
  fmt::print("{}: {} streams, {} commands, {} streams differ\n",npu.name,count,cmds,bad);
}
