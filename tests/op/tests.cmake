# An executable of its own: it replaces operator new, as sanitizers do.
if(NOT KOLMO_SANITIZE)
  add_executable(call_cost tests/op/call_cost.cpp)
  kolmo_options(call_cost)
  target_link_libraries(call_cost PRIVATE kolmo_check)
  add_test(NAME op.call_cost COMMAND call_cost)
endif()
