package scenarios

import "testing"

func TestPartitionsAreReadAndWritten(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "",
		"none":                     "",
		"t1:0-2,t2:5":              "t1:0-2,t2:5",
		"t1:0,2":                   "t1:0,t1:2",
		"t2:1,t1:3,t1:1,t1:2,t2:0": "t1:1-3,t2:0-1",
	} {
		parsed, err := parsePartitions(text)
		if got := showPartitions(parsed); err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"3", "t1:", "t1:a", "t1:0-x"} {
		if _, err := parsePartitions(text); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

func TestPatternsMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, actual string
		want            bool
	}{
		{"*", "", true},
		{"*", "x", true},
		{"x", "x", true},
		{"x", "y", false},
		{"!x", "y", true},
		{"!x", "x", false},
		{"<=3", "3", true},
		{"<=3", "4", false},
		{">=3", "3", true},
		{">=3", "2", false},
		{"!<=3", "4", true},
		{"<=3", "x", false},
	} {
		if got := matches(c.pattern, c.actual); got != c.want {
			t.Errorf("%q against %q: %v", c.pattern, c.actual, got)
		}
	}
}

func TestEveryWayOfUnansweredWritesIsTriedOnce(t *testing.T) {
	seen := map[[3]bool]int{}
	err := eachOutcome(100, func(o *outcomes) error {
		// A third question is asked only when the first was answered with yes.
		way := [3]bool{o.next(), o.next()}
		if way[0] {
			way[2] = o.next()
		}
		seen[way]++
		return nil
	})
	if err != nil || len(seen) != 6 {
		t.Errorf("%d ways, %v", len(seen), err)
	}
	for way, times := range seen {
		if times != 1 {
			t.Errorf("%v was tried %d times", way, times)
		}
	}
}
