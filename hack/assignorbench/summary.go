package main

import (
	"bytes"
	"fmt"
)

// writeSummary says what the figures come to.
func writeSummary(b *bytes.Buffer, rows []row) {
	if len(rows) == 0 {
		return
	}
	b.WriteString("## In short\n\n")
	exact := 0
	for _, r := range rows {
		if r.point.feature.exact && checkCounts(r) == nil {
			exact++
		}
	}
	fmt.Fprintf(b, "- With equal subscriptions and weights the moves are the least possible and no two loads differ by more than 1: "+
		"at %d of %d such points.\n", exact, count(rows, func(p point) bool { return p.feature.exact }))
	writeSpeed(b, rows, "At 2000 members x 100000 partitions in topics of 100, plain", headline)
	writeSpeed(b, rows, "At all other plain points", func(p point) bool { return p.feature.name == plain && !headline(p) })
	for _, f := range features()[1:] {
		writeSpeed(b, rows, "With "+f.name, func(p point) bool { return p.feature.name == f.name })
	}
	b.WriteString("\n")
}

func count(rows []row, in func(point) bool) int {
	n := 0
	for _, r := range rows {
		if in(r.point) {
			n++
		}
	}
	return n
}

// writeSpeed gives the least and the greatest ratio among the points, and how often the assignor is the slower one.
func writeSpeed(b *bytes.Buffer, rows []row, what string, in func(point) bool) {
	least, most, slower, n := 0.0, 0.0, 0, 0
	for _, r := range rows {
		if !in(r.point) {
			continue
		}
		x := ratio(r)
		if n == 0 || x < least {
			least = x
		}
		most = max(most, x)
		if x < 1 {
			slower++
		}
		n++
	}
	if n > 0 {
		fmt.Fprintf(b, "- %s, franz-go's sticky balancer takes %.1f to %.1f times as long; at %d of %d points it is faster.\n",
			what, least, most, slower, n)
	}
}
