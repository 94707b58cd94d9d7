package referee

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// checkTokens: every grant and every takeover brings a token greater than any before it for that copy. That a copy is held
// at all, by whom and under which token, is compared with the last look.
func (r *Referee) checkTokens(v View, verdict *verdict) {
	held := map[Copy]bool{}
	for _, m := range v.Members {
		eachCopy(assigned(m), func(c Copy, token int64) {
			held[c] = true
			r.checkToken(m, c, token, verdict)
		})
	}
	for i := range r.copies.rows {
		c, before := r.copies.rows[i].key, r.copies.rows[i].value
		if before.held && !held[c] {
			before.held = false
			r.copies.set(c, before)
		}
	}
}

func (r *Referee) checkToken(m *v1alpha1.GroupMember, c Copy, token int64, verdict *verdict) {
	before := r.copies.get(c)
	if before.held && before.uid == m.UID && before.memberID == m.Status.MemberID && before.token == token {
		return
	}
	if token <= before.token {
		verdict.broken(3, "%s (%s) holds %s under token %d, not above %d of %s before it",
			m.Name, m.Status.MemberID, c, token, before.token, before.memberID)
	}
	before.token, before.uid, before.memberID, before.held = max(token, before.token), m.UID, m.Status.MemberID, true
	r.copies.set(c, before)
}

// checkProcesses takes every process at work as one that writes to a store all the time: that is when stale holders do
// most harm.
func (r *Referee) checkProcesses(v View, verdict *verdict) {
	at := map[Copy]string{}
	for i := range v.Processes {
		p := &v.Processes[i]
		for _, work := range p.Works {
			r.checkStore(p.Name, work, verdict)
			if !r.exclusive || p.Group != r.group {
				continue
			}
			if other, busy := at[work.Copy]; busy && other != p.Name {
				verdict.broken(1, "two processes work on %s under Exclusive: %s and %s", work.Copy, other, p.Name)
			}
			at[work.Copy] = p.Name
		}
	}
}

// checkStore is a store that refuses tokens below the greatest it has seen, for each copy.
func (r *Referee) checkStore(process string, work Work, verdict *verdict) {
	copy := r.copies.get(work.Copy)
	switch {
	case work.Token < copy.seen:
		return // Refused, as it should be.
	case work.Token == copy.seen && copy.by != process:
		verdict.broken(1, "a store accepts both %s and %s for %s: they show the same token %d", copy.by, process, work.Copy, work.Token)
	}
	if copy.seen != work.Token || copy.by != process {
		copy.seen, copy.by = work.Token, process
		r.copies.set(work.Copy, copy)
	}
}

// leftSince: the member whose UID begins so has left at that generation or later. Plans bear only the beginning of UIDs.
func (r *Referee) leftSince(object8 string, generation int64) bool {
	for i := range r.members.rows {
		uid, rec := r.members.rows[i].key, &r.members.rows[i].value
		if short(uid) == object8 && rec.left >= generation {
			return true
		}
	}
	return false
}

func short(uid types.UID) string { return string(uid[:min(8, len(uid))]) }
