#include "bindings/bindings.hpp"

void bind_documents(nb::module_ &) {}
