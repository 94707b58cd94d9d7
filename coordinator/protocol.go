package coordinator

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/assignor/consumer"
)

// Leader mode: what members offer, and the protocol that they agree on.

// protocolTypeConsumer is the type whose bytes are Kafka's, and are read; those of any other are carried only.
const protocolTypeConsumer = "consumer"

func (v *view) leaderMode() bool { return v.Group.Spec.AssignedBy == v1alpha1.AssignedByLeader }

// offer is the hash of what a member offers: a change asks for a round, also by a restart. In Leader mode that is the names
// of its protocols in order and, where the bytes can be read, the topics of each.
func (v *view) offer(m *member) digest {
	if !v.leaderMode() {
		return offerHash(&m.Spec)
	}
	d := fnvOffset.number(int64(len(m.Spec.Protocols)))
	for i := range m.Spec.Protocols {
		topics := v.subscription(&m.Spec.Protocols[i]).Topics
		d = d.text(m.Spec.Protocols[i].Name).number(int64(len(topics)))
		for _, topic := range slices.Sorted(slices.Values(topics)) {
			d = d.text(topic)
		}
	}
	return d
}

// rest is the hash of what else the metadata holds, and of the capacity. It counts as a change only while the incarnation
// stays: clients that keep their partitions put there what they own, and a restart would always differ.
func (v *view) rest(m *member) digest {
	d := fnvOffset.number(capacity(&m.Spec))
	for i := range m.Spec.Protocols {
		p := &m.Spec.Protocols[i]
		s, err := consumer.ParseSubscription(p.Metadata)
		if v.Group.Spec.ProtocolType != protocolTypeConsumer || err != nil {
			d = d.text(string(p.Metadata))
			continue
		}
		d = d.text(string(s.UserData)).number(int64(s.Generation)).text(s.Rack).number(int64(len(s.Owned)))
		for _, owned := range s.Owned {
			d = d.text(owned.Topic).number(int64(len(owned.Partitions)))
			for _, partition := range owned.Partitions {
				d = d.number(int64(partition))
			}
		}
	}
	return d
}

// subscription is what the metadata of a consumer says; garbage, and the bytes of other types, count as no topics.
func (v *view) subscription(p *v1alpha1.MemberProtocol) consumer.Subscription {
	if v.Group.Spec.ProtocolType != protocolTypeConsumer {
		return consumer.Subscription{}
	}
	s, err := consumer.ParseSubscription(p.Metadata)
	if err != nil {
		return consumer.Subscription{}
	}
	return s
}

// restChanged: the rest differs from the plan's or, where the member has restarted since, from what it came with.
func (v *view) restChanged(m *member) bool {
	if !v.leaderMode() {
		return false
	}
	listed := &v.plan.Members[m.position]
	baseline := listed.Rest
	if listed.Incarnation != m.Spec.Incarnation {
		baseline = m.Status.Rest
	}
	return !v.rest(m).same(baseline)
}

// agreement is the set of protocols that everybody so far supports; before the first member it is any. In Coordinator
// mode nobody needs one (off).
type agreement struct {
	off, any bool
	names    map[string]bool
}

func (a *agreement) fits(m *member) bool {
	return a.off || len(m.Spec.Protocols) > 0 && (a.any || slices.ContainsFunc(m.Spec.Protocols, func(p v1alpha1.MemberProtocol) bool {
		return a.names[p.Name]
	}))
}

// judge one member, who may be among those found not to fit already.
func (a *agreement) judge(m *member, misfits map[*member]verdict) verdict {
	switch misfit, known := misfits[m]; {
	case known:
		return misfit
	case !m.stays() && !a.fits(m):
		return a.inconsistent(m)
	}
	return verdict{}
}

// narrow leaves what this member supports too.
func (a *agreement) narrow(m *member) {
	if a.off {
		return
	}
	names := map[string]bool{}
	for i := range m.Spec.Protocols {
		if name := m.Spec.Protocols[i].Name; a.any || a.names[name] {
			names[name] = true
		}
	}
	a.any, a.names = false, names
}

// agreementOf the members of the generation, and who of them does not fit: who has changed its offer comes last, so it is
// the one that is for the commit to reject. Whom the bounds refuse is not asked.
func (v *view) agreementOf(members []*member) (agreement, map[*member]verdict) {
	if !v.leaderMode() {
		return agreement{off: true}, nil
	}
	a, misfits := agreement{any: true}, map[*member]verdict{}
	for _, m := range v.unchangedFirst(members) {
		switch {
		case !v.fits(m).accepted():
		case a.fits(m):
			a.narrow(m)
		default:
			misfits[m] = a.inconsistent(m)
		}
	}
	return a, misfits
}

// unchangedFirst orders the members of the generation for the choice of protocols: whose offer is the plan's come first, in
// each part the oldest first.
func (v *view) unchangedFirst(members []*member) []*member {
	sorted := oldestFirst(members)
	changed := func(m *member) int {
		if v.plan != nil && m.position != nobody && !v.offer(m).same(v.plan.Members[m.position].Offer) {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(sorted, func(a, b *member) int {
		return cmp.Compare(changed(a), changed(b))
	})
	return sorted
}

// inconsistent refuses a member that shares no protocol with all others.
func (a *agreement) inconsistent(m *member) verdict {
	if len(m.Spec.Protocols) == 0 {
		return verdict{v1alpha1.ReasonInconsistentGroupProtocol, "offers no protocol: give spec.protocols at least one"}
	}
	fitting := slices.Sorted(maps.Keys(a.names))
	return verdict{v1alpha1.ReasonInconsistentGroupProtocol, fmt.Sprintf(
		"none of its protocols (%s) is supported by all members: offer one of %s",
		shorten(strings.Join(protocolNames(m), ", "), 200), shorten(strings.Join(fitting, ", "), 200))}
}

func protocolNames(m *member) []string {
	names := make([]string, 0, len(m.Spec.Protocols))
	for i := range m.Spec.Protocols {
		names = append(names, m.Spec.Protocols[i].Name)
	}
	return names
}

// vote chooses the protocol: each member votes for the first in its list that all support; most votes win, ties by name.
func vote(members []*member) string {
	all := agreement{any: true}
	for _, m := range members {
		all.narrow(m)
	}
	votes := map[string]int{}
	for _, m := range members {
		for _, name := range protocolNames(m) {
			if all.names[name] {
				votes[name]++
				break
			}
		}
	}
	chosen := ""
	for _, name := range slices.Sorted(maps.Keys(votes)) {
		if chosen == "" || votes[name] > votes[chosen] {
			chosen = name
		}
	}
	return chosen
}
