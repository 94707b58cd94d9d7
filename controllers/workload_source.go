package controllers

import (
	"context"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/presence"
)

// workloadSource gives one workload's objects from the cache and, where asked, from the API server.
type workloadSource struct {
	*reader
	key    WorkloadKey
	store  Store
	clock  clock.PassiveClock
	config presence.Config
}

var _ WorkloadSource = (*workloadSource)(nil)

// Snapshot is the newest known state of the workload, its pods, nodes, members and groups.
func (s *workloadSource) Snapshot(ctx context.Context) (presence.Snapshot, error) {
	snapshot := presence.Snapshot{
		Namespace: s.key.Namespace,
		Workload:  presence.Workload{Kind: s.key.Kind, Name: s.key.Name},
		Config:    s.config,
		Now:       now(s.clock),
	}
	steps := []struct {
		what string
		read func(context.Context, *presence.Snapshot) error
	}{
		{"workload", s.readWorkload},
		{"members", s.readMembers},
		{"pods", s.readPods},
		{"nodes", s.readNodes},
		{"groups", s.readGroups},
	}
	for _, step := range steps {
		if err := step.read(ctx, &snapshot); err != nil {
			return snapshot, fmt.Errorf("%s: %w", step.what, err)
		}
	}
	return snapshot, nil
}

func (s *workloadSource) readWorkload(ctx context.Context, snapshot *presence.Snapshot) error {
	return s.workload(snapshot, func(obj client.Object) error { return s.cache.Get(ctx, s.key.NamespacedName, obj, shared) })
}

// workload reads the StatefulSet or Deployment into the snapshot; one that is not there is nil.
func (s *workloadSource) workload(snapshot *presence.Snapshot, get func(client.Object) error) error {
	snapshot.StatefulSet, snapshot.Deployment = nil, nil
	set, deployment := &appsv1.StatefulSet{}, &appsv1.Deployment{}
	switch s.key.Kind {
	case presence.KindStatefulSet:
		if err := get(set); err != nil {
			return client.IgnoreNotFound(err)
		}
		snapshot.StatefulSet = set
	case presence.KindDeployment:
		if err := get(deployment); err != nil {
			return client.IgnoreNotFound(err)
		}
		snapshot.Deployment = deployment
	}
	return nil
}

// readMembers reads the workload's own members and, for their names, those of every group that it names.
func (s *workloadSource) readMembers(ctx context.Context, snapshot *presence.Snapshot) error {
	own, err := s.membersOfWorkload(ctx, s.key)
	if err != nil {
		return err
	}
	isOwn := ofWorkload(s.key)
	snapshot.Members = own
	for _, name := range namedGroups(snapshot) {
		all, err := s.membersOfGroup(ctx, types.NamespacedName{Namespace: s.key.Namespace, Name: name})
		if err != nil {
			return err
		}
		for _, member := range all {
			if !isOwn(member) {
				snapshot.Members = append(snapshot.Members, member)
			}
		}
	}
	return nil
}

// namedGroups are the groups that the workload's annotation names.
func namedGroups(snapshot *presence.Snapshot) []string {
	switch {
	case snapshot.StatefulSet != nil:
		return groupsOf(snapshot.StatefulSet)
	case snapshot.Deployment != nil:
		return groupsOf(snapshot.Deployment)
	}
	return nil
}

func (s *workloadSource) readPods(ctx context.Context, snapshot *presence.Snapshot) error {
	found := map[types.UID]*corev1.Pod{}
	owners, err := s.podOwners(ctx)
	if err != nil {
		return err
	}
	for _, owner := range owners {
		if err := s.collect(ctx, found, podsByOwner, owner); err != nil {
			return err
		}
	}
	if s.key.Kind == presence.KindStatefulSet {
		if err := s.collect(ctx, found, podsByOrphanedSet, s.key.Name); err != nil {
			return err
		}
	}
	for _, member := range snapshot.Members {
		if !ofWorkload(s.key)(member) || found[types.UID(member.Spec.Incarnation)] != nil {
			continue
		}
		if err := s.collect(ctx, found, podsByUID, member.Spec.Incarnation); err != nil {
			return err
		}
	}
	snapshot.Pods = slices.Collect(maps.Values(found))
	return nil
}

