#include "bindings/bindings.hpp"

void bind_matching(nb::module_ &) {}
