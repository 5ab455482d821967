// Average-link clustering of documents by the scores of some of their pairs (Sokal & Michener 1958, UPGMA).
//
// The similarity of two clusters is the mean score over all pairs of a document of the one and a document of the other;
// a pair that is not listed scores 0. The two most similar clusters are merged again and again. Of equal similarities
// the one of the clusters with the smallest documents is taken, so the result depends on the numbers of the documents
// only, never on the order of the pairs. The cost is about that of sorting the pairs, times a logarithm for the
// neighbours that are moved from the smaller of two merged clusters to the larger.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup {

struct Merges {
    std::vector<int64_t> a, b;   // the smallest documents of the merged clusters, a < b
    std::vector<double> height;  // their similarity, not rising but for rounding
};

// Each pair occurs once, in either order, never with itself. A document stands for as many equal ones as its weight.
// Clusters less similar than `least` are not merged.
void average_link(const double *weights, size_t documents, const int64_t *a, const int64_t *b, const double *score,
                  size_t pairs, double least, Merges &out);

}  // namespace neardup
