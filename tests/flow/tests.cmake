find_package(Python3 COMPONENTS Interpreter REQUIRED)
add_test(NAME report_browser
  COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tests/report_browser_test.py $<TARGET_FILE:kolmo_tests>)
set_tests_properties(report_browser PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600 LABELS long)
