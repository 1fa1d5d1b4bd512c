find_package(Python3 COMPONENTS Interpreter REQUIRED)
# fake_nvml stands in for NVIDIA's management library on machines without a GPU.
add_library(fake_nvml MODULE ${CMAKE_CURRENT_LIST_DIR}/fake_nvml.cpp)
set_target_properties(fake_nvml PROPERTIES PREFIX "" OUTPUT_NAME nvidia-ml SUFFIX ".so.1"
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fake_nvml PREFIX lib)
foreach(name serve load top prometheus page)
  add_test(NAME monitor.${name} COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/${name}_test.py
    $<TARGET_FILE:kolmo> $<TARGET_FILE_DIR:fake_nvml>)
  set_tests_properties(monitor.${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900)
endforeach()
