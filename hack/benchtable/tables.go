package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// table is one of the page, about one benchmark.
type table struct {
	title, benchmark string
	rows             []row
	// writes lists the writes by kind below the rows.
	writes bool
}

// row is a figure, what it means, and what it must be.
type row struct{ figure, meaning, target string }

// resize are the rows of one member that comes or goes.
func resize(writes string) []row {
	return []row{
		{"generations", "generations", "1"},
		{"members-written", "members written", "11"},
		{"writes", "writes", writes},
		{"s/of-writing", "seconds from the first write to the last", ""},
		{"s/of-writing-bare", "the same writes issued bare, seconds", ""},
		{"times-bare", "the one divided by the other", "<= 1.5"},
	}
}

var (
	growing = []row{
		{"generations", "generations", ""}, {"s/to-stable", "seconds from nothing to all Ready", ""}, {"writes", "writes", ""},
	}
	starting = []row{
		{"writes", "writes", "0"},
		{"generations", "generations", "0"},
		{"groups-not-stable", "groups not Ready", "0"},
		{"s/to-ready", "seconds until it leads and its cache is filled", ""},
		{"s/to-all-decided", "seconds until it has decided about everything", ""},
		{"MiB/resident", "resident memory, MiB", ""},
	}
	deciding = []row{{"ns/op", "nanoseconds", ""}, {"B/op", "bytes allocated", ""}, {"allocs/op", "allocations", ""}}
)

var all = []table{
	{"Rolling restart of 50 pods", "Roll", []row{
		{"generations", "generations", "0"},
		{"moved", "partitions moved", "0"},
		{"writes/pod", "writes a pod", "<= 4"},
		{"group-writes", "writes of the group", "0"},
	}, true},
	{"One of 100 members leaves", "Group/members=100/Leave", resize("<= 30"), true},
	{"One more joins 99 members", "Group/members=100/Join", resize(""), true},
	{"One of 1000 members leaves", "Group/members=1000/Leave", resize("<= 30"), true},
	{"One more joins 999 members", "Group/members=1000/Join", resize(""), true},
	{"From no pod to 100", "Group/members=100/Grow", growing, true},
	{"From no pod to 1000", "Group/members=1000/Grow", growing, true},
	{"From nothing to 1000 groups of 10 pods", "ManyGroups/Build", growing, true},
	{"A minute of 1000 idle groups of 10 members", "ManyGroups/Idle", []row{
		{"writes", "writes", "0"}, {"generations", "generations", "0"}, {"%-of-a-core", "percent of a core", "< 1"},
	}, false},
	{"The manager starts and finds 1000 members in one group", "Group/members=1000/Start", starting, false},
	{"The manager starts and finds 10,000 members in 1000 groups", "ManyGroups/Start", starting, false},
	{"The manager dies in mid-hand-over, 40 pods scaled to 36", "Failover", []row{
		{"generations", "generations", "1"},
		{"plans-after-the-kill", "plans made by the successor", "0"},
		{"members-owed", "members that were still owed a partition", ""},
		{"touches", "members touched", "at most those"},
		{"s/to-stable", "seconds from the death to Stable", ""},
	}, false},
	{"Eight pods scaled to six", "ScaleDown", []row{
		{"generations", "generations", "1"}, {"s/hand-over-after-stop", "seconds from the last stop to the last grant", "< 3"},
	}, true},
	{
		"Decide, 1000 members and 10,000 partitions, nothing to do", "DecideNothingToDo",
		[]row{{"ns/op", "nanoseconds", "< 1,000,000"}, {"B/op", "bytes allocated", ""}, {"allocs/op", "allocations", "O(members)"}},
		false,
	},
	{"Decide, 1000 members and 10,000 partitions, one leaves", "DecideOneLeaves", deciding, false},
}

// tables are all of the page.
func tables(measured map[key]float64) string {
	var text strings.Builder
	for _, t := range all {
		fmt.Fprintf(&text, "### %s\n\n| figure | measured | target |\n|---|---:|---|\n", t.title)
		for _, r := range t.rows {
			fmt.Fprintf(&text, "| %s | %s | %s |\n", r.meaning, shown(measured, key{t.benchmark, r.figure}), r.target)
		}
		if t.writes {
			text.WriteString(writesByKind(measured, t.benchmark))
		}
		text.WriteString("\n")
	}
	return text.String()
}

// writesByKind are rows of the writes of one benchmark by verb and resource.
func writesByKind(measured map[key]float64, benchmark string) string {
	var rows []string
	for k := range measured {
		parts := strings.Split(k.figure, ":")
		if k.benchmark == benchmark && len(parts) == 3 {
			rows = append(rows, fmt.Sprintf("| of these: %s %s | %s | |\n", parts[1], parts[2], shown(measured, k)))
		}
	}
	slices.Sort(rows)
	return strings.Join(rows, "")
}

// shown is a figure as a person reads it; a dash where it was not measured.
func shown(measured map[key]float64, k key) string {
	value, ok := measured[k]
	switch {
	case !ok:
		return "–"
	case value == float64(int64(value)):
		return thousands(strconv.FormatInt(int64(value), 10))
	case value >= 1000:
		return thousands(strconv.FormatFloat(value, 'f', 0, 64))
	default:
		return strconv.FormatFloat(value, 'g', 3, 64)
	}
}

// thousands puts commas between groups of three digits.
func thousands(digits string) string {
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}
