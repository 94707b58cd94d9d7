package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// writePage writes the page with the table of all rows.
func writePage(file string, rows []row) error {
	var b bytes.Buffer
	b.WriteString(pageHead)
	fmt.Fprintf(&b, "%s\n\n", platform())
	writeSummary(&b, rows)
	b.WriteString(tableHead)
	for _, r := range rows {
		writeRow(&b, r)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	return nil
}

const pageHead = `# The sticky assignor beside others

This page is written by ` + "`make bench-assignors`" + `: do not edit it. The command writes every figure as a line of JSON, too. It fails
where moves or loads are not the best possible, where the assignor is slower than franz-go's balancers on an input that these
understand in full, where it is not ten times as fast at 2000 members x 100000 partitions in topics of 100 (plain), and where a plain
input makes it allocate more than eight times the size of the result.

## What is compared

The same inputs are given to ` + "`assignor.Sticky`" + `, to franz-go's sticky and cooperative-sticky balancers and to sarama's sticky
strategy. What is held before a change is the fresh result of ` + "`assignor.Sticky`" + `. Each is measured 5 times, in turns, in one
process, with a garbage collection before each; the median counts. (What takes more than a second is measured once.)
Times are processor time, the garbage collector's included: unlike the time that passes they do not depend on what else the
machine does. The JSON has both.

- **assignor.Sticky**: the whole call. It checks names and sizes, reads the previous ownership, and reports loads and moves.
- **franz-go**: ` + "`BalanceOrError`" + ` of the balancer that ` + "`MemberBalancer`" + ` makes of the members' join metadata. Decoding that
  metadata is not in it; the sticky balancer decodes the previous assignment from the user data, which is. The result is its
  plan; encoding that for the members is not in it. The cooperative balancer holds back what has to be revoked first: the time
  is that of its first round, moves and loads are those at which the group comes to rest. It is left out where the sticky balancer takes
  more than a second.
- **sarama**: ` + "`Plan`" + `, in a process of its own with 10 seconds for a point and 4 GiB. "–" means that it did not finish, or that it was not
  tried again at a size at which it had not. It is given the plain inputs only.

What the others do not know, they are given as far as they take it. Copies of a replicated topic become topics of their own.
Weights, co-partitioning and zones mean nothing to them, save that franz-go has racks for home zones, which are set as its client sets them.
"All restart" means that the previous ownership is kept, as Rollcall's coordinator does; processes that restart lose it where
the clients themselves must remember it.

`

const tableHead = `## Every point

Each cell has, in this order, assignor.Sticky / franz-go sticky / franz-go cooperative-sticky / sarama sticky. **ratio** is how many
times as long franz-go's sticky balancer takes. **moved** counts copies taken from one member for another, before it stands the
**least** that is possible (where loads or zones stand above it: the least for the loads that assignor.Sticky finds). **spread** is the
greatest load less the least. The last column is what the input asks for beside an even load.

| members x partitions | topics | input | change | time, ms | ratio | allocated, KiB | least | moved | spread | asked for |
|---|---|---|---|---|---|---|---|---|---|---|
`

func platform() string {
	versions := map[string]string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			versions[m.Path] = m.Version
		}
	}
	return fmt.Sprintf("Measured on %s with %d processors (%s, %s/%s), franz-go %s, sarama %s.", time.Now().UTC().Format(time.DateOnly),
		runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH,
		versions["github.com/twmb/franz-go"], versions["github.com/IBM/sarama"])
}

func writeRow(b *bytes.Buffer, r row) {
	p := r.point
	asked := ""
	if q := p.feature.quality; q != nil {
		asked = q.name + ": " + cells(r, func(o *outcome) string { return number(o.verdict.Quality) })
	}
	fmt.Fprintf(b, "| %d x %d | %s | %s | %s | %s | %.1f | %s | %d | %s | %s | %s |\n",
		p.size.members, p.size.partitions, p.size.topics(), p.feature.name, p.change.name,
		cells(r, func(o *outcome) string { return milliseconds(o.time()) }), ratio(r),
		cells(r, func(o *outcome) string { return fmt.Sprint(o.bytes() >> 10) }),
		r.outcomes[rollcallName].verdict.Least,
		cells(r, func(o *outcome) string { return fmt.Sprint(o.verdict.Moved) }),
		cells(r, func(o *outcome) string { return fmt.Sprint(o.verdict.Spread) }), asked)
}

// cells joins what there is to say about each contestant.
func cells(r row, of func(*outcome) string) string {
	parts := make([]string, len(contestants))
	for i, name := range contestants {
		parts[i] = "–"
		if o := r.outcomes[name]; o != nil && o.failure == "" {
			parts[i] = of(o)
		}
	}
	return strings.Join(parts, " / ")
}

// milliseconds has three significant digits, and never an exponent.
func milliseconds(d time.Duration) string {
	ms := d.Seconds() * 1000
	switch {
	case ms < 1:
		return fmt.Sprintf("%.3f", ms)
	case ms < 10:
		return fmt.Sprintf("%.2f", ms)
	case ms < 100:
		return fmt.Sprintf("%.1f", ms)
	}
	return fmt.Sprintf("%.0f", ms)
}

// number has two decimals if it needs any.
func number(x float64) string {
	if x == float64(int64(x)) {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.2f", x)
}
