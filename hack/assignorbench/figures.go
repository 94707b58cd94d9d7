package main

import (
	"encoding/json"
	"fmt"
	"io"
)

// figure is one line of the output.
type figure struct {
	Members    int    `json:"members"`
	Partitions int    `json:"partitions"`
	Topics     string `json:"topics"`
	Input      string `json:"input"`
	Change     string `json:"change"`
	Assignor   string `json:"assignor"`
	Figure     string `json:"figure"`
	Value      any    `json:"value"`
}

// writeFigures writes all figures of a row as JSON, one a line.
func writeFigures(w io.Writer, r row) error {
	lines := json.NewEncoder(w)
	for _, name := range contestants {
		o := r.outcomes[name]
		if o == nil {
			continue
		}
		base := figure{
			Members: r.point.size.members, Partitions: r.point.size.partitions, Topics: r.point.size.topics(),
			Input: r.point.feature.name, Change: r.point.change.name, Assignor: name,
		}
		for _, f := range figuresOf(r.point.feature, o) {
			base.Figure, base.Value = f.Figure, f.Value
			if err := lines.Encode(base); err != nil {
				return fmt.Errorf("write the figures of %s at %v: %w", name, r.point, err)
			}
		}
	}
	return nil
}

func figuresOf(f *feature, o *outcome) []figure {
	if o.failure != "" {
		return []figure{{Figure: "did not finish", Value: o.failure}}
	}
	list := []figure{
		{Figure: "median processor ns", Value: o.time().Nanoseconds()},
		{Figure: "median ns passed", Value: o.passed().Nanoseconds()},
		{Figure: "rounds", Value: len(o.samples)},
		{Figure: "allocated bytes", Value: o.bytes()},
		{Figure: "moved copies", Value: o.verdict.Moved},
		{Figure: "least moves", Value: o.verdict.Least},
		{Figure: "load spread", Value: o.verdict.Spread},
		{Figure: "unplaced copies", Value: o.verdict.Unplaced},
	}
	if f.quality != nil {
		list = append(list, figure{Figure: f.quality.name, Value: o.verdict.Quality})
	}
	return list
}
