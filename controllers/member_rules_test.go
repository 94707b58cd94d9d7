package controllers

import (
	"strings"
	"testing"
	"time"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

func TestRulesOfMembers(t *testing.T) {
	c, namespace := onCluster(t)
	tests := []struct {
		name    string
		change  func(s *v1alpha1.GroupMemberSpec)
		message string
	}{
		{"the least there is", func(*v1alpha1.GroupMemberSpec) {}, ""},
		{"no incarnation", func(s *v1alpha1.GroupMemberSpec) { s.Incarnation = "" }, "spec.incarnation"},
		{"Kafka's names", func(s *v1alpha1.GroupMemberSpec) { s.MemberName = "Host_1.a-b" }, ""},
		{"strange name", func(s *v1alpha1.GroupMemberSpec) { s.MemberName = "a/b" }, "spec.memberName"},
		{"too long a name", func(s *v1alpha1.GroupMemberSpec) { s.MemberName = strings.Repeat("a", 250) }, "may not be more than 249 bytes"},
		{"workload", func(s *v1alpha1.GroupMemberSpec) {
			s.Workload = &v1alpha1.WorkloadReference{Kind: "StatefulSet", Name: "w"}
		}, ""},
		{"unknown workload", func(s *v1alpha1.GroupMemberSpec) { s.Workload = &v1alpha1.WorkloadReference{Kind: "Job", Name: "w"} }, `supported values: "StatefulSet", "Deployment"`},
		{"unknown presence", func(s *v1alpha1.GroupMemberSpec) { s.Presence = &v1alpha1.Presence{State: "Here", Reason: "Ready"} }, `supported values: "Present", "Away", "Leaving"`},
		{"rebalanceTimeout", func(s *v1alpha1.GroupMemberSpec) { s.RebalanceTimeout = lasting(30 * time.Minute) }, ""},
		{"too long a rebalanceTimeout", func(s *v1alpha1.GroupMemberSpec) { s.RebalanceTimeout = lasting(time.Hour) }, "rebalanceTimeout must be between 1s and 30m"},
		{"parked", func(s *v1alpha1.GroupMemberSpec) { s.Capacity = ptr.To[int64](0) }, ""},
		{"negative capacity", func(s *v1alpha1.GroupMemberSpec) { s.Capacity = ptr.To[int64](-1) }, "should be greater than or equal to 0"},
		{"too much capacity", func(s *v1alpha1.GroupMemberSpec) { s.Capacity = ptr.To[int64](1_000_001) }, "should be less than or equal to 1000000"},
		{"too many protocols", func(s *v1alpha1.GroupMemberSpec) {
			s.Protocols = make([]v1alpha1.MemberProtocol, 17)
			for i := range s.Protocols {
				s.Protocols[i].Name = "p"
			}
		}, "must have at most 16 items"},
		{"as much metadata as there may be", func(s *v1alpha1.GroupMemberSpec) {
			s.Protocols = []v1alpha1.MemberProtocol{{Name: "p", Metadata: make([]byte, 256<<10)}}
		}, ""},
		{"2 MiB of metadata", func(s *v1alpha1.GroupMemberSpec) {
			s.Protocols = []v1alpha1.MemberProtocol{{Name: "p", Metadata: make([]byte, 2<<20)}}
		}, "spec.protocols[0].metadata: Too long"},
		{"as large a sync as there may be", func(s *v1alpha1.GroupMemberSpec) { s.Sync = syncOf(384<<10, 384<<10) }, ""},
		{"too large a sync", func(s *v1alpha1.GroupMemberSpec) { s.Sync = syncOf(384<<10, 384<<10+1) }, "a sync may carry at most 768 KiB of member state"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			member := clusterMember(namespace)
			test.change(&member.Spec)
			answered(t, c.Create(t.Context(), member, client.DryRunAll), test.message)
		})
	}
}

func clusterMember(namespace string) *v1alpha1.GroupMember {
	member := testMember("m")
	member.Namespace, member.Spec.Incarnation = namespace, "one"
	return member
}

func syncOf(sizes ...int) *v1alpha1.Sync {
	sync := &v1alpha1.Sync{MemberID: "m-one", Generation: 1}
	for _, size := range sizes {
		sync.Assignments = append(sync.Assignments, v1alpha1.SyncAssignment{MemberID: "m-one", State: make([]byte, size)})
	}
	return sync
}

