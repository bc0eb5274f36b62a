#pragma once

#include <carom/backend.hpp>
#include <carom/batch.hpp>
#include <carom/certificate.hpp>
#include <carom/coulomb.hpp>
#include <carom/error.hpp>
#include <carom/impact.hpp>
#include <carom/impact_models.hpp>
#include <carom/lcp.hpp>
#include <carom/models/models.hpp>
#include <carom/random.hpp>
#include <carom/status.hpp>
