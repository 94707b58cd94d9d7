package controllers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

func TestPodsOfAnAnnotatedSetShareThePartitions(t *testing.T) {
	c, namespace := onCluster(t)
	log := startManager(t)
	group, set := testConsumerGroup(namespace, "g", 12), testStatefulSet(namespace, "g", 3)
	mustCreate(t, c, group, set)
	key := client.ObjectKeyFromObject(group)
	stable := groupIs(t, c, key, 3)
	if stable.Status.Generation != 1 {
		t.Errorf("three pods cost %d generations, want 1", stable.Status.Generation)
	}
	eventually(t, "documents", func() error { return documentsTell(t.Context(), c, namespace, "g", 3) })

	scale(t, c, set, 4)
	grown := groupIs(t, c, key, 4)
	if grown.Status.LastRebalance.Moved != 3 || grown.Status.Generation != 2 {
		t.Errorf("a fourth pod moved %d partitions in generation %d, want 3 in 2", grown.Status.LastRebalance.Moved, grown.Status.Generation)
	}
	scale(t, c, set, 3)
	groupIs(t, c, key, 3)

	eventually(t, "silence", func() error { return log.quietFor(3 * time.Second) })
	before := len(log.all())
	touchEverything(t, c, namespace)
	eventually(t, "the writes of this test are seen", func() error { return log.quietFor(3 * time.Second) })
	if after := log.all()[before:]; len(after) != 0 {
		t.Errorf("reconciles with nothing to do wrote %v", after)
	}

	if err := c.Delete(t.Context(), group); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the group ends", func() error { return gone(t.Context(), c, group) })
	eventually(t, "its members end", func() error { return none(t.Context(), c, namespace, &v1alpha1.GroupMemberList{}) })
	eventually(t, "the documents go", func() error { return documentsTell(t.Context(), c, namespace, "g", 0) })
}

func TestANewManagerFindsEverythingDone(t *testing.T) {
	c, namespace := onCluster(t)
	group, set := testConsumerGroup(namespace, "g", 12), testStatefulSet(namespace, "g", 3)
	mustCreate(t, c, group, set)
	t.Run("first", func(t *testing.T) {
		log := startManager(t)
		groupIs(t, c, client.ObjectKeyFromObject(group), 3)
		eventually(t, "silence", func() error { return log.quietFor(2 * time.Second) })
	})
	log := startManager(t)
	log.leads(t)
	touchEverything(t, c, namespace)
	eventually(t, "silence", func() error { return log.quietFor(2 * time.Second) })
	if sent := log.all(); len(sent) != 0 {
		t.Errorf("a new manager wrote %v", sent)
	}
}

func TestANamespaceWithEverythingEnds(t *testing.T) {
	c, namespace := onCluster(t)
	startManager(t)
	group, set := testConsumerGroup(namespace, "g", 12), testStatefulSet(namespace, "g", 3)
	mustCreate(t, c, group, set)
	groupIs(t, c, client.ObjectKeyFromObject(group), 3)
	if err := c.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the namespace ends", func() error {
		return gone(t.Context(), c, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	})
}

// A member whose group went without it, while nobody was there to see, is let go.
func TestLeftoversOfAGroupAreLetGo(t *testing.T) {
	c, namespace := onCluster(t)
	member := clusterMember(namespace)
	member.Finalizers = []string{v1alpha1.HandoverFinalizer}
	mustCreate(t, c, member)
	startManager(t)
	if err := c.Delete(t.Context(), member); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the member ends", func() error { return gone(t.Context(), c, member) })
}

// What a person got wrong is said where that person looks.
func TestTroubleIsTold(t *testing.T) {
	c, namespace := onCluster(t)
	startManager(t)
	short := testConsumerGroup(namespace, "short", 4)
	short.Spec.SessionTimeout = lasting(100 * time.Millisecond)
	lost := testStatefulSet(namespace, "nowhere", 1)
	static := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "d", Annotations: map[string]string{
			v1alpha1.GroupAnnotation: "short", v1alpha1.MembershipAnnotation: v1alpha1.MembershipStatic,
		}},
		Spec: appsv1.DeploymentSpec{Selector: lost.Spec.Selector, Template: lost.Spec.Template},
	}
	mustCreate(t, c, short, lost, static)
	eventually(t, "the group's condition", func() error {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(short), short); err != nil {
			return err
		}
		ready := meta.FindStatusCondition(short.Status.Conditions, v1alpha1.GroupReady)
		if ready == nil || ready.Status != metav1.ConditionFalse || ready.Reason != v1alpha1.ReasonInvalidSessionTimeout {
			return fmt.Errorf("Ready is %+v", ready)
		}
		return nil
	})
	for name, kind := range map[string]string{"w": "StatefulSet", "d": "Deployment"} {
		eventually(t, "an event about "+kind, func() error {
			var events eventsv1.EventList
			if err := c.List(t.Context(), &events, client.InNamespace(namespace)); err != nil {
				return err
			}
			for _, event := range events.Items {
				if event.Regarding.Kind == kind && event.Regarding.Name == name && event.Type == corev1.EventTypeWarning && strings.HasPrefix(event.ReportingController, "rollcall") {
					return nil
				}
			}
			return fmt.Errorf("none among %d", len(events.Items))
		})
	}
}

func TestARollMovesNothing(t *testing.T) {
	c, namespace := onCluster(t)
	log := startManager(t)
	group, set := testConsumerGroup(namespace, "g", 12), testStatefulSet(namespace, "g", 3)
	mustCreate(t, c, group, set)
	key := client.ObjectKeyFromObject(group)
	before := groupIs(t, c, key, 3)
	eventually(t, "documents", func() error { return documentsTell(t.Context(), c, namespace, "g", 3) })
	eventually(t, "silence", func() error { return log.quietFor(3 * time.Second) })
	sent := len(log.all())

	restart := `{"spec":{"template":{"metadata":{"annotations":{"example.com/restarted":"now"}}}}}`
	if err := c.Patch(t.Context(), set, mergePatch(restart)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the roll", func() error {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(set), set); err != nil {
			return err
		}
		if s := set.Status; s.ObservedGeneration != set.Generation || s.UpdatedReplicas != 3 || s.ReadyReplicas != 3 || s.CurrentRevision != s.UpdateRevision {
			return fmt.Errorf("updated %d, ready %d", s.UpdatedReplicas, s.ReadyReplicas)
		}
		return nil
	})
	eventually(t, "documents", func() error { return documentsTell(t.Context(), c, namespace, "g", 3) })
	eventually(t, "silence", func() error { return log.quietFor(3 * time.Second) })
	after := groupIs(t, c, key, 3)
	if after.Status.Generation != before.Status.Generation || after.ResourceVersion != before.ResourceVersion {
		t.Errorf("the roll wrote the group: generation %d, then %d", before.Status.Generation, after.Status.Generation)
	}
	if writes := log.all()[sent:]; len(writes) > 3*4 {
		t.Errorf("the roll of 3 pods cost %d writes, want at most 4 a pod:\n%s", len(writes), strings.Join(writes, "\n"))
	} else {
		t.Logf("%d writes:\n%s", len(writes), strings.Join(writes, "\n"))
	}
}