func TestWhatAMemberCannotChange(t *testing.T) {
	c, namespace := onCluster(t)
	member := clusterMember(namespace)
	member.Spec.Workload = &v1alpha1.WorkloadReference{Kind: "StatefulSet", Name: "w", UID: "one"}
	member.Spec.MemberName = "w-0"
	mustCreate(t, c, member)
	bare := clusterMember(namespace)
	bare.Name = "bare"
	mustCreate(t, c, bare)
	tests := []struct {
		name           string
		member         *v1alpha1.GroupMember
		patch, message string
	}{
		{"incarnation", member, `{"spec":{"incarnation":"two"}}`, ""},
		{"group", member, `{"spec":{"group":"other"}}`, "group cannot be changed"},
		{"another memberName", member, `{"spec":{"memberName":"w-1"}}`, "memberName cannot be changed"},
		{"no memberName any more", member, `{"spec":{"memberName":null}}`, "memberName cannot be added or removed"},
		{"a memberName", bare, `{"spec":{"memberName":"w-1"}}`, "memberName cannot be added or removed"},
		{"workload uid", member, `{"spec":{"workload":{"uid":"two"}}}`, ""},
		{"another workload", member, `{"spec":{"workload":{"name":"v"}}}`, "workload.kind and workload.name cannot be changed"},
		{"another kind", member, `{"spec":{"workload":{"kind":"Deployment"}}}`, "workload.kind and workload.name cannot be changed"},
		{"no workload any more", member, `{"spec":{"workload":null}}`, "workload cannot be added or removed"},
		{"a workload", bare, `{"spec":{"workload":{"kind":"StatefulSet","name":"w"}}}`, "workload cannot be added or removed"},
		{"finalizers", member, `{"metadata":{"finalizers":["rollcall.dev/handover"]}}`, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			answered(t, c.Patch(t.Context(), test.member.DeepCopy(), mergePatch(test.patch), client.DryRunAll), test.message)
		})
	}
}

func TestAMembersWordIsNotTakenBack(t *testing.T) {
	c, namespace := onCluster(t)
	member := clusterMember(namespace)
	mustCreate(t, c, member)
	steps := []struct {
		name    string
		status  bool
		patch   string
		message string
	}{
		{"acknowledged before there is a memberID", false, `{"spec":{"acknowledged":{"memberID":"m-one","revision":1}}}`, "acknowledged may name only the memberID in status"},
		{"joined before there is a memberID", false, `{"spec":{"joined":{"memberID":"m-one","generation":1}}}`, "joined may name only the memberID in status"},
		{"memberID", true, `{"status":{"memberID":"m-one"}}`, ""},
		{"acknowledged for another", false, `{"spec":{"acknowledged":{"memberID":"m-two","revision":1}}}`, "acknowledged may name only the memberID in status"},
		{"acknowledged", false, `{"spec":{"acknowledged":{"memberID":"m-one","revision":4}}}`, ""},
		{"acknowledged more", false, `{"spec":{"acknowledged":{"revision":5,"final":true}}}`, ""},
		{"acknowledged less", false, `{"spec":{"acknowledged":{"revision":4}}}`, "acknowledged cannot be taken back"},
		{"not final any more", false, `{"spec":{"acknowledged":{"final":null}}}`, "acknowledged cannot be taken back"},
		{"not acknowledged any more", false, `{"spec":{"acknowledged":null}}`, "acknowledged cannot be taken back"},
		{"joined for another", false, `{"spec":{"joined":{"memberID":"m-two","generation":2}}}`, "joined may name only the memberID in status"},
		{"joined", false, `{"spec":{"joined":{"memberID":"m-one","generation":2}}}`, ""},
		{"joined an earlier one", false, `{"spec":{"joined":{"generation":1}}}`, "joined cannot be taken back"},
		{"not joined any more", false, `{"spec":{"joined":null}}`, "joined cannot be taken back"},
		{"next memberID", true, `{"status":{"memberID":"m-two"}}`, ""},
		{"the former one's word stands", false, `{"spec":{"incarnation":"two"}}`, ""},
		{"the former one says more", false, `{"spec":{"acknowledged":{"revision":9}}}`, "acknowledged may name only the memberID in status"},
		{"the next one begins anew", false, `{"spec":{"acknowledged":{"memberID":"m-two","revision":1,"final":null}}}`, ""},
	}
	for _, step := range steps {
		patch := func() error {
			if step.status {
				return c.Status().Patch(t.Context(), member, mergePatch(step.patch))
			}
			return c.Patch(t.Context(), member, mergePatch(step.patch))
		}
		t.Run(step.name, func(t *testing.T) { answered(t, patch(), step.message) })
	}
}
