package assignor

import "math"

// match gives each row a column of its own, so that the sum of the costs is least. There are no more rows than columns.
//
// It is the Hungarian method: rows are added one by one, each by the cheapest chain of changes to those before it. Prices
// of rows and columns keep what is left of every cost at zero or more, and at zero where a row has its column.
func match(cost [][]int64) []int {
	if len(cost) == 0 {
		return nil
	}
	columns := len(cost[0])
	m := matching{
		cost: cost, rowPrice: make([]int64, len(cost)), columnPrice: make([]int64, columns+1), row: make([]int, columns+1),
	}
	for i := range m.row {
		m.row[i] = -1
	}
	for r := range cost {
		m.add(r)
	}
	column := make([]int, len(cost))
	for c, r := range m.row[:columns] {
		if r >= 0 {
			column[r] = c
		}
	}
	return column
}

type matching struct {
	cost                  [][]int64
	rowPrice, columnPrice []int64
	row                   []int // column -> its row or -1; one more column stands for the row that is being added
}

// add finds the cheapest chain that gives row r a column.
func (m *matching) add(r int) {
	last := len(m.row) - 1
	m.row[last] = r
	slack, from, done := make([]int64, last), make([]int, last), make([]bool, last+1)
	for c := range slack {
		slack[c] = math.MaxInt64
	}
	at := last
	for m.row[at] >= 0 {
		done[at] = true
		at = m.reach(at, slack, from, done)
	}
	for at != last {
		m.row[at] = m.row[from[at]]
		at = from[at]
	}
	m.row[last] = -1
}

// reach goes on from the row of a column to the nearest column not yet reached, and adapts the prices.
func (m *matching) reach(at int, slack []int64, from []int, done []bool) int {
	r, nearest, step := m.row[at], -1, int64(math.MaxInt64)
	for c := range slack {
		if done[c] {
			continue
		}
		if left := m.cost[r][c] - m.rowPrice[r] - m.columnPrice[c]; left < slack[c] {
			slack[c], from[c] = left, at
		}
		if slack[c] < step {
			nearest, step = c, slack[c]
		}
	}
	for c := range done {
		switch {
		case done[c]:
			m.rowPrice[m.row[c]] += step
			m.columnPrice[c] -= step
		case c < len(slack):
			slack[c] -= step
		}
	}
	return nearest
}
