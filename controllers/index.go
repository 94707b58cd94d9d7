package controllers

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/presence"
)

// Names of the cache's indexes. With them no event scans all objects of a kind.
const (
	membersByGroup       = "group"
	membersByWorkload    = "workload"
	membersByIncarnation = "incarnation"
	podsByUID            = "uid"
	podsByOwner          = "owner"
	podsByOrphanedSet    = "orphanedSet"
	podsByNode           = "node"
	setsByDeployment     = "deployment"
	workloadsByGroup     = "group"
)

// replicaSetMetadata is what is cached of ReplicaSets: they only lead from a pod to its Deployment.
func replicaSetMetadata() *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "ReplicaSet"}}
}

func replicaSetMetadataList() *metav1.PartialObjectMetadataList {
	return &metav1.PartialObjectMetadataList{
		TypeMeta: metav1.TypeMeta{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "ReplicaSetList"},
	}
}

// addIndexes builds all indexes; it must be called before the cache starts.
func addIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	indexes := []struct {
		object client.Object
		name   string
		values func(client.Object) []string
	}{
		{&v1alpha1.GroupMember{}, membersByGroup, indexed(func(m *v1alpha1.GroupMember) []string { return []string{m.Spec.Group} })},
		{&v1alpha1.GroupMember{}, membersByWorkload, indexed(memberWorkload)},
		{&v1alpha1.GroupMember{}, membersByIncarnation, indexed(func(m *v1alpha1.GroupMember) []string { return []string{m.Spec.Incarnation} })},
		{&corev1.Pod{}, podsByUID, indexed(func(p *corev1.Pod) []string { return []string{string(p.UID)} })},
		{&corev1.Pod{}, podsByOwner, indexed(podOwner)},
		{&corev1.Pod{}, podsByOrphanedSet, indexed(orphanedSet)},
		{&corev1.Pod{}, podsByNode, indexed(podNode)},
		{replicaSetMetadata(), setsByDeployment, indexed(deploymentOf)},
		{&appsv1.StatefulSet{}, workloadsByGroup, func(o client.Object) []string { return groupsOf(o) }},
		{&appsv1.Deployment{}, workloadsByGroup, func(o client.Object) []string { return groupsOf(o) }},
	}
	for _, i := range indexes {
		if err := indexer.IndexField(ctx, i.object, i.name, i.values); err != nil {
			return fmt.Errorf("index %s of %T: %w", i.name, i.object, err)
		}
	}
	return nil
}

func indexed[T client.Object](values func(T) []string) func(client.Object) []string {
	return func(obj client.Object) []string {
		if typed, ok := obj.(T); ok {
			return values(typed)
		}
		return nil
	}
}

// ownerValue is the index value of an owner.
func ownerValue(kind, name string) string { return kind + "/" + name }

func memberWorkload(member *v1alpha1.GroupMember) []string {
	key, ok := workloadOf(member)
	if !ok {
		return nil
	}
	return []string{ownerValue(key.Kind, key.Name)}
}

func podOwner(pod *corev1.Pod) []string {
	if owner := metav1.GetControllerOf(pod); owner != nil {
		return []string{ownerValue(owner.Kind, owner.Name)}
	}
	return nil
}

// orphanedSet is the StatefulSet that a pod without a controller would belong to by its name: NAME-<ordinal>.
func orphanedSet(pod *corev1.Pod) []string {
	if metav1.GetControllerOf(pod) != nil {
		return nil
	}
	cut := strings.LastIndexByte(pod.Name, '-')
	if cut <= 0 {
		return nil
	}
	if _, err := strconv.ParseUint(pod.Name[cut+1:], 10, 31); err != nil {
		return nil
	}
	return []string{pod.Name[:cut]}
}

func podNode(pod *corev1.Pod) []string {
	if pod.Spec.NodeName == "" {
		return nil
	}
	return []string{pod.Spec.NodeName}
}

func deploymentOf(set *metav1.PartialObjectMetadata) []string {
	if owner := metav1.GetControllerOf(set); owner != nil && owner.Kind == presence.KindDeployment {
		return []string{owner.Name}
	}
	return nil
}

// groupsOf are the groups that a workload's annotation names.
func groupsOf(workload metav1.Object) []string {
	var groups []string
	for name := range strings.SplitSeq(workload.GetAnnotations()[v1alpha1.GroupAnnotation], ",") {
		if name = strings.TrimSpace(name); name != "" {
			groups = append(groups, name)
		}
	}
	return groups
}
