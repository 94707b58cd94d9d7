package controllers

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/presence"
)

func workloadKey(kind, name string) WorkloadKey {
	return WorkloadKey{Kind: kind, NamespacedName: types.NamespacedName{Namespace: "ns", Name: name}}
}

func podOf(name string, uid types.UID, owner *metav1.OwnerReference) *corev1.Pod {
	pod := bedPod(uid, true)
	pod.Name, pod.OwnerReferences = name, nil
	if owner != nil {
		pod.OwnerReferences = []metav1.OwnerReference{*owner}
	}
	return pod
}

func ownedBy(kind, name string) *metav1.OwnerReference {
	controls := true
	return &metav1.OwnerReference{APIVersion: "apps/v1", Kind: kind, Name: name, UID: types.UID(name + "-uid"), Controller: &controls}
}

func podNames(pods []*corev1.Pod) []string {
	var names []string
	for _, pod := range pods {
		names = append(names, pod.Name)
	}
	slices.Sort(names)
	return names
}

func TestSnapshotOfAWorkload(t *testing.T) {
	replicaSet := replicaSetMetadata()
	replicaSet.Namespace, replicaSet.Name, replicaSet.OwnerReferences = "ns", "d-1", []metav1.OwnerReference{*ownedBy("Deployment", "d")}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: "d", Annotations: map[string]string{v1alpha1.GroupAnnotation: " g , h"},
	}}
	taken := bedMember("taken-uid")
	taken.Name, taken.Spec.Workload = "g.lost", &v1alpha1.WorkloadReference{Kind: "Deployment", Name: "d"}
	b := newSourceBed(
		t, bedGroup(), bedSet(), bedNode(), deployment, replicaSet, bedMember("pod-uid"), taken,
		podOf("w-0", "pod-uid", ownedBy("StatefulSet", "w")), podOf("w-1", "orphan", nil), podOf("w-x", "x", nil),
		podOf("v-0", "v", nil), podOf("w-2", "other", ownedBy("ReplicaSet", "w")),
		podOf("d-1-a", "a", ownedBy("ReplicaSet", "d-1")), podOf("astray", "taken-uid", nil),
	)
	tests := []struct {
		key     WorkloadKey
		pods    []string
		members []string
	}{
		{workloadKey("StatefulSet", "w"), []string{"w-0", "w-1"}, []string{"g.w-0", "g.lost"}},
		{workloadKey("Deployment", "d"), []string{"astray", "d-1-a"}, []string{"g.lost", "g.w-0"}},
		{workloadKey("StatefulSet", "absent"), nil, nil},
	}
	for _, test := range tests {
		t.Run(test.key.String(), func(t *testing.T) {
			s, err := b.workloadSource(test.key).Snapshot(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got := podNames(s.Pods); !slices.Equal(got, test.pods) {
				t.Errorf("pods %v, want %v", got, test.pods)
			}
			var members []string
			for _, member := range s.Members {
				members = append(members, member.Name)
			}
			if !slices.Equal(members, test.members) {
				t.Errorf("members %v, want its own first: %v", members, test.members)
			}
			there := s.StatefulSet != nil || s.Deployment != nil
			if there != (test.key.Name != "absent") || (s.Groups["g"] != nil) != there || (s.Nodes["node"] != nil) != there {
				t.Errorf("workload there %t, groups %v, nodes %v", there, s.Groups, s.Nodes)
			}
			if s.Groups["h"] != nil {
				t.Error("a group that does not exist")
			}
		})
	}
}

func TestLiveReadsOfAWorkload(t *testing.T) {
	b := newSourceBed(t, bedGroup(), bedSet(), bedNode(), bedMember("pod-uid"))
	source := b.workloadSource(workloadKey("StatefulSet", "w"))
	s, err := source.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	need := presence.Live{Workload: true, Groups: map[string]bool{"g": true}, Nodes: map[string]bool{"node": true}}
	if err := source.ReadLive(t.Context(), &s, need); err != nil {
		t.Fatal(err)
	}
	if s.StatefulSet != nil || s.Groups["g"] != nil || s.Nodes["node"] != nil || !s.Live.Workload || !s.Live.Groups["g"] || !s.Live.Nodes["node"] {
		t.Errorf("what is gone is still there: %v, %v, %v, %+v", s.StatefulSet, s.Groups, s.Nodes, s.Live)
	}
	b.server.objects[KeyOf(bedNode())] = bedNode()
	b.server.objects[Key{Kind: "StatefulSet", NamespacedName: source.key.NamespacedName}] = bedSet()
	b.server.objects[KeyOf(bedGroup())] = bedGroup()
	if err := source.ReadLive(t.Context(), &s, need); err != nil {
		t.Fatal(err)
	}
	if s.StatefulSet == nil || s.Groups["g"] == nil || s.Nodes["node"] == nil {
		t.Error("what is there is not read")
	}
}

