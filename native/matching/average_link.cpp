#include "matching/average_link.hpp"

#include <algorithm>
#include <queue>
#include <unordered_map>
#include <utility>

namespace neardup {

namespace {

struct Cluster {
    std::unordered_map<int64_t, double> sums;  // scores with each neighbour, added up
    int64_t smallest = 0;
    double size = 1;
    uint32_t merged = 0;  // how often, by which a stale meeting is known
    bool gone = false;
};

struct Meeting {
    double height;
    int64_t low, high;  // the smallest documents of the two
    int64_t a, b;
    uint32_t a_merged, b_merged;

    bool operator<(const Meeting &other) const {
        if (height != other.height) return height < other.height;
        return std::pair(low, high) > std::pair(other.low, other.high);
    }
};

class Linkage {
  public:
    Linkage(const double *weights, size_t documents, double least) : clusters_(documents), least_(least) {
        for (size_t i = 0; i < documents; i++) {
            clusters_[i].smallest = int64_t(i);
            clusters_[i].size = weights[i];
        }
    }

    void add(int64_t a, int64_t b, double score) {
        double sum = score * (clusters_[a].size * clusters_[b].size);
        clusters_[a].sums[b] = clusters_[b].sums[a] = sum;
        push(a, b, sum);
    }

    void run(Merges &out) {
        while (!meetings_.empty()) {
            Meeting next = meetings_.top();
            meetings_.pop();
            if (!stale(next.a, next.a_merged) && !stale(next.b, next.b_merged)) {
                out.a.push_back(next.low);
                out.b.push_back(next.high);
                out.height.push_back(next.height);
                merge(next.a, next.b);
            }
        }
    }

  private:
    bool stale(int64_t cluster, uint32_t merged) const {
        return clusters_[cluster].gone || clusters_[cluster].merged != merged;
    }

    void push(int64_t a, int64_t b, double sum) {
        const Cluster &one = clusters_[a], &other = clusters_[b];
        double height = sum / (one.size * other.size);
        if (height < least_) return;
        auto [low, high] = std::minmax(one.smallest, other.smallest);
        meetings_.push({height, low, high, a, b, one.merged, other.merged});
    }

    void merge(int64_t a, int64_t b) {
        if (clusters_[a].sums.size() < clusters_[b].sums.size()) std::swap(a, b);
        Cluster &into = clusters_[a], &from = clusters_[b];
        into.sums.erase(b);
        for (auto [neighbour, sum] : from.sums) {
            if (neighbour == a) continue;
            auto &sums = clusters_[neighbour].sums;
            sums.erase(b);
            sums[a] = into.sums[neighbour] += sum;
        }
        std::unordered_map<int64_t, double>().swap(from.sums);
        from.gone = true;
        into.size += from.size;
        into.smallest = std::min(into.smallest, from.smallest);
        into.merged++;
        for (auto [neighbour, sum] : into.sums) push(a, neighbour, sum);
    }

    std::vector<Cluster> clusters_;
    std::priority_queue<Meeting> meetings_;
    double least_;
};

}  // namespace

void average_link(const double *weights, size_t documents, const int64_t *a, const int64_t *b, const double *score,
                  size_t pairs, double least, Merges &out) {
    Linkage linkage(weights, documents, least);
    for (size_t i = 0; i < pairs; i++) linkage.add(a[i], b[i], score[i]);
    linkage.run(out);
}

}  // namespace neardup
