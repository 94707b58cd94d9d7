package assignor

import (
	"testing"

	"pgregory.net/rapid"
)

// leastCost tries every way to give the rows from r on a free column.
func leastCost(cost [][]int64, r int, used []bool) int64 {
	if r == len(cost) {
		return 0
	}
	least := int64(-1)
	for c := range used {
		if used[c] {
			continue
		}
		used[c] = true
		if sum := cost[r][c] + leastCost(cost, r+1, used); least < 0 || sum < least {
			least = sum
		}
		used[c] = false
	}
	return least
}

func TestMatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.IntRange(1, 6).Draw(t, "columns")
		cost := make([][]int64, rapid.IntRange(0, columns).Draw(t, "rows"))
		for r := range cost {
			cost[r] = rapid.SliceOfN(rapid.Int64Range(0, 9), columns, columns).Draw(t, "costs")
		}
		used, sum := make([]bool, columns), int64(0)
		for r, c := range match(cost) {
			if used[c] {
				t.Fatalf("column %d is given twice", c)
			}
			used[c] = true
			sum += cost[r][c]
		}
		if want := leastCost(cost, 0, make([]bool, columns)); sum != want {
			t.Fatalf("costs %d, %d is possible", sum, want)
		}
	})
}
