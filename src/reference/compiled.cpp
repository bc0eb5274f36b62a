#include "core/backends.hpp"

void carom::reference::require_compiled() {}
