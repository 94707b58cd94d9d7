package assignor

import "math"

// quotas shares out n units of one weight among members, so that the load goal is reached exactly and as many of the
// units as possible stay where they are.
type quotas struct {
	capacity []int64
	low, top []int32 // bounds of each member's share
	held     []int32 // units that each member holds
	share    []int32 // the result
	heap     []int32 // members that may take more, the next to do so first
}

// fill finds the shares. It returns false if the bounds do not allow n units.
func (q *quotas) fill(n int64) bool {
	q.share = make([]int32, len(q.low))
	level := q.safeLevel(n)
	for m := range q.share {
		q.share[m] = q.at(int32(m), level, -rounding)
		n -= int64(q.share[m])
		if q.share[m] < q.top[m] {
			q.heap = append(q.heap, int32(m))
		}
	}
	if n < 0 {
		return false
	}
	heapify(q.heap, q.before)
	for ; n > 0 && len(q.heap) > 0; n-- {
		m := q.heap[0]
		if q.share[m]++; q.share[m] == q.top[m] {
			q.heap = pop(q.heap, q.before)
		} else {
			sink(q.heap, 0, q.before)
		}
	}
	return n == 0
}

// safeLevel is a level at which no member has more than its final share, and nearly all have it: fewer units are left
// than there are members.
func (q *quotas) safeLevel(n int64) float64 {
	low, high := 0.0, 1.0
	for q.sum(high, n) <= n && high < math.MaxInt64 {
		low, high = high, 2*high
	}
	for range 60 {
		middle := (low + high) / 2
		sum := q.sum(middle, n)
		if sum > n {
			high = middle
			continue
		}
		low = middle
		if n-sum < int64(len(q.low)) {
			break
		}
	}
	return low
}

// sum is the number of units at a level, or some number above n.
func (q *quotas) sum(level float64, n int64) int64 {
	sum := int64(0)
	for m := range q.low {
		if sum += int64(q.at(int32(m), level, rounding)); sum > n {
			break
		}
	}
	return sum
}

// rounding is more than what rounding can add to a number of units or take from it.
const rounding = 1e-6

// at is the share of m when every unit with 2*share+1 <= level*capacity is taken.
func (q *quotas) at(m int32, level, rounding float64) int32 {
	units := (level*float64(q.capacity[m]) + 1) / 2
	units += rounding + units*rounding*1e-6
	if units >= float64(q.top[m]) {
		return q.top[m]
	}
	return max(q.low[m], int32(math.Floor(max(units, 0))))
}

// before says whether a takes its next unit before b: where it costs less; of two to whom it costs the same, where it
// keeps a unit that would else be moved; then by name.
func (q *quotas) before(a, b int32) bool {
	c := compareShares(gain(int64(q.share[a]), 1), q.capacity[a], gain(int64(q.share[b]), 1), q.capacity[b])
	if c != 0 {
		return c < 0
	}
	keepsA, keepsB := q.held[a] > q.share[a], q.held[b] > q.share[b]
	if keepsA != keepsB {
		return keepsA
	}
	return a < b
}
