#pragma once

#include <carom/types/workspace.hpp>
