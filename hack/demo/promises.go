package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// row is a step in the summary.
type row struct {
	step               string
	generations, moved int
	forOnePod, toGroup int
	took               time.Duration
	promises           int
	broken             []string
}

// promise prints and notes whether one was kept.
func (s *story) promise(kept bool, text string) {
	if s.err != nil {
		return
	}
	if s.row.promises == 0 {
		s.screen.line("")
	}
	s.row.promises++
	if !kept {
		s.row.broken = append(s.row.broken, text)
	}
	s.screen.verdict(kept, text)
}

func (s *story) expect(what string, is, promised int) {
	if is == promised {
		s.promise(true, fmt.Sprintf("%s: %d", what, is))
		return
	}
	s.promise(false, fmt.Sprintf("%s: %d, promised were %d", what, is, promised))
}

func (s *story) expectAtMost(what string, is, promised int) {
	s.promise(is <= promised, fmt.Sprintf("%s: %d, promised are at most %d", what, is, promised))
}

func (s *story) expectEach(what string, is map[string]int, promised int) {
	for _, name := range slices.Sorted(maps.Keys(is)) {
		if is[name] != promised {
			s.promise(false, fmt.Sprintf("%s: %s has %d, promised were %d", what, name, is[name], promised))
			return
		}
	}
	s.promise(len(is) > 0, fmt.Sprintf("%s: %d", what, promised))
}

func (s *story) expectWithin(what string, is, promised time.Duration) {
	s.promise(is <= promised, fmt.Sprintf("%s: %.2f s, promised are less than %.0f s", what, is.Seconds(), promised.Seconds()))
}

func (s *story) expectAtLeast(what string, is, promised time.Duration) {
	s.promise(is >= promised, fmt.Sprintf("%s: %.2f s, promised are at least %.0f s", what, is.Seconds(), promised.Seconds()))
}

// summary is the table at the end.
func (s *story) summary() {
	if s.err != nil {
		return
	}
	s.screen.heading("summary")
	s.screen.line("")
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "STEP\tGENERATIONS\tMOVED\tWRITES/POD\tTO GROUP\tTIME\tPROMISES KEPT")
	for i, row := range s.rows {
		fmt.Fprintf(table, "%d. %s\t%d\t%d\t%d\t%d\t%s\t%d of %d\n", i+1, row.step, row.generations, row.moved,
			row.forOnePod, row.toGroup, rounded(row.took), row.promises-len(row.broken), row.promises)
	}
	_ = table.Flush() // into a string
	s.screen.line("%s", strings.TrimRight(text.String(), "\n"))
	s.screen.say("GENERATIONS and MOVED are of that step. WRITES/POD is the most that Rollcall wrote for one pod, TO GROUP " +
		"what it wrote to the ConsumerGroup, both counted from the API server's audit log. TIME is from the command to " +
		"the end of the last wait.")
}
