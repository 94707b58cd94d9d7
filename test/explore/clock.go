package explore

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

func micro(t time.Time) metav1.MicroTime { return metav1.NewMicroTime(t) }

// nextInstant is when something will be due next; zero when nothing will. Wake is when the leader will look again.
func (w *world) nextInstant(wake time.Time) time.Time {
	next := wake
	earlier := func(t time.Time) {
		if t.After(w.now) && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	for i := range w.procs {
		if at, will := w.procs[i].stopsAt(w); will {
			earlier(at)
		}
	}
	for i := range w.members {
		if w.members[i].there {
			if _, due := w.published(w.members[i].now); !due.IsZero() {
				earlier(due)
			}
		}
	}
	return next
}

// stopsAt is when a process under Exclusive stops by its own clock.
func (p *process) stopsAt(w *world) (time.Time, bool) {
	if p.kind != registered || p.renews || p.over || p.unproven || w.policy != v1alpha1.HandoverExclusive {
		return time.Time{}, false
	}
	return p.renewed.Add(sessionTimeout - stopMargin), true
}

// pass lets time pass until then. Whoever can renew has done so all the while; the leader's cache has caught up.
func (w *world) pass(then time.Time) {
	w.now = then
	w.caughtUp()
	for i := range w.procs {
		p := &w.procs[i]
		if at, will := p.stopsAt(w); will && !at.After(then) {
			p.works, p.read, p.unproven = nil, nil, true
		}
		if l := w.lease(p.object()); p.renews && l != nil && l.holder == p.memberID() {
			p.renewed, l.renew, l.seen = then, then, then
		}
	}
}
