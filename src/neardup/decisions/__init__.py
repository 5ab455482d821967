"""Stage 6: from verified pairs to decisions: order, the rule, clusters, kinds and policies."""
