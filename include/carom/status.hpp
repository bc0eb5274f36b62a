#pragma once

#include <carom/types/status.hpp>
