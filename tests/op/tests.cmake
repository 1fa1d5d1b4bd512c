# call_cost is a program of its own because it replaces operator new. Sanitizers do too, so it is not built with them.
if(NOT KOLMO_SANITIZE)
  add_executable(call_cost tests/op/call_cost.cpp)
  kolmo_options(call_cost)
  target_link_libraries(call_cost PRIVATE kolmo_check)
  add_test(NAME op.call_cost COMMAND call_cost)
endif()
