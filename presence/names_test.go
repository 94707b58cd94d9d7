package presence

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"
)

func TestObjectNames(t *testing.T) {
	tests := []struct {
		name, got, want string
	}{
		{"plain", StaticObjectName("g", "web-0"), "g.web-0"},
		{"with dots", StaticObjectName("g", "a.b"), "g.a.b"},
		{"capital letters", StaticObjectName("g", "Web-0"), "g.web-0-c9ecaffb"},
		{"underscore", StaticObjectName("g", "web_0"), "g.web-0-10a84c39"},
		{"dynamic", DynamicObjectName("g", "web-x", "12345678-9abc"), "g.web-x-12345678"},
		{"dynamic with a short UID", DynamicObjectName("g", "web-x", "123"), "g.web-x-123"},
	}
	for _, test := range tests {
		if test.got != test.want {
			t.Errorf("%s: %s, want %s", test.name, test.got, test.want)
		}
	}
}

// Whatever a member is called, its object's name is legal, the same at every call, and nobody else's.
func TestObjectNamesAreLegalAndUnique(t *testing.T) {
	long := strings.Repeat("a", 249)
	names := []string{
		"web-0", "Web-0", "WEB-0", "web_0", "web.0", "web..0", ".web-0", "web-0.", "-web-0", "web-0-", "_", ".", "-", "..", "a.-.b", "a-.-b",
		long, long[:248] + "b", strings.Repeat("A", 249), strings.Repeat(".", 249), strings.Repeat("_", 249),
	}
	seen := map[string]string{}
	for _, name := range names {
		for _, group := range []string{"g", strings.Repeat("g", 63)} {
			object := StaticObjectName(group, name)
			if problems := validation.IsDNS1123Subdomain(object); len(problems) > 0 {
				t.Errorf("%q in %s: %q: %s", name, group, object, problems)
			}
			if other, found := seen[object]; found {
				t.Errorf("%q and %q are both %q", name, other, object)
			}
			seen[object] = name
			if object != StaticObjectName(group, name) {
				t.Errorf("%q has two names", name)
			}
		}
	}
}

// A pod's name may be longer than a member's.
func TestMemberNames(t *testing.T) {
	for length, want := range map[int]int{1: 1, 249: 249, 250: 249, 253: 249} {
		if got := memberName(strings.Repeat("a", length)); len(got) != want {
			t.Errorf("a pod's name of %d makes a member's name of %d", length, len(got))
		}
	}
	if a, b := memberName(strings.Repeat("a", 252)+"b"), memberName(strings.Repeat("a", 252)+"c"); a == b {
		t.Errorf("two pods are both %s", a)
	}
}

func TestOrdinals(t *testing.T) {
	tests := []struct {
		pod  string
		want int32
		ok   bool
	}{
		{"web-0", 0, true},
		{"web-12", 12, true},
		{"web-", 0, false},
		{"web--1", 0, false},
		{"web-+1", 0, false},
		{"web-x", 0, false},
		{"web-1-2", 0, false},
		{"other-1", 0, false},
		{"web-99999999999", 0, false},
	}
	for _, test := range tests {
		if got, ok := ordinalOf("web", test.pod); ok != test.ok || ok && got != test.want {
			t.Errorf("%s: %d, %v", test.pod, got, ok)
		}
	}
}
