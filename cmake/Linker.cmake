# Hundreds of tests are linked: the quickest linker that there is takes a third to a half of the default's time.
include(CheckLinkerFlag)
foreach(linker lld gold)
  check_linker_flag(CXX -fuse-ld=${linker} GW_LINKS_WITH_${linker})
  if(GW_LINKS_WITH_${linker})
    add_link_options(-fuse-ld=${linker})
    break()
  endif()
endforeach()
