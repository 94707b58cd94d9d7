package main

import (
	"io"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// The demo judges the product, so its judgment is tried on stories that break a promise, too.
func TestHandOverIsJudgedByOrder(t *testing.T) {
	stops := pod("worker-6", 20, corev1.PodSucceeded)
	for name, test := range map[string]struct {
		written []any
		moved   int
		early   int
	}{
		"after the stop":         {[]any{stops, holder("worker-6", 21), holder("worker-0", 22, 0, 1, 6)}, 1, 0},
		"before the stop":        {[]any{stops, holder("worker-6", 18), holder("worker-0", 19, 0, 1, 6)}, 1, 1},
		"it never stops":         {[]any{holder("worker-6", 21), holder("worker-0", 22, 0, 1, 6)}, 1, 1},
		"it fails":               {[]any{pod("worker-6", 20, corev1.PodFailed), holder("worker-6", 21), holder("worker-0", 22, 0, 1, 6)}, 1, 0},
		"nobody takes it":        {[]any{stops, holder("worker-6", 21)}, 1, 0},
		"it keeps what it has":   {[]any{holder("worker-6", 21, 6)}, 0, 0},
		"two work on it at once": {[]any{holder("worker-0", 19, 0, 1, 6), stops, holder("worker-6", 21)}, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := told(holder("worker-0", 10, 0, 1), holder("worker-6", 11, 6))
			for _, object := range test.written {
				s.seen.record(object, false)
			}
			if moved := s.moved(); moved != test.moved {
				t.Errorf("%d partitions moved, not %d", moved, test.moved)
			}
			if early := s.early(podStopped); early != test.early {
				t.Errorf("%d partitions moved too early, not %d", early, test.early)
			}
		})
	}
}

func TestHandOverIsTimedFromTheLastStop(t *testing.T) {
	s := told(holder("worker-0", 10, 0), holder("worker-6", 11, 6), holder("worker-7", 12, 7))
	for _, object := range []any{
		pod("worker-6", 20, corev1.PodSucceeded), holder("worker-0", 21, 0, 6),
		pod("worker-7", 22, corev1.PodSucceeded), holder("worker-0", 23, 0, 6, 7),
	} {
		s.seen.record(object, false)
	}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range s.seen.versions {
		s.seen.versions[i].seen = start.Add(time.Duration(i*i) * time.Second)
	}
	// The last stop is version 5, the last grant version 6.
	if took := s.handedOver(podStopped); took != (36-25)*time.Second {
		t.Errorf("the hand-over took %v from the last stop on, not 11s", took)
	}
}

func TestBrokenPromisesEndTheDemoWithAnError(t *testing.T) {
	s := told()
	s.expect("things", 2, 2)
	s.rows = append(s.rows, s.row)
	if err := s.outcome(); err != nil {
		t.Errorf("every promise was kept, and yet: %v", err)
	}
	for _, broken := range []func(){
		func() { s.expect("things", 1, 2) },
		func() { s.expectAtMost("things", 3, 2) },
		func() { s.expectEach("things", map[string]int{"a": 2, "b": 3}, 2) },
		func() { s.expectEach("things", nil, 2) },
		func() { s.expectWithin("time", 2*time.Second, time.Second) },
		func() { s.expectAtLeast("time", time.Second, 2*time.Second) },
	} {
		s.row = row{step: "a step"}
		broken()
		s.rows = []row{s.row}
		if s.outcome() == nil {
			t.Errorf("a promise was broken, and nothing says so: %+v", s.row)
		}
	}
}

// told is a story in which these objects were there when the present step began.
func told(objects ...any) *story {
	s := &story{seen: newRecorder(), screen: &screen{out: io.Discard}}
	for _, object := range objects {
		s.seen.record(object, false)
	}
	s.owners = s.held()
	s.versions, _ = s.seen.count()
	return s
}

func holder(name string, number int, partitions ...int32) *v1alpha1.GroupMember {
	member := &v1alpha1.GroupMember{ObjectMeta: objectMeta(sampleGroup+"."+name, number)}
	member.Spec.MemberName = name
	if len(partitions) > 0 {
		member.Status.Assignment = &v1alpha1.MemberAssignment{
			TopicPartitions: []v1alpha1.TopicPartitions{{Topic: "orders", Partitions: partitions}},
		}
	}
	return member
}

func pod(name string, number int, phase corev1.PodPhase) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: objectMeta(name, number), Status: corev1.PodStatus{Phase: phase}}
}

func objectMeta(name string, number int) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, ResourceVersion: strconv.Itoa(number)}
}