// What an event is about, and what it is not about.
func TestWhatAnEventIsAbout(t *testing.T) {
	plain := bedSet()
	plain.Name, plain.Annotations = "plain", nil
	left := bedSet()
	left.Name, left.Annotations = "left", nil
	member := bedMember("left-uid")
	member.Name, member.Spec.Workload.Name = "g.left-0", "left"
	b := newSourceBed(
		t, bedGroup(), bedSet(), plain, left, bedMember("pod-uid"), member,
		podOf("w-0", "pod-uid", ownedBy("StatefulSet", "w")), podOf("plain-0", "p", ownedBy("StatefulSet", "plain")),
		podOf("left-0", "left-uid", ownedBy("StatefulSet", "left")),
	)
	r := &workloadReconciler{reader: b.reader}
	p := &publishReconciler{reader: b.reader}
	pod := func(name string) *corev1.Pod {
		found := &corev1.Pod{}
		if err := b.cache.Get(t.Context(), types.NamespacedName{Namespace: "ns", Name: name}, found); err != nil {
			t.Fatal(err)
		}
		return found
	}
	names := func(keys []WorkloadKey, err error) []string {
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, key := range keys {
			all = append(all, key.Name)
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	documented := pod("plain-0")
	documented.Annotations = map[string]string{v1alpha1.AssignmentAnnotationPrefix + "g": "{}"}
	for what, test := range map[string]struct{ got, want []string }{
		"an annotated set":           {names(workloadItself[*appsv1.StatefulSet](r, "StatefulSet")(t.Context(), bedSet())), []string{"w"}},
		"a set without":              {names(workloadItself[*appsv1.StatefulSet](r, "StatefulSet")(t.Context(), plain)), nil},
		"a set that still has some":  {names(workloadItself[*appsv1.StatefulSet](r, "StatefulSet")(t.Context(), left)), []string{"left"}},
		"a member's pod":             {names(r.ofPod(t.Context(), pod("w-0"))), []string{"w"}},
		"a pod of no member":         {names(r.ofPod(t.Context(), pod("plain-0"))), nil},
		"a node":                     {names(r.ofNode(t.Context(), bedNode())), []string{"left", "w"}},
		"a group":                    {names(r.ofGroup(t.Context(), bedGroup())), []string{"left", "w"}},
		"publish: a member's pod":    {podRequests(p.ofPod(t.Context(), pod("w-0"))), []string{"w-0"}},
		"publish: another pod":       {podRequests(p.ofPod(t.Context(), pod("plain-0"))), nil},
		"publish: a document's pod":  {podRequests(p.ofPod(t.Context(), documented)), []string{"plain-0"}},
		"publish: a member":          {podRequests(p.ofMember(t.Context(), member)), []string{"left-0"}},
		"publish: a group's members": {podRequests(p.ofGroup(t.Context(), bedGroup())), []string{"left-0", "w-0"}},
	} {
		if !slices.Equal(test.got, test.want) {
			t.Errorf("%s concerns %v, want %v", what, test.got, test.want)
		}
	}
}

func podRequests(requests []reconcile.Request, err error) []string {
	if err != nil {
		return []string{err.Error()}
	}
	var names []string
	for _, request := range requests {
		names = append(names, request.Name)
	}
	slices.Sort(names)
	return names
}

// What the cache keeps of a pod is what is read of it, and no more.
func TestCachedPodsAreSlim(t *testing.T) {
	field := &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.annotations['a']"}}
	downward := []corev1.DownwardAPIVolumeFile{{Path: "a", FieldRef: field.FieldRef}}
	pod := bedPod("pod-uid", true)
	pod.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "m"}}
	pod.Spec.Containers = []corev1.Container{{
		Name: "c", Image: "image", Command: []string{"long"},
		Env: []corev1.EnvVar{{Name: "SECRET", Value: "s"}, {Name: "A", ValueFrom: field}},
	}}
	pod.Spec.Volumes = []corev1.Volume{
		{Name: "secret", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s"}}},
		{Name: "plain", VolumeSource: corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: downward}}},
		{Name: "mixed", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
			{Secret: &corev1.SecretProjection{}}, {DownwardAPI: &corev1.DownwardAPIProjection{Items: downward}},
		}}}},
	}
	options := cacheOptions()
	for kind, by := range options.ByObject {
		if _, ok := kind.(*corev1.Pod); !ok {
			continue
		}
		if _, err := by.Transform(pod); err != nil {
			t.Fatal(err)
		}
	}
	c := pod.Spec.Containers[0]
	if pod.ManagedFields != nil || c.Image != "" || c.Command != nil || len(c.Env) != 1 || c.Env[0].Name != "A" {
		t.Errorf("kept %+v", c)
	}
	if len(pod.Spec.Volumes) != 2 || len(pod.Spec.Volumes[1].Projected.Sources) != 1 {
		t.Errorf("kept volumes %+v", pod.Spec.Volumes)
	}
	if pod.Spec.NodeName != "node" || len(pod.Status.Conditions) != 1 || pod.Status.ContainerStatuses[0].RestartCount != 1 {
		t.Errorf("lost what presence reads: %+v", pod.Status)
	}
	if pod.OwnerReferences[0].Name != "w" {
		t.Error("lost its owner")
	}
}
