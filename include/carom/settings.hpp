#pragma once

#include <carom/types/settings.hpp>
