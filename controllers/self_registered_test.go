package controllers

import (
	"errors"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/test/player"
)

// processes start processes of one group, with S = 6 s.
type processes struct {
	*testing.T
	client    client.Client
	namespace string
}

const testSession = 6 * time.Second

func (p *processes) join(name, host string) *player.Process {
	p.Helper()
	process, err := player.Join(p.Context(), p.client, player.Spec{
		Namespace: p.namespace, Group: "g", Name: name, Host: host, Session: testSession,
	})
	if err != nil {
		p.Fatal(err)
	}
	return process
}

func (p *processes) member(process *player.Process) (*v1alpha1.GroupMember, error) {
	member := &v1alpha1.GroupMember{}
	return member, p.client.Get(p.Context(), process.Object(), member)
}

// is waits until a member is in a state.
func (p *processes) is(process *player.Process, want v1alpha1.MemberState) *v1alpha1.GroupMember {
	p.Helper()
	var member *v1alpha1.GroupMember
	eventually(p.T, process.Object().Name+" is "+string(want), func() (err error) {
		if member, err = p.member(process); err == nil && member.Status.State != want {
			err = fmt.Errorf("it is %s", member.Status.State)
		}
		return err
	})
	return member
}

// works waits until a process knows that it has so many partitions.
func (p *processes) works(process *player.Process, want int) {
	p.Helper()
	eventually(p.T, process.Object().Name+" works", func() error {
		if got := process.Works(); len(got) != want {
			return fmt.Errorf("on %v, want %d partitions", got, want)
		}
		return nil
	})
}

func sessionGroup(namespace string, partitions int32) *v1alpha1.ConsumerGroup {
	group := testConsumerGroup(namespace, "g", partitions)
	group.Spec.SessionTimeout = lasting(testSession)
	return group
}

func TestProcessesJoinByThemselves(t *testing.T) {
	c, namespace := onCluster(t)
	log := startManager(t)
	group := sessionGroup(namespace, 6)
	key := client.ObjectKeyFromObject(group)
	mustCreate(t, c, group)
	p := &processes{T: t, client: c, namespace: namespace}
	a, b := p.join("a", "h1"), p.join("b", "h2")
	first := groupIs(t, c, key, 2)
	p.works(a, 3)
	p.works(b, 3)
	if first.Status.Generation != 1 {
		t.Errorf("two processes cost %d generations, want 1", first.Status.Generation)
	}

	// A restart under the same name moves nothing.
	before := b.Works()
	b.Kill()
	b = p.join("b", "h2")
	p.works(b, 3)
	for partition, token := range b.Works() {
		if before[partition] == 0 || token <= before[partition] {
			t.Errorf("after a restart %s has token %d, before %d", partition, token, before[partition])
		}
	}

	// Leaving hands over at once.
	if err := b.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.works(a, 6)
	if left := groupIs(t, c, key, 1); left.Status.Generation != 2 {
		t.Errorf("a restart and a leave cost %d generations, want 1", left.Status.Generation-1)
	}

	// Silence ends a session.
	b = p.join("b", "h2")
	p.works(b, 3)
	b.Silence()
	went := time.Now()
	member := p.is(b, v1alpha1.MemberUnavailable)
	if member.Status.Unavailable == nil || len(member.Status.Assignment.TopicPartitions) == 0 {
		t.Errorf("Unavailable with %+v, holding %v", member.Status.Unavailable, member.Status.Assignment)
	}
	p.is(b, v1alpha1.MemberDead)
	if lasted := time.Since(went); lasted < testSession-testSession/3 {
		t.Errorf("a session of %s ended %s after its last heartbeats", testSession, lasted)
	}
	p.works(a, 6)
	eventually(t, "the dead member's object goes", func() error { return gone(t.Context(), c, member) })
	eventually(t, "silence", func() error { return log.quietFor(3 * time.Second) })
}

// reconciles is how often the group reconciler has been called in this process.
func reconciles(t *testing.T) float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	total := 0.0
	for _, family := range families {
		if family.GetName() != "controller_runtime_reconcile_total" {
			continue
		}
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if label.GetName() == "controller" && label.GetValue() == "group" {
					total += metric.GetCounter().GetValue()
				}
			}
		}
	}
	return total
}