// podOwners are the index values of what controls the workload's pods.
func (s *workloadSource) podOwners(ctx context.Context) ([]string, error) {
	if s.key.Kind == presence.KindStatefulSet {
		return []string{ownerValue(s.key.Kind, s.key.Name)}, nil
	}
	sets := replicaSetMetadataList()
	err := s.cache.List(ctx, sets, client.InNamespace(s.key.Namespace), client.MatchingFields{setsByDeployment: s.key.Name}, shared)
	if err != nil {
		return nil, fmt.Errorf("list ReplicaSets: %w", err)
	}
	owners := make([]string, 0, len(sets.Items))
	for i := range sets.Items {
		owners = append(owners, ownerValue("ReplicaSet", sets.Items[i].Name))
	}
	return owners, nil
}

func (s *workloadSource) collect(ctx context.Context, found map[types.UID]*corev1.Pod, index, value string) error {
	pods, err := s.pods(ctx, s.key.Namespace, index, value)
	for _, pod := range pods {
		found[pod.UID] = pod
	}
	return err
}

// readNodes reads the nodes of the pods, and those that the members' pods were on: how a pod that is gone has ended is
// judged by its node.
func (s *workloadSource) readNodes(ctx context.Context, snapshot *presence.Snapshot) error {
	names := map[string]bool{}
	for _, pod := range snapshot.Pods {
		names[pod.Spec.NodeName] = true
	}
	for _, member := range snapshot.Members {
		if ofWorkload(s.key)(member) {
			names[member.Spec.Host] = true
		}
	}
	delete(names, "")
	snapshot.Nodes = map[string]*corev1.Node{}
	for name := range names {
		node := &corev1.Node{}
		err := s.cache.Get(ctx, types.NamespacedName{Name: name}, node, shared)
		if IsNotFound(err) {
			continue
		}
		if err != nil {
			return err
		}
		snapshot.Nodes[name] = node
	}
	return nil
}

func (s *workloadSource) readGroups(ctx context.Context, snapshot *presence.Snapshot) error {
	snapshot.Groups = map[string]*v1alpha1.ConsumerGroup{}
	names := map[string]bool{}
	for _, name := range namedGroups(snapshot) {
		names[name] = true
	}
	for _, member := range snapshot.Members {
		names[member.Spec.Group] = true
	}
	for name := range names {
		group, ok, err := s.group(ctx, types.NamespacedName{Namespace: s.key.Namespace, Name: name})
		if err != nil {
			return err
		}
		if ok {
			snapshot.Groups[name] = group
		}
	}
	return nil
}

// ReadLive reads the workload, groups and nodes past the cache.
func (s *workloadSource) ReadLive(ctx context.Context, snapshot *presence.Snapshot, need presence.Live) error {
	if need.Workload {
		err := s.workload(snapshot, func(obj client.Object) error { return s.store.GetLive(ctx, s.key.NamespacedName, obj) })
		if err != nil {
			return fmt.Errorf("workload: %w", err)
		}
		snapshot.Live.Workload = true
	}
	if err := s.readGroupsLive(ctx, snapshot, need.Groups); err != nil {
		return err
	}
	return s.readNodesLive(ctx, snapshot, need.Nodes)
}

func (s *workloadSource) readGroupsLive(ctx context.Context, snapshot *presence.Snapshot, names map[string]bool) error {
	groups, read := maps.Clone(snapshot.Groups), maps.Clone(snapshot.Live.Groups)
	if read == nil {
		read = map[string]bool{}
	}
	for name := range names {
		live := &v1alpha1.ConsumerGroup{}
		err := s.store.GetLive(ctx, types.NamespacedName{Namespace: s.key.Namespace, Name: name}, live)
		switch {
		case err == nil:
			groups[name] = live
		case IsNotFound(err):
			delete(groups, name)
		default:
			return fmt.Errorf("group %s: %w", name, err)
		}
		read[name] = true
	}
	snapshot.Groups, snapshot.Live.Groups = groups, read
	return nil
}

func (s *workloadSource) readNodesLive(ctx context.Context, snapshot *presence.Snapshot, names map[string]bool) error {
	nodes, read := maps.Clone(snapshot.Nodes), maps.Clone(snapshot.Live.Nodes)
	if read == nil {
		read = map[string]bool{}
	}
	for name := range names {
		live := &corev1.Node{}
		err := s.store.GetLive(ctx, types.NamespacedName{Name: name}, live)
		switch {
		case err == nil:
			nodes[name] = live
		case IsNotFound(err):
			delete(nodes, name)
		default:
			return fmt.Errorf("node %s: %w", name, err)
		}
		read[name] = true
	}
	snapshot.Nodes, snapshot.Live.Nodes = nodes, read
	return nil
}
