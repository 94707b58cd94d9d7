// Assignorbench measures the sticky assignor beside franz-go's and sarama's on the same inputs, in one run.
//
// It writes JSON to standard output, one figure a line, and with -table a page with all of them as a Markdown table. It
// fails if the assignor misses what it promises: see checks.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func main() {
	table := flag.String("table", "", "file to write the page with the table to")
	only := flag.String("only", "", "measure only points whose name contains this text")
	limit := flag.Duration("limit", 10*time.Second, "how long sarama may take for the rounds of one point; 0 leaves it out")
	sarama := flag.Int("sarama", -1, "measure sarama alone at the point of that number (this program calls itself so)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if *sarama >= 0 {
		err = runSarama(points()[*sarama], os.Stdout)
	} else {
		err = run(ctx, *only, *table, *limit)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "assignorbench:", err)
		os.Exit(1)
	}
}

// row is a point with all that was measured there, by contestant.
type row struct {
	point    point
	outcomes map[string]*outcome
}

func run(ctx context.Context, only, table string, limit time.Duration) error {
	var rows []row
	slow := map[size]bool{} // where sarama does not finish
	for number, p := range points() {
		if !strings.Contains(p.String(), only) {
			continue
		}
		r, err := measure(p)
		if err != nil {
			return err
		}
		if limit > 0 && p.feature.name == plain && !slow[p.size] {
			o, err := limited(ctx, number, limit)
			if err != nil {
				return fmt.Errorf("sarama at %v: %w", p, err)
			}
			slow[p.size] = slow[p.size] || o.failure != ""
			r.outcomes[saramaName] = o
		}
		if err := writeFigures(os.Stdout, r); err != nil {
			return err
		}
		rows = append(rows, r)
	}
	if table != "" {
		if err := writePage(table, rows); err != nil {
			return err
		}
	}
	return checks(rows)
}

// measure measures all but sarama at a point.
func measure(p point) (row, error) {
	in, err := p.input()
	if err != nil {
		return row{}, err
	}
	judged := func(target assignment) verdict { return judge(&in, p.feature, target) }
	outcomes, err := contest(p, judged,
		&rollcall{in: &in}, newFranz(&in, kgo.StickyBalancer()), newFranz(&in, kgo.CooperativeStickyBalancer()))
	return row{p, outcomes}, err
}
