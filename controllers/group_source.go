package controllers

import (
	"context"
	"fmt"
	"maps"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/coordinator"
	"github.com/rollcall-dev/rollcall/presence"
)

// groupSource gives one group's objects from the cache and, where asked, from the API server.
type groupSource struct {
	*reader
	group   types.NamespacedName
	store   Store
	library *planLibrary
	clock   clock.PassiveClock
	config  coordinator.Config
	// workloadConfig is presence's, for what it would say of a pod's name.
	workloadConfig presence.Config
	term           *Term
	presence       *livePresence
	sessions       *Sessions
}

var _ Source = (*groupSource)(nil)

// Snapshot is the newest known state of the group.
func (s *groupSource) Snapshot(ctx context.Context) (coordinator.Snapshot, error) {
	snapshot := coordinator.Snapshot{Config: s.config, Term: s.term.Next(), Now: now(s.clock)}
	members, err := s.membersOfGroup(ctx, s.group)
	if err != nil {
		return snapshot, fmt.Errorf("members: %w", err)
	}
	snapshot.Members = members
	snapshot.Group, err = s.existingGroup(ctx, members)
	if err != nil || snapshot.Group == nil {
		return snapshot, err
	}
	revisions, err := s.plans(ctx, snapshot.Group)
	if err != nil {
		return snapshot, fmt.Errorf("plans: %w", err)
	}
	if snapshot.Plans, err = s.library.read(ctx, s.group, revisions); err != nil {
		return snapshot, err
	}
	snapshot.LastSeen = s.sessions.Of(ctx, members)
	if snapshot.Rivals, err = s.rivals(ctx, members); err != nil {
		return snapshot, err
	}
	snapshot.Declared, err = s.declared(ctx)
	return snapshot, err
}

// existingGroup is the group, or nil. That it is gone lets go of its members, so where one waits for that the cache's word
// is not enough.
func (s *groupSource) existingGroup(ctx context.Context, members []*v1alpha1.GroupMember) (*v1alpha1.ConsumerGroup, error) {
	group, ok, err := s.reader.group(ctx, s.group)
	if err != nil || ok {
		return group, err
	}
	s.library.keep(s.group, nil)
	if waiting := coordinator.Decide(coordinator.Snapshot{Members: members}); len(waiting.Batches) == 0 {
		return nil, nil
	}
	live := &v1alpha1.ConsumerGroup{}
	if err := s.store.GetLive(ctx, s.group, live); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return live, nil
}

// declared are the replicas of the workloads that name the group.
func (s *groupSource) declared(ctx context.Context) (map[coordinator.Workload]int32, error) {
	declared := map[coordinator.Workload]int32{}
	sets, err := s.statefulSets(ctx, s.group)
	if err != nil {
		return nil, fmt.Errorf("list StatefulSets: %w", err)
	}
	for i := range sets {
		if sets[i].DeletionTimestamp == nil {
			declared[coordinator.Workload{Kind: presence.KindStatefulSet, Name: sets[i].Name}] = ptr.Deref(sets[i].Spec.Replicas, 1)
		}
	}
	deployments, err := s.deployments(ctx, s.group)
	if err != nil {
		return nil, fmt.Errorf("list Deployments: %w", err)
	}
	for i := range deployments {
		if deployments[i].DeletionTimestamp == nil {
			declared[coordinator.Workload{Kind: presence.KindDeployment, Name: deployments[i].Name}] = ptr.Deref(deployments[i].Spec.Replicas, 1)
		}
	}
	return declared, nil
}

// ReadLive reads plans and members past the cache.
func (s *groupSource) ReadLive(ctx context.Context, snapshot *coordinator.Snapshot, need coordinator.Live) error {
	if need.Plans {
		if err := s.readPlans(ctx, snapshot); err != nil {
			return err
		}
	}
	read := maps.Clone(snapshot.Live.Members)
	if read == nil {
		read = map[string]bool{}
	}
	members := make([]*v1alpha1.GroupMember, 0, len(snapshot.Members))
	for _, member := range snapshot.Members {
		if need.Members[member.Name] {
			live, err := s.readMember(ctx, member)
			if err != nil {
				return fmt.Errorf("member %s: %w", member.Name, err)
			}
			read[member.Name] = true
			if member = live; member == nil {
				continue
			}
		}
		members = append(members, member)
	}
	snapshot.Members, snapshot.Live.Members = members, read
	snapshot.Now = now(s.clock)
	snapshot.LastSeen = s.sessions.Of(ctx, members)
	return nil
}

func (s *groupSource) readPlans(ctx context.Context, snapshot *coordinator.Snapshot) error {
	revisions, err := s.store.ListPlansLive(ctx, s.group)
	if err != nil {
		return fmt.Errorf("plans: %w", err)
	}
	snapshot.Plans, err = s.library.read(ctx, s.group, plansOf(snapshot.Group, revisions))
	snapshot.Live.Plans = true
	return err
}

// readMember is the member as it is now, nil when it is gone. A workload member's presence is what its pod shows now: the
// workload controller may not have written yet that it is back. A self-registered member's heartbeat is read, too.
func (s *groupSource) readMember(ctx context.Context, member *v1alpha1.GroupMember) (*v1alpha1.GroupMember, error) {
	live := &v1alpha1.GroupMember{}
	err := s.store.GetLive(ctx, client.ObjectKeyFromObject(member), live)
	if IsNotFound(err) {
		s.memory.noteGone(member)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s.memory.noteStored(live, false)
	switch {
	case live.Spec.Workload == nil:
		return live, s.readHeartbeat(ctx, live)
	case live.Spec.Presence == nil:
		return live, nil
	}
	return s.presence.present(ctx, live)
}

// readHeartbeat lets the sessions see the member's Lease as it is now: a renewal may not have reached the cache yet.
func (s *groupSource) readHeartbeat(ctx context.Context, member *v1alpha1.GroupMember) error {
	lease := &coordinationv1.Lease{}
	if err := s.store.GetLive(ctx, client.ObjectKeyFromObject(member), lease); err != nil {
		if IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("its Lease: %w", err)
	}
	s.sessions.Observe(ctx, lease)
	return nil
}

// now is the present instant as all objects have it: in microseconds.
func now(c clock.PassiveClock) time.Time { return c.Now().Truncate(time.Microsecond).UTC() }
