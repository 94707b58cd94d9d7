package coordinator

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/assignor"
)

// The commit of a round is the creation of its plan. What must stand before it is written first, one thing a decision.

func (v *view) commit(r *round) []Batch {
	if v.planLost && !v.Live.Plans {
		v.need.Plans = true
		return nil
	}
	if !slices.Contains(v.Group.Finalizers, v1alpha1.RevokeFinalizer) {
		next := v.Group.DeepCopy()
		next.Finalizers = append(next.Finalizers, v1alpha1.RevokeFinalizer)
		return batch(PhaseFacts, Write{Verb: Update, Old: v.Group, New: next})
	}
	if base := v.baseForPlan(); base > v.status.TokenBase {
		return v.raiseBase(base)
	}
	if touches := v.touches(); len(touches) > 0 {
		return batch(PhaseTouches, touches...)
	}
	members, rejected := v.takenIn()
	if len(members) == 0 {
		return batch(PhaseFacts, rejected...)
	}
	content, err := v.makePlan(r, members)
	if err != nil {
		return v.cannotAssign(r, err)
	}
	revision, err := newRevision(v.Group, content)
	if err != nil {
		return v.cannotAssign(r, err)
	}
	return batch(PhasePlan, Write{Verb: Create, New: revision})
}

func batch(phase Phase, writes ...Write) []Batch {
	if len(writes) == 0 {
		return nil
	}
	return []Batch{{Phase: phase, Writes: writes}}
}

func (v *view) raiseBase(base int64) []Batch {
	next := v.Group.DeepCopy()
	next.Status.TokenBase = base
	return batch(PhaseFacts, Write{Verb: UpdateStatus, Old: v.Group, New: next})
}

// takenIn are the members of the next generation, by object name. Where a commit would accept nobody, all are rejected.
func (v *view) takenIn() (members []*member, rejected []Write) {
	verdicts := v.judgeAll()
	for _, m := range v.members {
		judged, candidate := verdicts[m]
		switch {
		case candidate && judged.accepted() && (m.stays() || v.available(m)):
			members = append(members, m)
		case candidate && !judged.accepted():
			if w, ok := v.write(v.reject(m, judged)); ok {
				rejected = append(rejected, w)
			}
		}
	}
	return members, rejected
}

// makePlan computes the next generation from what the members hold.
func (v *view) makePlan(r *round, members []*member) (*PlanContent, error) {
	content := &PlanContent{
		Generation: v.nextGeneration(), Reasons: r.causes, StartTime: micro(r.start).Time, Term: v.Term.ID,
		Inputs: inputsHash(&v.Group.Spec).String(), Forced: v.forcedToken(),
		Members: make([]PlanMember, 0, len(members)),
	}
	for _, m := range members {
		content.Members = append(content.Members, PlanMember{
			Object: m.Name, UID: shortUID(string(m.UID)), Name: displayName(m.GroupMember),
			Incarnation: m.Spec.Incarnation, Offer: v.offer(m).String(),
		})
	}
	if v.leaderMode() {
		for i, m := range members {
			content.Members[i].Rest = v.rest(m).String()
		}
		content.Protocol, content.Leader = vote(members), v.elect(r, members, content.Generation).Name
		content.index()
		return content, nil
	}
	return content, v.assign(content, members)
}

// assign fills in who gets what.
func (v *view) assign(content *PlanContent, members []*member) error {
	in := v.assignorInput(members)
	assign, err := v.assignor()
	if err != nil {
		return err
	}
	result, err := assign(in)
	if err != nil {
		return fmt.Errorf("assignor %s: %w", v.Group.Spec.Assignor, err)
	}
	content.Target = make(map[string][][]int32, len(in.Topics))
	for i := range in.Topics {
		content.Target[in.Topics[i].Name] = result.Target[i]
	}
	for _, i := range result.Short {
		content.Short = append(content.Short, int32(i))
	}
	content.index()
	content.Moved = v.countMoved(content)
	return nil
}

func (v *view) assignor() (assignor.Assignor, error) {
	find := v.Config.Assign
	if find == nil {
		find = assignor.ByName
	}
	name := v.Group.Spec.Assignor
	if name == "" {
		name = "sticky"
	}
	assign, ok := find(name)
	if !ok {
		return nil, fmt.Errorf("assignor %q is not known: choose sticky, range or roundrobin", name)
	}
	return assign, nil
}

