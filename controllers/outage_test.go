package controllers

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/test/player"
	"github.com/rollcall-dev/rollcall/test/proxy"
)

// outageBed has a group of processes, and a way to take the API server away from them and from the manager.
type outageBed struct {
	*processes
	admin  client.Client
	group  *v1alpha1.ConsumerGroup
	ways   []*proxy.Proxy
	config *rest.Config // the manager's way
}

func newOutageBed(t *testing.T) *outageBed {
	t.Helper()
	admin, namespace := onCluster(t)
	b := &outageBed{admin: admin, group: sessionGroup(namespace, 6)}
	mustCreate(t, admin, b.group)
	b.config = b.way(t, managerConfig(t))
	b.processes = &processes{T: t, client: clientFor(t, b.way(t, testCluster.Config())), namespace: namespace}
	return b
}

func (b *outageBed) way(t *testing.T, config *rest.Config) *rest.Config {
	t.Helper()
	p, err := proxy.Start(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Stop() })
	b.ways = append(b.ways, p)
	return p.Config()
}

func (b *outageBed) startManager(change ...func(*Options)) *runningManager {
	b.Helper()
	return startManagerBy(b.T, b.config, func(next http.RoundTripper) http.RoundTripper { return next }, change...)
}

// outage takes the API server away for everybody.
func (b *outageBed) outage(d time.Duration) {
	for _, way := range b.ways {
		way.Cut()
	}
	<-time.After(d)
	for _, way := range b.ways {
		way.Mend()
	}
}

// neverDead fails if one of these members is seen Dead or deleted until the returned function is called. It looks past the
// outage.
func (b *outageBed) neverDead(living ...*player.Process) (stop func()) {
	ctx, cancel := context.WithCancel(b.Context())
	var watching sync.WaitGroup
	watching.Go(func() {
		ticker := time.NewTicker(50 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			for _, process := range living {
				member := &v1alpha1.GroupMember{}
				err := b.admin.Get(ctx, process.Object(), member)
				if IsNotFound(err) || err == nil && member.Status.State == v1alpha1.MemberDead {
					b.Errorf("%s is declared dead", process.Object().Name)
					return
				}
			}
		}
	})
	return func() { cancel(); watching.Wait() }
}

// The API server is away for everybody for three sessions. Who was overdue before is dead, nobody else.
func TestNobodyDiesOfAnOutage(t *testing.T) {
	b := newOutageBed(t)
	m := b.startManager(func(o *Options) { o.LeaderElect = false })
	b.survivesAnOutage(func() { b.outage(3 * testSession) })
	if err := m.quietFor(0); err != nil {
		t.Error(err)
	}
}

// A manager that may lose its leadership ends in such an outage, and another begins when it is over.
func TestNobodyDiesOfAnOutageThatEndsTheManager(t *testing.T) {
	b := newOutageBed(t)
	m := b.startManager(func(o *Options) {
		o.LeaseDuration, o.RenewDeadline, o.RetryPeriod = 6*time.Second, 4*time.Second, time.Second
	})
	b.survivesAnOutage(func() {
		b.outage(3 * testSession)
		if err := m.ended(t); err == nil {
			t.Error("a manager that has lost its lease ends without a word")
		}
		m.err = nil // That is how it is to end.
		b.startManager()
	})
}

func (b *outageBed) survivesAnOutage(outage func()) {
	key := client.ObjectKeyFromObject(b.group)
	first, second, lost := b.join("first", "h1"), b.join("second", "h2"), b.join("lost", "h3")
	before := groupIs(b.T, b.admin, key, 3)
	for _, process := range []*player.Process{first, second, lost} {
		b.works(process, 2)
	}
	lost.Silence()
	b.is(lost, v1alpha1.MemberUnavailable)
	stop := b.neverDead(first, second)
	outage()
	b.is(lost, v1alpha1.MemberDead)
	after := groupIs(b.T, b.admin, key, 2)
	b.works(first, 3)
	b.works(second, 3)
	if after.Status.Generation != before.Status.Generation+1 {
		b.Errorf("the outage and one death cost %d generations", after.Status.Generation-before.Status.Generation)
	}
	// The living go on living for longer than a session.
	<-time.After(testSession * 3 / 2)
	stop()
	for _, process := range []*player.Process{first, second} {
		if member := b.is(process, v1alpha1.MemberActive); process.Err() != nil || member.Status.MemberID != process.MemberID() {
			b.Error(fmt.Errorf("%s: %w", process.Object().Name, process.Err()))
		}
	}
}
