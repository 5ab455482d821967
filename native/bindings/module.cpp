// The Python module `neardup._native`: one bind_* function a stage, in the order of the data flow.
#include "bindings/bindings.hpp"

NB_MODULE(_native, m) {
    m.doc() = "Native kernels of neardup: contiguous buffers in, contiguous buffers out, no GIL held.";
    bind_documents(m);
    bind_text(m);
    bind_alignment(m);
    bind_features(m);
    bind_terms(m);
    bind_sketch(m);
    bind_profiles(m);
    bind_raregrams(m);
    bind_learned(m);
    bind_matching(m);
    bind_simhash(m);
    bind_paths(m);
    bind_online(m);
    bind_bitmap_window(m);
    bind_passages(m);
}
