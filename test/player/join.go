package player

import (
	"context"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// joinTimeout bounds the wait for a former object of the name to go.
const joinTimeout = time.Minute

// join registers the process. An object of its name that is being deleted is waited for; one that stays is taken over.
func (p *Process) join(ctx context.Context) error {
	return wait.PollUntilContextTimeout(ctx, look, joinTimeout, true, func(ctx context.Context) (bool, error) {
		stored := &v1alpha1.GroupMember{}
		err := p.client.Get(ctx, p.object, stored)
		switch {
		case apierrors.IsNotFound(err):
			err = p.register(ctx)
		case err != nil:
		case stored.DeletionTimestamp != nil:
			return false, nil
		default:
			err = p.takeOver(ctx, stored)
		}
		if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
			return false, nil // Somebody was faster: it is looked at again.
		}
		return err == nil, err
	})
}

// register creates the member, and then the Lease that belongs to it.
func (p *Process) register(ctx context.Context) error {
	member := &v1alpha1.GroupMember{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: p.object.Namespace, Name: p.object.Name,
			Labels: map[string]string{v1alpha1.GroupLabel: p.Group}, Finalizers: []string{v1alpha1.HandoverFinalizer},
		},
		Spec: v1alpha1.GroupMemberSpec{Group: p.Group, MemberName: p.Name, Acknowledgement: v1alpha1.AcknowledgeExplicit},
	}
	p.describe(member)
	if err := p.client.Create(ctx, member); err != nil {
		return err
	}
	p.uid = member.UID
	return p.takeLease(ctx)
}

// takeOver takes the Lease first: from then on the process before can renew nothing.
func (p *Process) takeOver(ctx context.Context, stored *v1alpha1.GroupMember) error {
	p.uid = stored.UID
	if err := p.takeLease(ctx); err != nil {
		return err
	}
	p.describe(stored)
	return p.client.Update(ctx, stored)
}

// describe fills in what only a join sets.
func (p *Process) describe(member *v1alpha1.GroupMember) {
	member.Spec.Incarnation, member.Spec.Host = p.incarnation, p.Host
	if p.Own {
		member.Spec.SessionTimeout = &metav1.Duration{Duration: p.Session}
	}
}

// takeLease makes it the holder of the Lease of its name, whoever held it.
func (p *Process) takeLease(ctx context.Context) error {
	lease := &coordinationv1.Lease{}
	err := p.client.Get(ctx, p.object, lease)
	found := err == nil
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	if !found {
		lease.Namespace, lease.Name = p.object.Namespace, p.object.Name
	}
	lease.Labels = map[string]string{v1alpha1.GroupLabel: p.Group}
	lease.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: v1alpha1.GroupVersion.String(), Kind: "GroupMember", Name: p.object.Name, UID: p.uid,
	}}
	p.fill(lease)
	lease.Spec.AcquireTime = lease.Spec.RenewTime
	if found {
		err = p.client.Update(ctx, lease)
	} else {
		err = p.client.Create(ctx, lease)
	}
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lease = lease
	return nil
}

// fill writes a renewal into a Lease.
func (p *Process) fill(lease *coordinationv1.Lease) {
	holder, renewed := p.MemberID(), metav1.NowMicro()
	seconds := int32((p.Session + time.Second - 1) / time.Second)
	lease.Spec.HolderIdentity, lease.Spec.LeaseDurationSeconds, lease.Spec.RenewTime = &holder, &seconds, &renewed
}

// Renew sends one heartbeat, locked by the version that the process last saw. A holder other than itself fences it.
func (p *Process) Renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	err := p.update(ctx, p.fill)
	if !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
		return err
	}
	// It may have been its own write, whose answer was lost.
	lease := &coordinationv1.Lease{}
	if err := p.client.Get(ctx, p.object, lease); client.IgnoreNotFound(err) != nil {
		return err
	}
	if holder := lease.Spec.HolderIdentity; holder == nil || *holder != p.MemberID() {
		p.fenced()
		return ErrFenced
	}
	p.mu.Lock()
	p.lease = lease
	p.mu.Unlock()
	return p.update(ctx, p.fill)
}

// update writes its Lease, locked by the version that it last saw.
func (p *Process) update(ctx context.Context, change func(*coordinationv1.Lease)) error {
	p.mu.Lock()
	lease := p.lease.DeepCopy()
	p.mu.Unlock()
	change(lease)
	if err := p.client.Update(ctx, lease); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lease = lease
	return nil
}

// Revision is the revision of its member that it has last read.
func (p *Process) Revision() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.member == nil {
		return 0
	}
	return p.member.Status.Revision
}

// UID is its GroupMember's.
func (p *Process) UID() types.UID { return p.uid }
