// Package player plays processes that register themselves, for tests on a real API server: each joins a group by a
// GroupMember, renews a Lease, reads its own member and acknowledges what was taken from it. It does what docs/self-registered.md
// asks of a process, and shows what such a process would see.
package player

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/presence"
)

const (
	// look is how often a process reads its member.
	look = 200 * time.Millisecond
	// requestTimeout bounds each request: an API server that hangs must not hold up the next heartbeat.
	requestTimeout = 2 * time.Second
)

// ErrFenced: another incarnation has the name.
var ErrFenced = errors.New("another incarnation has the name")

// Spec is what a process is started with.
type Spec struct {
	Namespace, Group string
	// Name is its static name; empty: dynamic.
	Name string
	// Host it says that it runs on.
	Host string
	// Session timeout that it goes by, and asks for unless it is the group's.
	Session time.Duration
	// Own: it asks for its session timeout itself.
	Own bool
	// Silent: it never renews by itself.
	Silent bool
}

// Process is one start of a process.
type Process struct {
	Spec
	client      client.Client
	incarnation string
	object      types.NamespacedName
	uid         types.UID

	mu       sync.Mutex
	lease    *coordinationv1.Lease
	member   *v1alpha1.GroupMember
	silenced bool
	err      error

	stop  context.CancelFunc
	ended chan struct{}
}

// Join starts a process: it registers, or takes its name over, and then renews and reads until ctx ends or it is fenced.
func Join(ctx context.Context, c client.Client, spec Spec) (*Process, error) {
	p := &Process{Spec: spec, client: c, incarnation: string(uuid.NewUUID()), silenced: spec.Silent, ended: make(chan struct{})}
	p.object = types.NamespacedName{Namespace: spec.Namespace, Name: presence.StaticObjectName(spec.Group, spec.Name)}
	if spec.Name == "" {
		p.object.Name = presence.DynamicObjectName(spec.Group, "process", p.incarnation)
	}
	if err := p.join(ctx); err != nil {
		return nil, fmt.Errorf("join %s as %s: %w", spec.Group, p.object.Name, err)
	}
	ctx, p.stop = context.WithCancel(ctx)
	go p.live(ctx)
	return p, nil
}

// MemberID is "<member or object name>-<incarnation>".
func (p *Process) MemberID() string {
	if p.Name == "" {
		return p.object.Name + "-" + p.incarnation
	}
	return p.Name + "-" + p.incarnation
}

// Object is the key of its GroupMember and Lease.
func (p *Process) Object() types.NamespacedName { return p.object }

// Err is why it has ended by itself; nil while it lives.
func (p *Process) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// Works is what it has last read that it may work on, by topic and partition, with the tokens.
func (p *Process) Works() map[string]int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	works := map[string]int64{}
	if p.err != nil || p.member == nil || p.member.Status.MemberID != p.MemberID() || p.member.Status.Assignment == nil {
		return works
	}
	for _, entry := range p.member.Status.Assignment.TopicPartitions {
		for _, partition := range entry.Partitions {
			works[fmt.Sprintf("%s:%d", entry.Topic, partition)] = entry.Token
		}
	}
	return works
}

// Silence stops its heartbeats, and nothing else; Speak lets it go on.
func (p *Process) Silence() { p.setSilenced(true) }

// Speak lets it renew again.
func (p *Process) Speak() { p.setSilenced(false) }

func (p *Process) setSilenced(silenced bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.silenced = silenced
}

// Kill ends it without a word.
func (p *Process) Kill() {
	p.stop()
	<-p.ended
}

// Close stops work, says so, and releases the Lease: the name is kept.
func (p *Process) Close(ctx context.Context) error {
	p.Kill()
	if err := p.acknowledge(ctx, true); err != nil {
		return err
	}
	nobody := ""
	return p.update(ctx, func(lease *coordinationv1.Lease) { lease.Spec.HolderIdentity = &nobody })
}

// Leave stops work, says so, and deletes the member.
func (p *Process) Leave(ctx context.Context) error {
	p.Kill()
	if err := p.acknowledge(ctx, true); err != nil {
		return err
	}
	uid := p.uid
	member := &v1alpha1.GroupMember{ObjectMeta: metav1.ObjectMeta{Namespace: p.object.Namespace, Name: p.object.Name}}
	return p.client.Delete(ctx, member, client.Preconditions{UID: &uid})
}

// live renews every third of the session and reads in between. What fails is tried again soon.
func (p *Process) live(ctx context.Context) {
	defer close(p.ended)
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	renewed := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if time.Since(renewed) >= p.Session/3 && !p.isSilenced() {
			if err := p.Renew(ctx); err == nil {
				renewed = time.Now()
			}
		}
		if err := p.read(ctx); errors.Is(err, ErrFenced) {
			p.fenced()
		}
		if p.Err() != nil {
			return
		}
	}
}

func (p *Process) isSilenced() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.silenced
}

func (p *Process) fenced() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err = ErrFenced
}

// read looks at its own member, and acknowledges what was taken from it.
func (p *Process) read(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	member := &v1alpha1.GroupMember{}
	if err := p.client.Get(ctx, p.object, member); err != nil {
		if apierrors.IsNotFound(err) {
			return ErrFenced
		}
		return err
	}
	if member.UID != p.uid || member.Spec.Incarnation != p.incarnation {
		return ErrFenced
	}
	p.mu.Lock()
	p.member = member
	p.mu.Unlock()
	for _, revoked := range member.Status.Revoking {
		said := member.Spec.Acknowledged
		heard := said != nil && said.MemberID == p.MemberID() && said.Revision >= revoked.Revision
		if revoked.MemberID == p.MemberID() && !heard {
			return p.acknowledge(ctx, false)
		}
	}
	return nil
}

// acknowledge says what it has stopped, as of what it has last read.
func (p *Process) acknowledge(ctx context.Context, final bool) error {
	p.mu.Lock()
	revision := int64(0)
	if p.member != nil && p.member.Status.MemberID == p.MemberID() {
		revision = p.member.Status.Revision
	}
	p.mu.Unlock()
	return p.patch(ctx, v1alpha1.Acknowledged{MemberID: p.MemberID(), Revision: revision, Final: final})
}

// patch writes its word, if object and incarnation are still its own.
func (p *Process) patch(ctx context.Context, word v1alpha1.Acknowledged) error {
	patch, err := json.Marshal([]map[string]any{
		{"op": "test", "path": "/metadata/uid", "value": p.uid},
		{"op": "test", "path": "/spec/incarnation", "value": p.incarnation},
		{"op": "add", "path": "/spec/acknowledged", "value": word},
	})
	if err != nil {
		return err
	}
	member := &v1alpha1.GroupMember{ObjectMeta: metav1.ObjectMeta{Namespace: p.object.Namespace, Name: p.object.Name}}
	return p.client.Patch(ctx, member, client.RawPatch(types.JSONPatchType, patch))
}
