package audit

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Writes are writes in the order of the log.
type Writes []Write

// Where returns the writes that satisfy all conditions.
func (w Writes) Where(conditions ...func(Write) bool) Writes {
	var chosen Writes
	for _, write := range w {
		if !slices.ContainsFunc(conditions, func(holds func(Write) bool) bool { return !holds(write) }) {
			chosen = append(chosen, write)
		}
	}
	return chosen
}

// By is the condition that a user wrote.
func By(user string) func(Write) bool {
	return func(write Write) bool { return write.User == user }
}

// ByAgent is the condition that the writer's user agent begins so.
func ByAgent(prefix string) func(Write) bool {
	return func(write Write) bool { return strings.HasPrefix(write.UserAgent, prefix) }
}

// To is the condition that an object of this resource was written, or a subresource of it. The resource is the plural,
// with its group after a dot unless it is in the core group: pods, consumergroups.rollcall.dev.
func To(resource string) func(Write) bool {
	return func(write Write) bool { return write.kind() == resource }
}

// ToObject is the condition that this object was written.
func ToObject(namespace, name string) func(Write) bool {
	return func(write Write) bool { return write.Namespace == namespace && write.Name == name }
}

// Count counts writes by a key.
func (w Writes) Count(key func(Write) string) map[string]int {
	counts := map[string]int{}
	for _, write := range w {
		counts[key(write)]++
	}
	return counts
}

// PerUser, PerKind and PerObject are keys for Count.
func PerUser(write Write) string { return write.User }

// PerKind is "verb resource/subresource".
func PerKind(write Write) string { return write.Verb + " " + write.target() }

// PerObject is "resource namespace/name".
func PerObject(write Write) string { return write.kind() + " " + write.Namespace + "/" + write.Name }

// String lists the writes, one a line, for the message of a failed test.
func (w Writes) String() string {
	var text strings.Builder
	for _, write := range w {
		fmt.Fprintf(&text, "%s %s %s %s/%s by %s (%s)\n", write.Time.Format("15:04:05.000"), write.Verb, write.target(),
			write.Namespace, write.Name, write.User, agent(write.UserAgent))
	}
	return text.String()
}

// Summary lists the counts of a key, one a line, in the order of the keys.
func (w Writes) Summary(key func(Write) string) string {
	counts := w.Count(key)
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(&text, "%6d %s\n", counts[name], name)
	}
	return text.String()
}

func (w Write) kind() string {
	if w.Group == "" {
		return w.Resource
	}
	return w.Resource + "." + w.Group
}

func (w Write) target() string {
	if w.Subresource == "" {
		return w.kind()
	}
	return w.kind() + "/" + w.Subresource
}

// agent is the program's name in a user agent.
func agent(userAgent string) string {
	name, _, _ := strings.Cut(userAgent, "/")
	return name
}
