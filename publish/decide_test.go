package publish

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// The keys and their order are a format that other languages read.
func TestTheDocument(t *testing.T) {
	copied := []v1alpha1.TopicPartitions{{Topic: "stock", Copy: 1, Partitions: []int32{3}, Token: 9}, {Topic: "stock", Partitions: []int32{0, 2}, Token: 8}}
	tests := []struct {
		name   string
		change func(*world)
		want   string
	}{
		{
			"what it holds", func(*world) {},
			`{"group":"g","member":"web-1","memberID":"web-1-pod","revision":1,"topicPartitions":[{"topic":"orders","of":6,"partitions":[0,1,2],"token":77}],"pending":[],"revoking":[]}`,
		},
		{
			"nothing", func(w *world) { w.member(func(m *v1alpha1.GroupMember) { m.Status.Assignment = nil }) },
			`{"group":"g","member":"web-1","memberID":"web-1-pod","revision":1,"topicPartitions":[],"pending":[],"revoking":[]}`,
		},
		{
			"copies in the order of topic and copy", func(w *world) {
				w.member(func(m *v1alpha1.GroupMember) {
					m.Status.Assignment.TopicPartitions = append(copied, m.Status.Assignment.TopicPartitions...)
				})
			},
			`{"group":"g","member":"web-1","memberID":"web-1-pod","revision":1,"topicPartitions":[{"topic":"orders","of":6,"partitions":[0,1,2],"token":77},{"topic":"stock","of":4,"copy":0,"partitions":[0,2],"token":8},{"topic":"stock","of":4,"copy":1,"partitions":[3],"token":9}],"pending":[],"revoking":[]}`,
		},
		{
			"a copy of a topic that has no more than one", func(w *world) {
				w.group(func(g *v1alpha1.ConsumerGroup) { g.Spec.Topics[1].Replicas = 1 })
				w.member(func(m *v1alpha1.GroupMember) { m.Status.Assignment.TopicPartitions = copied })
			},
			`{"group":"g","member":"web-1","memberID":"web-1-pod","revision":1,"topicPartitions":[{"topic":"stock","of":4,"partitions":[0,2],"token":8},{"topic":"stock","of":4,"copy":1,"partitions":[3],"token":9}],"pending":[],"revoking":[]}`,
		},
		{
			"pending", func(w *world) {
				w.member(func(m *v1alpha1.GroupMember) {
					m.Status.Assignment = nil
					m.Status.Pending = []v1alpha1.TopicPartitions{{Topic: "orders", Partitions: []int32{5}}}
				})
			},
			`{"group":"g","member":"web-1","memberID":"web-1-pod","revision":1,"topicPartitions":[],"pending":[{"topic":"orders","of":6,"partitions":[5]}],"revoking":[]}`,
		},
		{
			"revoking, of this memberID only", func(w *world) {
				w.revoke()
				w.member(func(m *v1alpha1.GroupMember) {
					m.Status.Revoking = append(m.Status.Revoking, v1alpha1.Revocation{MemberID: "web-1-before", Revision: 1, TopicPartitions: copied})
				})
			},
			`{"group":"g","member":"web-1","memberID":"web-1-pod","revision":2,"topicPartitions":[{"topic":"orders","of":6,"partitions":[0,1],"token":77}],"pending":[],"revoking":[{"topic":"orders","of":6,"partitions":[2],"token":77}],"published":[{"uid":"member-g","revision":2,"at":"2026-01-01T12:00:00.000000Z"}]}`,
		},
		{
			"the leader's answer", func(w *world) {
				w.member(func(m *v1alpha1.GroupMember) {
					m.Status.Assignment = &v1alpha1.MemberAssignment{State: []byte("abc"), Token: 5, Sync: "hash"}
				})
			},
			`{"group":"g","member":"web-1","memberID":"web-1-pod","revision":1,"topicPartitions":[],"pending":[],"revoking":[],"state":"YWJj","token":5}`,
		},
		{
			"a topic that nobody knows any more", func(w *world) {
				w.group(func(g *v1alpha1.ConsumerGroup) { g.Spec.Topics = nil })
			},
			`{"group":"g","member":"web-1","memberID":"web-1-pod","revision":1,"topicPartitions":[{"topic":"orders","of":3,"partitions":[0,1,2],"token":77}],"pending":[],"revoking":[]}`,
		},
		{
			"a topic that was taken out of the group", func(w *world) {
				w.decide()
				w.group(func(g *v1alpha1.ConsumerGroup) { g.Spec.Topics = nil })
			},
			`{"group":"g","member":"web-1","memberID":"web-1-pod","revision":1,"topicPartitions":[{"topic":"orders","of":6,"partitions":[0,1,2],"token":77}],"pending":[],"revoking":[]}`,
		},
		{
			"a dynamic member goes by its object's name", func(w *world) {
				w.member(func(m *v1alpha1.GroupMember) {
					m.Name, m.Spec.MemberName, m.Status.MemberID = "g.web-x-0001", "", "g.web-x-0001-pod"
				})
			},
			`{"group":"g","member":"g.web-x-0001","memberID":"g.web-x-0001-pod","revision":1,"topicPartitions":[{"topic":"orders","of":6,"partitions":[0,1,2],"token":77}],"pending":[],"revoking":[]}`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			test.change(w)
			w.decide()
			if got := w.s.Pod.Annotations[key]; got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
			if again := w.decide(); len(again.Annotations)+len(again.Updates) > 0 {
				t.Errorf("decided again it writes %+v", again)
			}
		})
	}
}

