package controllers

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/coordinator"
)

func planData(generation int64) string {
	return fmt.Sprintf(`{"version":1,"generation":%d,"reasons":[],"startTime":"2026-01-01T00:00:00.000000Z","moved":0,"term":"t","inputs":"i","members":[]}`, generation)
}

func TestSnapshotOfAGroup(t *testing.T) {
	group := bedGroup()
	cached := []client.Object{group, bedMember("pod-uid"), bedSet()}
	stranger := bedMember("pod-uid")
	stranger.Name, stranger.Spec.Group = "other.w-0", "other"
	foreign := planOf(group, 9, "")
	foreign.OwnerReferences[0].UID = "a former life"
	cached = append(cached, stranger, foreign)
	for generation := int64(1); generation <= 3; generation++ {
		cached = append(cached, planOf(group, generation, "")) // The cache drops their data.
	}
	b := newSourceBed(t, cached...)
	for generation := int64(1); generation <= 3; generation++ {
		b.server.objects[KeyOf(planOf(group, generation, ""))] = planOf(group, generation, planData(generation))
	}
	s := b.snapshot()
	if s.Group == nil || len(s.Members) != 1 || s.Members[0].Name != "g.w-0" {
		t.Fatalf("group %v with members %v", s.Group, s.Members)
	}
	var plans []string
	for _, plan := range s.Plans {
		plans = append(plans, fmt.Sprintf("%d whole %t", plan.Generation(), plan.Content != nil))
	}
	if want := []string{"3 whole true", "2 whole true", "1 whole false"}; !slices.Equal(plans, want) {
		t.Errorf("plans %v, want %v", plans, want)
	}
	want := map[coordinator.Workload]int32{{Kind: "StatefulSet", Name: "w"}: 1}
	if !maps.Equal(s.Declared, want) {
		t.Errorf("declared %v, want %v", s.Declared, want)
	}
	if !s.Live.Empty() || s.Now != testStart {
		t.Errorf("live %v at %s", s.Live, s.Now)
	}
}

// A plan that goes between two looks is left out, and the one before it is whole.
func TestAPlanThatIsGone(t *testing.T) {
	group := bedGroup()
	b := newSourceBed(t, group, planOf(group, 1, ""), planOf(group, 2, ""), planOf(group, 3, ""))
	for _, generation := range []int64{1, 2} {
		b.server.objects[KeyOf(planOf(group, generation, ""))] = planOf(group, generation, planData(generation))
	}
	s := b.snapshot()
	if len(s.Plans) != 2 || s.Plans[0].Generation() != 2 || s.Plans[1].Content == nil {
		t.Fatalf("plans %v", s.Plans)
	}
	source := b.groupSource()
	if err := source.ReadLive(t.Context(), &s, coordinator.Live{Plans: true}); err != nil {
		t.Fatal(err)
	}
	if len(s.Plans) != 2 || !s.Live.Plans {
		t.Errorf("read live: plans %v, marked %t", s.Plans, s.Live.Plans)
	}
}

func TestAPlanThatCannotBeReadIsAnError(t *testing.T) {
	group := bedGroup()
	b := newSourceBed(t, group, planOf(group, 1, ""))
	b.server.objects[KeyOf(planOf(group, 1, ""))] = planOf(group, 1, `{"version":99}`)
	if s, err := b.groupSource().Snapshot(t.Context()); err == nil {
		t.Errorf("got plans %v: taken as lost, everything would move", s.Plans)
	}
}

// The cache may not show a group yet: nobody is let go before a live read says that it is gone.
func TestMembersAreLetGoOnlyWhenTheirGroupIsReallyGone(t *testing.T) {
	leaving := bedMember("pod-uid")
	leaving.DeletionTimestamp = ptr.To(metav1.NewTime(testStart))
	for _, there := range []bool{true, false} {
		b := newSourceBed(t, leaving)
		if there {
			b.server.objects[KeyOf(bedGroup())] = bedGroup()
		}
		b.server.objects[KeyOf(leaving)] = leaving
		driver := &Driver{Executor: b.workloads.Executor, Decide: func(s coordinator.Snapshot) coordinator.Decision {
			if s.Group == nil {
				return coordinator.Decide(s)
			}
			return coordinator.Decision{WakeAt: testStart.Add(time.Minute)}
		}}
		wakeAt, err := driver.Drive(t.Context(), testGroup, b.groupSource())
		if err != nil {
			t.Fatal(err)
		}
		if _, held := b.server.objects[KeyOf(leaving)]; held != there {
			t.Errorf("group there %t: member held %t", there, held)
		}
		if wakeAt.IsZero() == there {
			t.Errorf("group there %t: decided %t", there, !wakeAt.IsZero())
		}
	}
}

