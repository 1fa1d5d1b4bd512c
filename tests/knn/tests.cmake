if(KOLMO_SIMT)
  simt_sources(kolmo_tests tests/knn/f32_image_test.cu)
endif()
