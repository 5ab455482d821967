"""The flow page: what comes into an index, live, whichever process puts it there."""
