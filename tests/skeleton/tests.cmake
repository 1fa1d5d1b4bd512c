# Parts of skeletons that grids of one block, which is what the emulated GPU runs at once, do not reach.
if(KOLMO_SIMT)
  simt_sources(kolmo_tests tests/skeleton/held_items.cu)
endif()