func TestWhichPodsAreTold(t *testing.T) {
	tests := []struct {
		name   string
		change func(*corev1.Pod)
		want   bool
	}{
		{"a volume shows the annotation", func(*corev1.Pod) {}, true},
		{"nothing refers to it", nowhere, false},
		{"a volume shows another group's", refer(downward("metadata.annotations['assignment.rollcall.dev/h']")), false},
		{"a volume shows the labels", refer(downward("metadata.labels")), false},
		{"a volume shows all annotations", refer(downward("metadata.annotations")), true},
		{"a projected volume shows the annotation", func(p *corev1.Pod) {
			nowhere(p)
			projected := &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
				{Secret: &corev1.SecretProjection{}},
				{DownwardAPI: &corev1.DownwardAPIProjection{Items: downward("metadata.annotations['" + key + "']").DownwardAPI.Items}},
			}}
			p.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{Projected: projected}}}
		}, true},
		{"a volume shows a resource", func(p *corev1.Pod) {
			nowhere(p)
			volume := downward("")
			volume.DownwardAPI.Items[0] = corev1.DownwardAPIVolumeFile{ResourceFieldRef: &corev1.ResourceFieldSelector{}}
			p.Spec.Volumes = []corev1.Volume{volume}
		}, false},
		{"a container's environment", func(p *corev1.Pod) {
			nowhere(p)
			p.Spec.Containers = []corev1.Container{{Env: []corev1.EnvVar{{Name: "plain"}, env()}}}
		}, true},
		{"an init container's environment", func(p *corev1.Pod) {
			nowhere(p)
			p.Spec.InitContainers = []corev1.Container{{Env: []corev1.EnvVar{env()}}}
		}, true},
		{"a debug container's environment", func(p *corev1.Pod) {
			nowhere(p)
			p.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Env: []corev1.EnvVar{env()}}}}
		}, true},
		{"it asks for our volume", func(p *corev1.Pod) { nowhere(p); p.Labels[v1alpha1.InjectLabel] = v1alpha1.InjectVolume }, true},
		{"it asks for our agent", func(p *corev1.Pod) { nowhere(p); p.Labels[v1alpha1.InjectLabel] = v1alpha1.InjectAgent }, true},
		{"it has stopped", func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }, false},
		{"it has succeeded", func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }, false},
		{"it has not started", func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending }, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.pod(test.change)
			w.decide()
			if got := w.s.Pod.Annotations[key] != ""; got != test.want {
				t.Errorf("annotated: %v", got)
			}
		})
	}
}

