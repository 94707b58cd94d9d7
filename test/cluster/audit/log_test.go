package audit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rollcall-dev/rollcall/test/cluster/audit"
)

// line is an audit event as the API server writes it.
type line struct {
	stage, verb, uri, user, impersonated, group, resource, subresource, name, version string
	code                                                                              int
}

func (l line) String() string {
	stage, code, uri := l.stage, l.code, l.uri
	if stage == "" {
		stage = "ResponseComplete"
	}
	if code == 0 {
		code = 200
	}
	if uri == "" {
		uri = "/apis/x"
	}
	impersonated := ""
	if l.impersonated != "" {
		impersonated = fmt.Sprintf(`"impersonatedUser":{"username":%q},`, l.impersonated)
	}
	response := `{"kind":"Status","metadata":{}}`
	if l.version != "" {
		response = fmt.Sprintf(`{"metadata":{"name":%q,"resourceVersion":%q}}`, l.name, l.version)
	}
	return fmt.Sprintf(`{"stage":%q,"verb":%q,"requestURI":%q,"user":{"username":%q},%s"userAgent":"manager/v1 (linux)",`+
		`"objectRef":{"apiGroup":%q,"resource":%q,"subresource":%q,"namespace":"ns","name":%q},`+
		`"responseStatus":{"code":%d},"responseObject":%s,"requestReceivedTimestamp":"2026-01-02T03:04:05.000006Z"}`,
		stage, l.verb, uri, l.user, impersonated, l.group, l.resource, l.subresource, l.name, code, response)
}

func TestWhatIsAWrite(t *testing.T) {
	create := line{verb: "create", resource: "pods", name: "p", version: "5"}
	tests := []struct {
		name  string
		lines []line
		want  string // how many of each kind
	}{
		{"a created object", []line{create}, "1 create pods"},
		{"a changed object", []line{create, {verb: "patch", resource: "pods", name: "p", version: "6"}}, "1 create pods 1 patch pods"},
		{"a patch that changed nothing", []line{create, {verb: "patch", resource: "pods", name: "p", version: "5"}}, "1 create pods"},
		{
			"a status patch that changed nothing",
			[]line{create, {verb: "patch", resource: "pods", subresource: "status", name: "p", version: "5"}},
			"1 create pods",
		},
		{
			"the same version of another object",
			[]line{create, {verb: "patch", resource: "pods", name: "q", version: "5"}},
			"1 create pods 1 patch pods",
		},
		{
			"a deletion, and one of an object that is being deleted",
			[]line{
				{verb: "delete", group: "rollcall.dev", resource: "groupmembers", name: "m", version: "7"},
				{verb: "delete", group: "rollcall.dev", resource: "groupmembers", name: "m", version: "7"},
			},
			"1 delete groupmembers.rollcall.dev",
		},
		{"an answer without an object", []line{{verb: "create", resource: "pods", subresource: "binding", name: "p"}}, "1 create pods/binding"},
		{"a conflict", []line{{verb: "update", resource: "pods", name: "p", code: 409}}, ""},
		{"a read", []line{{verb: "get", resource: "pods", name: "p", version: "9"}}, ""},
		{"a dry run", []line{{verb: "create", resource: "pods", name: "p", version: "9", uri: "/api/v1/pods?dryRun=All&x=y"}}, ""},
		{"another stage", []line{{stage: "Panic", verb: "update", resource: "pods", name: "p", version: "9"}}, ""},
		{"a lease", []line{{verb: "update", group: "coordination.k8s.io", resource: "leases", name: "l", version: "9"}}, ""},
		{"leases of somebody else's group", []line{{verb: "update", group: "x.io", resource: "leases", name: "l", version: "9"}}, "1 update leases.x.io"},
		{"an event", []line{{verb: "create", group: "events.k8s.io", resource: "events", name: "e", version: "9"}}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			log := read(t, test.lines...)
			got := strings.Join(strings.Fields(log.Writes().Summary(audit.PerKind)), " ")
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestWhoWrote(t *testing.T) {
	writes := read(t,
		line{verb: "create", resource: "pods", name: "a", version: "1", user: "admin"},
		line{verb: "create", resource: "pods", name: "b", version: "2", user: "admin", impersonated: "manager"},
		line{verb: "update", group: "rollcall.dev", resource: "consumergroups", name: "g", version: "3", user: "manager"},
	).Writes()
	if got := writes.Count(audit.PerUser); got["admin"] != 1 || got["manager"] != 2 {
		t.Errorf("per user: %v", got)
	}
	if got := writes.Where(audit.By("manager"), audit.To("consumergroups.rollcall.dev")); len(got) != 1 || got[0].Name != "g" {
		t.Errorf("the manager's writes to groups: %s", got)
	}
	if got := writes.Where(audit.ByAgent("manager/")); len(got) != 3 {
		t.Errorf("by agent: %s", got)
	}
	if got := writes.Where(audit.ToObject("ns", "b")).Count(audit.PerObject); got["pods ns/b"] != 1 {
		t.Errorf("per object: %v", got)
	}
}

// The log is read while it is being written: half a line is left for the next time.
func TestReadLeavesAnUnfinishedLine(t *testing.T) {
	first := line{verb: "create", resource: "pods", name: "a", version: "1"}.String() + "\n"
	second := line{verb: "patch", resource: "pods", name: "a", version: "2"}.String() + "\n"
	log := audit.NewLog()
	read, err := log.Read(strings.NewReader(first + second[:20]))
	if err != nil || read != int64(len(first)) {
		t.Fatalf("read %d bytes, %v; want %d", read, err, len(first))
	}
	if _, err := log.Read(strings.NewReader((first + second)[read:])); err != nil {
		t.Fatal(err)
	}
	if got := log.Writes(); len(got) != 2 {
		t.Errorf("got %s", got)
	}
}

func TestMarkers(t *testing.T) {
	log := read(t, line{verb: "create", resource: "configmaps", name: "mark-1", uri: "/x?dryRun=All"})
	if !log.Seen("mark-1") || log.Seen("mark-2") {
		t.Error("the marker that was sent is to be seen, and no other")
	}
}

func TestBrokenLine(t *testing.T) {
	if _, err := audit.NewLog().Read(strings.NewReader("no json\n")); err == nil {
		t.Error("a line that is no event must be reported")
	}
}

func read(t *testing.T, lines ...line) *audit.Log {
	t.Helper()
	var text strings.Builder
	for _, each := range lines {
		fmt.Fprintln(&text, each)
	}
	log := audit.NewLog()
	if _, err := log.Read(strings.NewReader(text.String())); err != nil {
		t.Fatal(err)
	}
	return log
}