// Nobody is declared dead from a stale word: what counts is the member and its pod as they are now.
func TestALiveReadOfAMember(t *testing.T) {
	tests := []struct {
		name   string
		server func(*sourceBed)
		check  func(m *v1alpha1.GroupMember) bool
	}{
		{"its pod is as bad as stored", func(b *sourceBed) {
			b.server.objects[KeyOf(bedPod("pod-uid", false))] = bedPod("pod-uid", false)
		}, func(m *v1alpha1.GroupMember) bool {
			return m.Spec.Presence.State == v1alpha1.Away && m.Spec.Presence.Since.Time.Equal(testStart.Add(-time.Hour))
		}},
		{"its pod is ready again", func(b *sourceBed) {
			b.server.objects[KeyOf(bedPod("pod-uid", true))] = bedPod("pod-uid", true)
		}, func(m *v1alpha1.GroupMember) bool {
			return m.Spec.Presence.State == v1alpha1.Present && m.Spec.Incarnation == "pod-uid"
		}},
		{"another pod has its name and is ready", func(b *sourceBed) {
			b.server.objects[KeyOf(bedPod("next-uid", true))] = bedPod("next-uid", true)
		}, func(m *v1alpha1.GroupMember) bool {
			return m.Spec.Presence.State == v1alpha1.Present && m.Spec.Incarnation == "pod-uid"
		}},
		{"its pod is gone", func(*sourceBed) {}, func(m *v1alpha1.GroupMember) bool {
			return m.Spec.Presence.State == v1alpha1.Away
		}},
		{"the member says so already", func(b *sourceBed) {
			back := bedMember("pod-uid")
			back.ResourceVersion, back.Spec.Presence.State = "5", v1alpha1.Present
			b.server.objects[KeyOf(back)] = back
			b.server.objects[KeyOf(bedPod("pod-uid", true))] = bedPod("pod-uid", true)
		}, func(m *v1alpha1.GroupMember) bool {
			return m.Spec.Presence.State == v1alpha1.Present && m.ResourceVersion == "5"
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := newSourceBed(t, bedGroup(), bedSet(), bedMember("pod-uid"), bedPod("pod-uid", false), bedNode())
			b.server.objects[KeyOf(bedMember("pod-uid"))] = bedMember("pod-uid")
			b.server.objects[Key{Kind: "StatefulSet", NamespacedName: client.ObjectKeyFromObject(bedSet())}] = bedSet()
			b.server.objects[KeyOf(bedGroup())] = bedGroup()
			test.server(b)
			s := b.snapshot()
			if err := b.groupSource().ReadLive(t.Context(), &s, coordinator.Live{Members: map[string]bool{"g.w-0": true}}); err != nil {
				t.Fatal(err)
			}
			if len(s.Members) != 1 || !s.Live.Members["g.w-0"] || !test.check(s.Members[0]) {
				t.Errorf("read live %v: %+v", s.Live, s.Members[0].Spec)
			}
			if len(b.server.applied) != 0 {
				t.Errorf("reading wrote %v", b.server.applied)
			}
		})
	}
}

func TestALiveReadOfAMemberThatIsGone(t *testing.T) {
	b := newSourceBed(t, bedGroup(), bedMember("pod-uid"))
	s := b.snapshot()
	if err := b.groupSource().ReadLive(t.Context(), &s, coordinator.Live{Members: map[string]bool{"g.w-0": true}}); err != nil {
		t.Fatal(err)
	}
	if len(s.Members) != 0 {
		t.Error("it is still in the snapshot")
	}
	if s = b.snapshot(); len(s.Members) != 0 {
		t.Error("it is in the next snapshot")
	}
}

// A pod's member is found by an own write that the cache's index does not know yet.
func TestMembersOfAPodAfterATakeover(t *testing.T) {
	cached := bedMember("old-uid")
	b := newSourceBed(t, cached)
	taken := bedMember("new-uid")
	taken.ResourceVersion = "7"
	b.memory.noteStored(taken, false)
	for uid, want := range map[types.UID]int{"new-uid": 1, "old-uid": 0} {
		members, err := b.reader.membersOfPod(t.Context(), "ns", uid)
		if err != nil {
			t.Fatal(err)
		}
		if len(members) != want {
			t.Errorf("pod %s has %d members, want %d", uid, len(members), want)
		}
	}
}