func TestWhoSpeaksForThePod(t *testing.T) {
	tests := []struct {
		name   string
		change func(*v1alpha1.GroupMember)
		want   bool
	}{
		{"its Active member", func(*v1alpha1.GroupMember) {}, true},
		{"one that waits for its first round", func(m *v1alpha1.GroupMember) {
			m.Status = v1alpha1.GroupMemberStatus{MemberID: id, State: v1alpha1.MemberPending}
		}, false},
		{"one that was rejected", func(m *v1alpha1.GroupMember) {
			m.Status = v1alpha1.GroupMemberStatus{MemberID: id, State: v1alpha1.MemberRejected}
		}, false},
		{"one that was Active and waits again", func(m *v1alpha1.GroupMember) { m.Status.State = v1alpha1.MemberPending }, true},
		{"one that leaves", func(m *v1alpha1.GroupMember) { m.Status.State = v1alpha1.MemberLeaving }, true},
		{"one that nobody has looked at", func(m *v1alpha1.GroupMember) { m.Status = v1alpha1.GroupMemberStatus{} }, false},
		{"its status is another incarnation's", func(m *v1alpha1.GroupMember) { m.Status.MemberID = "web-1-before" }, false},
		{"its incarnation is another pod", func(m *v1alpha1.GroupMember) { m.Spec.Incarnation = "other" }, false},
		{"its group was made again", func(m *v1alpha1.GroupMember) { m.OwnerReferences = ownedBy("group-before") }, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.member(test.change)
			w.decide()
			if got := w.s.Pod.Annotations[key] != ""; got != test.want {
				t.Errorf("annotated: %v", got)
			}
		})
	}
}

func TestWhenTheDocumentGoes(t *testing.T) {
	tests := []struct {
		name   string
		happen func(*world)
		stays  bool
	}{
		{"nothing happens", func(*world) {}, true},
		{"its member is gone", func(w *world) { w.s.Members = nil }, false},
		{"its member was made again and was never Active", func(w *world) {
			w.member(func(m *v1alpha1.GroupMember) {
				m.UID, m.Status = "again", v1alpha1.GroupMemberStatus{MemberID: id, State: v1alpha1.MemberPending}
			})
		}, false},
		{"its group is gone, its member not yet", func(w *world) { w.s.Groups = nil }, true},
		{"its member is being deleted", func(w *world) {
			w.member(func(m *v1alpha1.GroupMember) { m.DeletionTimestamp = metaTime(noon) })
		}, true},
		{"nobody reads it any more", func(w *world) { w.pod(nowhere) }, false},
		{"the pod has stopped", func(w *world) { w.pod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }) }, true},
		{"the pod is gone", func(w *world) { w.s.Pod = nil; w.s.Members = nil }, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.pod(func(p *corev1.Pod) { p.Annotations["assignment.rollcall.dev.example.com"] = "not ours" })
			w.decide()
			test.happen(w)
			d := Decide(w.s)
			text, touched := d.Annotations[key]
			if touched == test.stays || touched && text != nil || len(d.Annotations) > 1 {
				t.Errorf("patch %v, the document stays: %v", d.Annotations, test.stays)
			}
		})
	}
}

// It writes what differs, whatever the revision.
func TestADocumentIsWrittenWhenItDiffers(t *testing.T) {
	tests := []struct {
		name   string
		happen func(*world)
		writes int
	}{
		{"nothing happens", func(*world) {}, 0},
		{"the same in another order", func(w *world) {
			w.member(func(m *v1alpha1.GroupMember) { m.ResourceVersion = "9"; m.Status.ObservedGeneration++ })
		}, 0},
		{"its topic grows", func(w *world) { w.group(func(g *v1alpha1.ConsumerGroup) { g.Spec.Topics[0].Partitions = 8 }) }, 1},
		{"somebody changed it", func(w *world) { w.pod(func(p *corev1.Pod) { p.Annotations[key] += " " }) }, 1},
		{"somebody broke it", func(w *world) { w.pod(func(p *corev1.Pod) { p.Annotations[key] = "{" }) }, 1},
		{"a partition is granted", func(w *world) {
			w.member(func(m *v1alpha1.GroupMember) {
				m.Status.Revision++
				m.Status.Assignment.TopicPartitions[0].Partitions = []int32{0, 1, 2, 3}
			})
		}, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.decide()
			w.writes = 0
			test.happen(w)
			w.decide()
			w.decide()
			if w.writes != test.writes {
				t.Errorf("%d writes, want %d", w.writes, test.writes)
			}
		})
	}
}
