// Command benchtable writes the figures of `make bench` into a page, as tables between two marks.
//
//	benchtable -figures bin/bench.json -page docs/performance.md
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
)

// begin and end are the lines of the page between which the tables stand.
const (
	begin = "<!-- figures -->"
	end   = "<!-- /figures -->"
)

func main() {
	figures := flag.String("figures", "bin/bench.json", "file of figures, one line of JSON each; of one that is there twice the last counts")
	page := flag.String("page", "docs/performance.md", "page to write the tables into")
	flag.Parse()
	if err := run(*figures, *page); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(figures, page string) error {
	measured, err := read(figures)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(page)
	if err != nil {
		return fmt.Errorf("read the page: %w", err)
	}
	written, err := insert(string(text), tables(measured))
	if err != nil {
		return fmt.Errorf("%s: %w", page, err)
	}
	if err := os.WriteFile(page, []byte(written), 0o644); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// figure is one line of the file.
type figure struct {
	Benchmark string  `json:"benchmark"`
	Figure    string  `json:"figure"`
	Value     float64 `json:"value"`
}

// key names a figure: its benchmark and its own name.
type key struct{ benchmark, figure string }

func read(path string) (map[key]float64, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the figures: %w", err)
	}
	defer func() { _ = file.Close() }()
	measured := map[key]float64{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var one figure
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			return nil, fmt.Errorf("%s: figure %q: %w", path, lines.Text(), err)
		}
		measured[key{one.Benchmark, one.Figure}] = one.Value
	}
	return measured, lines.Err()
}

// insert puts the tables between the marks.
func insert(page, tables string) (string, error) {
	before, rest, found := strings.Cut(page, begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		return "", errors.New("the page lacks the marks " + begin + " and " + end)
	}
	return before + begin + "\n\n" + tables + end + after, nil
}
