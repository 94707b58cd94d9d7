package controllers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/coordinator"
)

// wholePlans is how many plans of a group Decide wants whole: the one in force and the one it followed.
const wholePlans = 2

// plansOf are the plans that belong to this life of the group, newest first.
func plansOf(group *v1alpha1.ConsumerGroup, all []*appsv1.ControllerRevision) []*appsv1.ControllerRevision {
	own := slices.DeleteFunc(slices.Clone(all), func(plan *appsv1.ControllerRevision) bool {
		return !metav1.IsControlledBy(plan, group)
	})
	slices.SortFunc(own, func(a, b *appsv1.ControllerRevision) int { return cmp.Compare(b.Revision, a.Revision) })
	return own
}

// planLibrary keeps the newest plans of each group parsed, by UID. A plan never changes.
type planLibrary struct {
	store  Store
	memory *Memory

	mu      sync.Mutex
	content map[types.NamespacedName]map[types.UID]*coordinator.PlanContent
}

// read gives a group's plans for a snapshot: the newest two whole, read live where the cache has dropped their data. One
// that turns out to be gone is left out, and its place taken by the next.
func (l *planLibrary) read(
	ctx context.Context, group types.NamespacedName, revisions []*appsv1.ControllerRevision,
) ([]*coordinator.Plan, error) {
	kept := map[types.UID]*coordinator.PlanContent{}
	var plans []*coordinator.Plan
	for _, revision := range revisions {
		if len(kept) == wholePlans {
			plans = append(plans, &coordinator.Plan{Revision: revision})
			continue
		}
		content, err := l.whole(ctx, group, revision)
		if err != nil {
			return nil, err
		}
		if content != nil {
			kept[revision.UID] = content
			plans = append(plans, &coordinator.Plan{Revision: revision, Content: content})
		}
	}
	l.keep(group, kept)
	return plans, nil
}

// whole is what a plan says, or nil when it is gone.
func (l *planLibrary) whole(
	ctx context.Context, group types.NamespacedName, revision *appsv1.ControllerRevision,
) (*coordinator.PlanContent, error) {
	if content := l.known(group, revision.UID); content != nil {
		return content, nil
	}
	if len(revision.Data.Raw) == 0 {
		live := &appsv1.ControllerRevision{}
		err := l.store.GetLive(ctx, KeyOf(revision).NamespacedName, live)
		if IsNotFound(err) || err == nil && live.UID != revision.UID {
			l.memory.noteGone(revision)
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("plan %s: %w", revision.Name, err)
		}
		revision = live
	}
	return coordinator.ParsePlan(revision)
}

func (l *planLibrary) known(group types.NamespacedName, uid types.UID) *coordinator.PlanContent {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.content[group][uid]
}

func (l *planLibrary) keep(group types.NamespacedName, content map[types.UID]*coordinator.PlanContent) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(content) == 0 {
		delete(l.content, group)
		return
	}
	if l.content == nil {
		l.content = map[types.NamespacedName]map[types.UID]*coordinator.PlanContent{}
	}
	l.content[group] = content
}
