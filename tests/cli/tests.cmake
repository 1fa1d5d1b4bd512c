find_package(Python3 COMPONENTS Interpreter REQUIRED)
foreach(name all_pairs analysis bench catalogue claims columns estimator files first_minutes forecast guide input local machines memory network_output numbers
    occupancy pipeline readme resume run stream surrogates time topology tune)
  add_test(NAME cli.${name} COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/${name}_test.py $<TARGET_FILE:kolmo>)
  set_tests_properties(cli.${name} PROPERTIES TIMEOUT 900)
endforeach()
set_tests_properties(cli.bench cli.tune cli.occupancy PROPERTIES LABELS long)  # `make check` runs them, see tools/test.sh