func (v *view) assignorInput(members []*member) assignor.Input {
	in := assignor.Input{ZonePolicy: assignor.ZonePolicy(v.Group.Spec.ZonePolicy)}
	for i := range v.Group.Spec.Topics {
		t := &v.Group.Spec.Topics[i]
		in.Topics = append(in.Topics, assignor.Topic{
			Name: t.Name, Partitions: t.Partitions, Replicas: replicas(t), Weight: t.Weight, CoPartition: t.CoPartition, Zones: t.Zones,
		})
	}
	for _, m := range members {
		in.Members = append(in.Members, v.assignorMember(m))
	}
	return in
}

// assignorMember: what a member holds is its assignment and, unless it is Unavailable, what is being revoked from it.
func (v *view) assignorMember(m *member) assignor.Member {
	am := assignor.Member{
		Name: m.Name, Topics: m.Spec.Topics, Zone: m.Spec.Zone, Capacity: capacity(&m.Spec), Away: v.unavailable(m),
		Owned: ownerships(nil, assignmentOf(m)),
	}
	if v.pinned(m) {
		am.Pinned = am.Owned
	}
	for i := range m.Status.Revoking {
		if r := &m.Status.Revoking[i]; !am.Away && v.end(m, r) == inForce {
			am.Owned = ownerships(am.Owned, r.TopicPartitions)
		}
	}
	return am
}

func ownerships(list []assignor.Ownership, held []v1alpha1.TopicPartitions) []assignor.Ownership {
	list = slices.Clip(list)
	for i := range held {
		tp := &held[i]
		list = append(list, assignor.Ownership{Topic: tp.Topic, Copy: tp.Copy, Partitions: tp.Partitions, Token: tp.Token})
	}
	return list
}

// countMoved counts the copies that the plan takes from one member for another: from who holds it, or had it by the plan
// before when its holder's session has ended.
func (v *view) countMoved(content *PlanContent) int64 {
	holder := map[copyKey]string{}
	v.eachOwner(func(m string, key copyKey) { holder[key] = m })
	var moved int64
	for topic, copies := range content.Target {
		for c, row := range copies {
			for p, position := range row {
				from, held := holder[copyKey{topic, int32(c), int32(p)}]
				if held && position != nobody && from != content.Members[position].Object {
					moved++
				}
			}
		}
	}
	return moved
}

// copyKey names one copy of one partition.
type copyKey struct {
	topic           string
	copy, partition int32
}

// eachOwner visits who had each copy: the plan in force first, then who really holds it; of two, whose assignment has it.
func (v *view) eachOwner(visit func(object string, key copyKey)) {
	if v.plan != nil && len(v.staying()) > 0 {
		for topic, copies := range v.plan.Target {
			for c, row := range copies {
				for p, position := range row {
					if position != nobody {
						visit(v.plan.Members[position].Object, copyKey{topic, int32(c), int32(p)})
					}
				}
			}
		}
	}
	for _, m := range v.members {
		for i := range m.Status.Revoking {
			if r := &m.Status.Revoking[i]; v.end(m, r) == inForce {
				eachCopy(r.TopicPartitions, func(c copyKey) { visit(m.Name, c) })
			}
		}
	}
	for _, m := range v.members {
		eachCopy(assignmentOf(m), func(c copyKey) { visit(m.Name, c) })
	}
}

func eachCopy(list []v1alpha1.TopicPartitions, visit func(copyKey)) {
	for i := range list {
		for _, p := range list[i].Partitions {
			visit(copyKey{list[i].Topic, list[i].Copy, p})
		}
	}
}

// cannotAssign leaves the round open and says why.
func (v *view) cannotAssign(r *round, err error) []Batch {
	next := v.Group.DeepCopy()
	v.openRound(&next.Status, r)
	setCondition(&next.Status.Conditions, v.Now, v.Group.Generation, metav1.Condition{
		Type: v1alpha1.GroupReady, Status: metav1.ConditionFalse, Reason: "CannotAssign", Message: err.Error(),
	})
	return batch(PhaseGroup, v.groupWrite(next)...)
}