func TestRenewalsCauseNoReconcile(t *testing.T) {
	const renewals = 1000
	c, namespace := onCluster(t)
	log := startManager(t)
	group := testConsumerGroup(namespace, "g", 6)
	group.Spec.SessionTimeout = lasting(10 * time.Minute)
	mustCreate(t, c, group)
	var members []*player.Process
	for _, name := range []string{"a", "b", "c", "d"} {
		process, err := player.Join(t.Context(), c, player.Spec{Namespace: namespace, Group: "g", Name: name, Session: 10 * time.Minute, Silent: true})
		if err != nil {
			t.Fatal(err)
		}
		members = append(members, process)
	}
	groupIs(t, c, client.ObjectKeyFromObject(group), 4)
	eventually(t, "silence", func() error { return log.quietFor(2 * time.Second) })
	before, written := reconciles(t), len(log.all())
	for i := range renewals {
		if err := members[i%len(members)].Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	// A release after them reaches the reconciler, so all of them have reached the process.
	if err := members[0].Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	(&processes{T: t, client: c, namespace: namespace}).is(members[0], v1alpha1.MemberUnavailable)
	// The acknowledgement and the release, each with what it writes.
	if caused := reconciles(t) - before; caused < 1 || caused > 8 {
		t.Errorf("%d renewals and a release caused %v reconciles", renewals, caused)
	}
	t.Logf("%d renewals, then a release: %v reconciles, %d writes", renewals, reconciles(t)-before, len(log.all())-written)
}

// Two processes under one name on two hosts: the later has it, and everybody is told.
func TestTwoProcessesUnderOneName(t *testing.T) {
	c, namespace := onCluster(t)
	startManager(t)
	group := sessionGroup(namespace, 4)
	mustCreate(t, c, group)
	p := &processes{T: t, client: c, namespace: namespace}
	first := p.join("a", "h1")
	p.works(first, 4)
	if err := first.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	second := p.join("a", "h2")
	p.works(second, 4)
	unique := func(want metav1.ConditionStatus) func() error {
		return func() error {
			member, err := p.member(second)
			if err != nil {
				return err
			}
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(group), group); err != nil {
				return err
			}
			for _, conditions := range [][]metav1.Condition{member.Status.Conditions, group.Status.Conditions} {
				if got := meta.FindStatusCondition(conditions, v1alpha1.NamesUnique); got == nil || got.Status != want {
					return fmt.Errorf("NamesUnique is %+v", got)
				}
			}
			return nil
		}
	}
	eventually(t, "the names are not unique", unique(metav1.ConditionFalse))
	eventually(t, "the former process is fenced", func() error {
		if !errors.Is(first.Err(), player.ErrFenced) {
			return errors.New("it still believes in itself")
		}
		return nil
	})
	eventually(t, "the names are unique again", unique(metav1.ConditionTrue))
	if group.Status.Generation != 1 {
		t.Errorf("the takeover cost %d generations", group.Status.Generation-1)
	}
}

// A fresh coordinator gives a full session, except to who is written down as overdue.
func TestANewManagerGivesAFullSession(t *testing.T) {
	c, namespace := onCluster(t)
	group := sessionGroup(namespace, 4)
	key := client.ObjectKeyFromObject(group)
	mustCreate(t, c, group)
	p := &processes{T: t, client: c, namespace: namespace}
	var overdue, silent *player.Process
	t.Run("first", func(t *testing.T) {
		startManager(t)
		overdue, silent = p.join("overdue", "h1"), p.join("silent", "h2")
		groupIs(t, c, key, 2)
		overdue.Silence()
		p.is(overdue, v1alpha1.MemberUnavailable)
	})
	silent.Silence()
	began := time.Now()
	m := startManager(t)
	m.leads(t)
	led := time.Now()
	dead := p.is(overdue, v1alpha1.MemberDead)
	since := dead.Status.Left.Time.Time
	if member, err := p.member(silent); err != nil || member.Status.State != v1alpha1.MemberActive && since.Before(led.Add(testSession/3)) {
		t.Errorf("who is not written down as overdue is %s (%v)", member.Status.State, err)
	}
	dead = p.is(silent, v1alpha1.MemberDead)
	if lasted := dead.Status.Left.Time.Sub(began); lasted < testSession {
		t.Errorf("after the start a session of %s lasted %s", testSession, lasted)
	}
}
