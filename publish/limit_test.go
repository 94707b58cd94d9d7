package publish

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// many is an assignment of that many bytes or a little more.
func many(bytes int) *v1alpha1.MemberAssignment {
	list := v1alpha1.TopicPartitions{Topic: "orders", Token: 1}
	for size := 0; size < bytes; size += len("10000,") {
		list.Partitions = append(list.Partitions, 10000)
	}
	return &v1alpha1.MemberAssignment{TopicPartitions: []v1alpha1.TopicPartitions{list}}
}

func TestAllDocumentsOfAPodTogetherHaveALimit(t *testing.T) {
	tests := []struct {
		name  string
		sizes map[string]int // KiB by group
		want  []string
	}{
		{"all fit", map[string]int{"a": 90, "b": 90}, nil},
		{"one is too long", map[string]int{"a": 210}, []string{"a"}},
		{"the longest goes", map[string]int{"a": 90, "b": 120}, []string{"b"}},
		{"the longest ones go until the rest fit", map[string]int{"a": 110, "b": 130, "c": 150}, []string{"b", "c"}},
		{"of two that are as long the first goes", map[string]int{"a": 120, "b": 120}, []string{"a"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.pod(refer(downward("metadata.annotations")))
			w.s.Members = nil
			for group, size := range test.sizes {
				w.s.Groups[group] = newGroup(group)
				member := newMember(group)
				member.Status.Assignment = many(size << 10)
				w.s.Members = append(w.s.Members, member)
			}
			d := w.decide()
			if !slices.Equal(d.Truncated, test.want) || len(d.Events) != len(test.want) {
				t.Errorf("truncated %v with %d events, want %v", d.Truncated, len(d.Events), test.want)
			}
			total := 0
			for group := range test.sizes {
				total += len(w.s.Pod.Annotations[v1alpha1.AssignmentAnnotationPrefix+group])
				document := w.document(group)
				if cut := slices.Contains(test.want, group); document.Truncated != cut || (len(document.TopicPartitions) == 0) != cut || document.Revision != 1 {
					t.Errorf("%s: truncated %v with %d entries", group, document.Truncated, len(document.TopicPartitions))
				}
			}
			if total > MaxDocuments {
				t.Errorf("%d bytes", total)
			}
			if again := w.decide(); len(again.Annotations) > 0 || !slices.Equal(again.Truncated, test.want) {
				t.Errorf("decided again: %v, %d documents", again.Truncated, len(again.Annotations))
			}
		})
	}
}

func TestATruncatedDocumentSaysSo(t *testing.T) {
	w := newWorld(t)
	w.member(func(m *v1alpha1.GroupMember) { m.Status.Assignment = many(MaxDocuments) })
	d := w.decide()
	want := `{"group":"g","member":"web-1","memberID":"web-1-pod","revision":1,"topicPartitions":[],"pending":[],"revoking":[],"truncated":true}`
	if got := w.s.Pod.Annotations[key]; got != want {
		t.Errorf("got %s", got)
	}
	event := d.Events[0]
	if !event.Warning || event.Reason != "AssignmentTruncated" || event.About != Object(w.s.Pod) && event.About.GetName() != "web-1" || !strings.Contains(event.Message, "g.web-1") {
		t.Errorf("event %+v", event)
	}
}

// Also a document that does not show what was revoked tells of it, and the grace runs.
func TestATruncatedDocumentIsAcknowledged(t *testing.T) {
	w := newWorld(t)
	w.member(func(m *v1alpha1.GroupMember) { m.Status.Assignment = many(MaxDocuments) })
	w.revoke()
	w.decide()
	w.advance(grace)
	w.expectAcknowledged(2)
}

// The documents of pods that nobody reads take no room.
func TestWhatIsNotWrittenTakesNoRoom(t *testing.T) {
	w := newWorld(t)
	for i := range 3 {
		group := fmt.Sprintf("x%d", i)
		w.s.Groups[group] = newGroup(group)
		member := newMember(group)
		member.Status.Assignment = many(150 << 10)
		w.s.Members = append(w.s.Members, member)
	}
	d := w.decide()
	if len(d.Truncated) > 0 || w.document("g").Revision != 1 {
		t.Errorf("truncated %v", d.Truncated)
	}
	w.pod(func(p *corev1.Pod) { p.Labels[v1alpha1.InjectLabel] = v1alpha1.InjectVolume })
	if d = w.decide(); len(d.Truncated) != 2 {
		t.Errorf("truncated %v", d.Truncated)
	}
}
