# Covers code of the skeletons that needs several blocks at the same time. The operators do not reach it on the emulated GPU, which
# runs one block at a time.
if(KOLMO_SIMT)
  simt_sources(kolmo_tests tests/skeleton/held_items.cu)
endif()
