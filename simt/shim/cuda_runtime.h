#pragma once
#include "simt/simt.hpp"
