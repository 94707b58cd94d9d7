package main

import (
	"fmt"

	"github.com/rollcall-dev/rollcall/assignor"
)

// contestant is an assignor to be measured on an input that it has been given in its own terms.
type contestant interface {
	name() string
	// attempt prepares a run: what it does itself is not measured, run is. Result gives the assignment that run found.
	attempt() (run func() error, result func() (assignment, error))
}

// What the contestants are called.
const (
	rollcallName         = "rollcall"
	franzName            = "franz-go sticky"
	franzCooperativeName = "franz-go cooperative-sticky"
	saramaName           = "sarama sticky"
)

// contestants are all, in the order of the table.
var contestants = []string{rollcallName, franzName, franzCooperativeName, saramaName}

// rollcall is the assignor of this project.
type rollcall struct {
	in *assignor.Input
	r  assignor.Result
}

func (*rollcall) name() string { return rollcallName }

func (c *rollcall) attempt() (run func() error, result func() (assignment, error)) {
	run = func() (err error) {
		c.r, err = assignor.Sticky(*c.in)
		return err
	}
	return run, func() (assignment, error) { return c.r.Target, nil }
}

// memberID is what a member is called in the others' terms. The incarnation makes no difference to who is who, as with
// static membership, where it is the instance id that stays.
func memberID(in *assignor.Input, m int) string { return in.Members[m].Name + "-incarnation-1" }

// topicName is what a copy of a topic is called in the others' terms, who know no replicas: each copy is a topic.
func topicName(t *assignor.Topic, c int) string {
	if t.Replicas <= 1 {
		return t.Name
	}
	return fmt.Sprintf("%s.copy-%d", t.Name, c)
}

// subscription is all that the member subscribes to, in the others' terms.
func subscription(in *assignor.Input, m int) []string {
	wanted := map[string]bool{}
	for _, name := range in.Members[m].Topics {
		wanted[name] = true
	}
	var names []string
	for t := range in.Topics {
		for c := range max(int(in.Topics[t].Replicas), 1) {
			if len(wanted) == 0 || wanted[in.Topics[t].Name] {
				names = append(names, topicName(&in.Topics[t], c))
			}
		}
	}
	return names
}

// copyOf finds the topic and copy of a name that topicName has made.
func copyOf(in *assignor.Input) map[string][2]int {
	found := map[string][2]int{}
	for t := range in.Topics {
		for c := range max(int(in.Topics[t].Replicas), 1) {
			found[topicName(&in.Topics[t], c)] = [2]int{t, c}
		}
	}
	return found
}

// owned is what each member owns, in the others' terms.
func owned(in *assignor.Input) []map[string][]int32 {
	return plans(in, previous(in))
}

// plans lists each member's partitions by topic, in the others' terms.
func plans(in *assignor.Input, a assignment) []map[string][]int32 {
	lists := make([]map[string][]int32, len(in.Members))
	for m := range lists {
		lists[m] = map[string][]int32{}
	}
	a.each(func(t, c, p int, m int32) {
		if m >= 0 {
			name := topicName(&in.Topics[t], c)
			lists[m][name] = append(lists[m][name], int32(p))
		}
	})
	return lists
}

// fromPlans is the way back from plans by member id.
func fromPlans(in *assignor.Input, plan map[string]map[string][]int32) (assignment, error) {
	target, copies := blank(in), copyOf(in)
	for m := range in.Members {
		for name, partitions := range plan[memberID(in, m)] {
			at, ok := copies[name]
			if !ok {
				return nil, fmt.Errorf("member %s got the unknown topic %s", in.Members[m].Name, name)
			}
			for _, p := range partitions {
				if target[at[0]][at[1]][p] >= 0 {
					return nil, fmt.Errorf("partition %d of topic %s was given to two members", p, name)
				}
				target[at[0]][at[1]][p] = int32(m)
			}
		}
	}
	return target, nil
}
