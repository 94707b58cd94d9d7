package coordinator

import (
	"fmt"
	"strconv"
	"strings"
)

// A row of a target is stored as text: the position of each partition's member in order, runs as 7x12 (position 7 for
// twelve partitions), none as -. The text grows with the number of runs, not with the group's history.

func formatRuns(row []int32) string {
	var text strings.Builder
	for i := 0; i < len(row); {
		j := i
		for j < len(row) && row[j] == row[i] {
			j++
		}
		if i > 0 {
			text.WriteByte(' ')
		}
		if row[i] < 0 {
			text.WriteByte('-')
		} else {
			text.WriteString(strconv.Itoa(int(row[i])))
		}
		if j-i > 1 {
			text.WriteByte('x')
			text.WriteString(strconv.Itoa(j - i))
		}
		i = j
	}
	return text.String()
}

// parseRuns reads what formatRuns wrote; positions must be below members.
func parseRuns(text string, members int) ([]int32, error) {
	var row []int32
	for _, run := range strings.Fields(text) {
		who, times, repeated := strings.Cut(run, "x")
		count := 1
		if repeated {
			n, err := strconv.Atoi(times)
			if err != nil || n < 1 || len(row)+n > maxCopies {
				return nil, fmt.Errorf("run %q has no valid length", run)
			}
			count = n
		}
		position := int32(nobody)
		if who != "-" {
			n, err := strconv.Atoi(who)
			if err != nil || n < 0 || n >= members {
				return nil, fmt.Errorf("run %q names no listed member", run)
			}
			position = int32(n)
		}
		for range count {
			row = append(row, position)
		}
	}
	return row, nil
}

// maxCopies bounds what a row may unfold to: the API allows 100,000 copies a group.
const maxCopies = 100_000
