#include "bindings/bindings.hpp"

void bind_text(nb::module_ &) {}
