package e2e_test

import (
	"context"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/test/cluster"
	"github.com/rollcall-dev/rollcall/test/cluster/audit"
)

// Resources as the audit log names them.
const (
	memberResource = "groupmembers.rollcall.dev"
	podResource    = "pods"
)

// ourWrites are those of the manager in this namespace since a mark, by the audit log.
func (s *sandbox) ourWrites(since cluster.Mark) audit.Writes {
	s.t.Helper()
	writes, err := suite.cluster.Writes(s.t.Context(), since)
	if err != nil {
		s.t.Fatal(err)
	}
	return writes.Where(audit.By(suite.installed.user), func(w audit.Write) bool { return w.Namespace == s.namespace })
}

// lastWrites are the last of everybody in this namespace, for the message of a failed test: its own context may have ended.
func (s *sandbox) lastWrites() string {
	writes, err := suite.cluster.Writes(context.Background(), 0)
	if err != nil {
		return err.Error() + "\n"
	}
	writes = writes.Where(func(w audit.Write) bool { return w.Namespace == s.namespace })
	return writes[max(0, len(writes)-describedVersions):].String()
}

// aboutPod are the writes to a static member and to its pod.
func aboutPod(writes audit.Writes, group, pod string) audit.Writes {
	return writes.Where(func(w audit.Write) bool {
		return audit.To(memberResource)(w) && w.Name == group+"."+pod || audit.To(podResource)(w) && w.Name == pod
	})
}

// recordedWrites counts the manager's writes since a version, by what was recorded: faster to be had than the audit log,
// and enough to choose a moment by.
func (s *sandbox) recordedWrites(since int64) int {
	count := 0
	documents := map[string]string{}
	for _, v := range s.history() {
		pod, isPod := v.object.(*corev1.Pod)
		switch {
		case isPod:
			text := documentsOf(pod)
			if before := documents[string(pod.UID)]; before != text && v.number > since && !v.gone {
				count++
			}
			documents[string(pod.UID)] = text
		case v.number <= since || ofStatefulSet(v):
		default:
			count++
		}
	}
	return count
}

// documentsOf joins all documents that a pod bears.
func documentsOf(pod *corev1.Pod) string {
	text := ""
	for _, key := range slices.Sorted(maps.Keys(pod.Annotations)) {
		if strings.HasPrefix(key, v1alpha1.AssignmentAnnotationPrefix) {
			text += key + pod.Annotations[key]
		}
	}
	return text
}

// ofStatefulSet: StatefulSets have ControllerRevisions of their own.
func ofStatefulSet(v version) bool {
	return kindOf(v.object) == "ControllerRevision" && v.object.GetLabels()[v1alpha1.GroupLabel] == ""
}
