package scenarios_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/rollcall-dev/rollcall/test/scenarios"
)

func TestErrorsOfTheLanguageNameFileAndLine(t *testing.T) {
	for _, line := range []string{
		"grup g",
		"group",
		"group g topic=orders:1",
		"group g topics=orders",
		"group g session=soon",
		"group g paused=perhaps",
		"start a b",
		"start a acks=never",
		"pod web-0 sleeping",
		"node n0",
		"node n0 asleep",
		"workload web gone",
		"delete all",
		"publish maybe",
		"fail error=timeout",
		"fail writes=1 error=odd",
		"stale some",
		"advance far",
		"as alice group g",
		"refused:",
		"worlds mars",
		"expect nothing",
		"expect group",
		"expect group stable",
		"expect group size=red",
		"expect member web-0 assigned=orders",
		"expect since",
		"expect held orders:0",
	} {
		_, err := scenarios.Parse("file.txt", "# a comment\n\ngroup g topics=orders:1\n"+line+"\n")
		if err == nil || !strings.HasPrefix(err.Error(), "file.txt:4: ") {
			t.Errorf("%q: %v", line, err)
		}
	}
}

func TestALineIsReadAsItIsWritten(t *testing.T) {
	script, err := scenarios.Parse("dir/file.txt", `
worlds sim live
as alice: refused: group g topics=t1:6,t2:6x2 # a remark
pod web-0 created, running ready node=n0
expect since writes<=24 moved=>=1
expect spread max-min<=1
`)
	if err != nil {
		t.Fatal(err)
	}
	if script.Name != "file.txt" || !script.Fits("sim") || !script.Fits("live") || len(script.Commands) != 4 {
		t.Fatalf("%+v", script)
	}
	group, pod, since := script.Commands[0], script.Commands[1], script.Commands[2]
	if group.User != "alice" || !group.Refused || group.Verb != "group" || group.Where() != "dir/file.txt:3" {
		t.Errorf("group: %+v", group)
	}
	if got := strings.Join(pod.Args, " "); got != "web-0 created running ready" {
		t.Errorf("pod: %s", got)
	}
	if writes, _ := since.Get("writes"); writes != "<=24" {
		t.Errorf("since: writes%s", writes)
	}
}

// A test that cannot fail is worth nothing: each kind of expectation, of something that is not so.
func TestAnExpectationThatDoesNotHoldFails(t *testing.T) {
	const before = `
group g topics=orders:4 session=30s
start a member=web-0
start b
mark
rebalance now
`
	for _, line := range []string{
		"expect group state=Down",
		"expect group absent",
		"expect group generation=!3",
		"expect group members<=1",
		"expect group Ready=False",
		"expect group reason=MemberLeft",
		"expect group request=Rejected:*",
		"expect member nobody state=*",
		"expect member web-0 absent",
		"expect member web-0 state=Dead",
		"expect member web-0 count=7",
		"expect member web-0 assigned=orders:0-3",
		"expect member b assigned=none",
		"expect member web-0 reason=Parked",
		"expect handle a error=Removed",
		"expect handle a working=",
		"expect handle c error=none",
		"expect held orders:0 none",
		"expect working orders:0 b,b",
		"expect token orders:9 >last",
		"expect spread max-min>=3",
		"expect history 1",
		"expect since generations=2",
		"expect since moved>=1",
		"expect event NoSuchThing",
		"refused: group g topics=orders:4",
		"delete group other",
	} {
		script, err := scenarios.Parse("file.txt", before+line+"\n")
		if err != nil {
			t.Errorf("%q: %v", line, err)
			continue
		}
		err = scenarios.PlaySim(script)
		if err == nil || !strings.Contains(err.Error(), "file.txt:7") {
			t.Errorf("%q: %v", line, err)
		}
	}
}

func TestAFailureShowsWhatAPersonNeeds(t *testing.T) {
	script, err := scenarios.Parse("file.txt", "group g topics=orders:4\nstart a member=web-0\nexpect group state=Down\n")
	if err != nil {
		t.Fatal(err)
	}
	err = scenarios.PlaySim(script)
	for _, part := range []string{"file.txt:3", `state is "Stable", expected "Down"`, "group g: Stable", "member web-0", "last writes:", "create"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the failure does not show %q:\n%v", part, err)
		}
	}
}

// Both ends of a write without an answer are played: what holds for one of them only is found out.
func TestBothEndsOfAWriteWithoutAnswerArePlayed(t *testing.T) {
	const file = `
group g topics=orders:1
fail writes=1 error=timeout
start a member=web-0
expect since writes=%
`
	failures := 0
	for _, writes := range []string{"0", "1"} {
		script, err := scenarios.Parse("file.txt", strings.Replace(strings.Replace(file, "%", writes, 1), "fail", "mark\nfail", 1))
		if err != nil {
			t.Fatal(err)
		}
		if scenarios.PlaySim(script) != nil {
			failures++
		}
	}
	if failures != 2 {
		t.Errorf("%d of 2 files failed; each is wrong in one of the two ways", failures)
	}
}

func TestWhatASkippedFileLacksIsSaid(t *testing.T) {
	for text, want := range map[string]string{
		"worlds live\ngroup g topics=orders:1\n":                                 "world sim",
		"group g assigned-by=Leader\n":                                           "",
		"refused: group g topics=orders:1 assigned-by=Leader policy=Exclusive\n": "",
		"group g topics=orders:1\n":                                              "",
	} {
		script, err := scenarios.Parse("file.txt", text)
		if err != nil {
			t.Fatal(err)
		}
		if got := script.SkipReason("sim"); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestAFileThatIsNotThere(t *testing.T) {
	if _, err := scenarios.ParseFile("testdata/no-such-file.txt"); err == nil || errors.Unwrap(err) == nil {
		t.Errorf("%v", err)
	}
	if _, err := scenarios.Parse("file.txt", "# nothing\n"); err == nil {
		t.Error("an empty file passes")
	}
}

// Nothing is left out of the world live without a reason.
func TestSkipReasonsOfTheWorldLive(t *testing.T) {
	for text, want := range map[string]string{
		"group g topics=orders:1\nworkload web replicas=1\nadvance 1s\nmark\nexpect since moved=0\n": "",
		"worlds sim\ngroup g topics=orders:1\n":                                                      "not for the world live",
		"start a\n":                                                                                  "`start` is not live",
		"pod web-0 ready\n":                                                                          "`pod` is not live",
		"finally\n":                                                                                  "`finally` is not live",
		"expect handle a error=none\n":                                                               "`expect handle` is not live: nothing runs in simulated pods",
		"workload web replicas=1 acks=true\n":                                                        "`acks=true` is not live: nothing runs in simulated pods",
		"as somebody: rebalance once\n":                                                              "`as USER` is not live",
		"workload web replicas=1 acks=false\n":                                                       "",
		"workload web deleted cascade=orphan\n":                                                      "",
	} {
		script, err := scenarios.Parse("file.txt", text)
		if err != nil {
			t.Fatal(err)
		}
		if got := script.SkipReason("live"); got != want {
			t.Errorf("%q is skipped because %q, want %q", text, got, want)
		}
	}
}
