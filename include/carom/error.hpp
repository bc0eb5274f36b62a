#pragma once

#include <carom/types/error.hpp>
