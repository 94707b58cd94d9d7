package scenarios

import (
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/test/sim"
)

// Durations of a group on its creation, where the command names none.
const (
	newSession     = 10 * time.Second
	newReplacement = 10 * time.Second
	newRebalance   = 20 * time.Second
)

// setGroup creates or changes a group. Keys that are not named keep their value.
func (w *simWorld) setGroup(command *Command) error {
	w.group = command.Args[0]
	existing := sim.Get[*v1alpha1.ConsumerGroup](w.Store, w.group)
	group := newGroup(w.group)
	if existing != nil {
		group = existing.DeepCopy()
	} else {
		delete(w.replacementGiven, w.group)
		if command.User != "" {
			group.Annotations = map[string]string{v1alpha1.CreatorAnnotation: command.User}
		}
	}
	if err := changeGroup(group, command); err != nil {
		return err
	}
	if _, given := command.duration("replacement"); given {
		w.replacementGiven[w.group] = true
	}
	// The default is the larger of its own value and the session timeout, also when that grows later.
	if !w.replacementGiven[w.group] && group.Spec.ReplacementTimeout.Duration < group.Spec.SessionTimeout.Duration {
		group.Spec.ReplacementTimeout = lasting(group.Spec.SessionTimeout.Duration)
	}
	var err error
	if existing == nil {
		_, err = w.Store.Create(sim.Person, group)
	} else {
		_, err = w.Store.Update(sim.Person, group)
	}
	return err
}

func newGroup(name string) *v1alpha1.ConsumerGroup {
	return &v1alpha1.ConsumerGroup{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1alpha1.ConsumerGroupSpec{
			SessionTimeout: lasting(newSession), ReplacementTimeout: lasting(newReplacement), RebalanceTimeout: lasting(newRebalance),
			InitialRebalanceDelay: lasting(0), ExpansionTimeout: lasting(0),
			Handover: v1alpha1.Handover{RevocationGracePeriod: lasting(0)},
		},
	}
}

func lasting(d time.Duration) *metav1.Duration { return &metav1.Duration{Duration: d} }

// changeGroup gives a group what the command's keys say.
func changeGroup(group *v1alpha1.ConsumerGroup, command *Command) error {
	spec := &group.Spec
	for key, field := range map[string]**metav1.Duration{
		"session": &spec.SessionTimeout, "replacement": &spec.ReplacementTimeout, "rebalance": &spec.RebalanceTimeout,
		"delay": &spec.InitialRebalanceDelay, "expansion": &spec.ExpansionTimeout, "grace": &spec.Handover.RevocationGracePeriod,
	} {
		if d, given := command.duration(key); given {
			*field = lasting(d)
		}
	}
	for key, set := range map[string]func(string){
		"assigned-by": func(value string) { spec.AssignedBy = v1alpha1.AssignedBy(value) },
		"assignor":    func(value string) { spec.Assignor = value },
		"policy":      func(value string) { spec.Handover.Policy = v1alpha1.HandoverPolicy(value) },
		"zones":       func(value string) { spec.ZonePolicy = v1alpha1.ZonePolicy(value) },
		"type":        func(value string) { spec.ProtocolType = value },
	} {
		if value, given := command.Get(key); given {
			set(value)
		}
	}
	if limit, given := command.integer("max"); given {
		spec.MaxMembers = int32(limit)
	}
	if paused, given := command.boolean("paused"); given {
		spec.Paused = paused
	}
	return changeTopics(spec, command)
}

// changeTopics replaces the list where one is given; what else is known of a topic stays.
func changeTopics(spec *v1alpha1.ConsumerGroupSpec, command *Command) error {
	if value, given := command.Get("topics"); given {
		topics, err := parseTopics(value)
		if err != nil {
			return err
		}
		for i := range topics {
			if before := topicOf(spec, topics[i].Name); before != nil {
				topics[i].CoPartition, topics[i].Weight, topics[i].Zones = before.CoPartition, before.Weight, before.Zones
			}
		}
		spec.Topics = topics
	}
	for number, set := range command.All("co") {
		for _, name := range topicNames(set) {
			if err := changeTopic(spec, name, func(t *v1alpha1.TopicSpec) { t.CoPartition = fmt.Sprintf("set-%d", number+1) }); err != nil {
				return err
			}
		}
	}
	return errors.Join(changeWeights(spec, command), changeHomes(spec, command))
}

func changeWeights(spec *v1alpha1.ConsumerGroupSpec, command *Command) error {
	value, _ := command.Get("weight")
	weights, err := parseWeights(value)
	for name, weight := range weights {
		err = errors.Join(err, changeTopic(spec, name, func(t *v1alpha1.TopicSpec) { t.Weight = weight }))
	}
	return err
}

func changeHomes(spec *v1alpha1.ConsumerGroupSpec, command *Command) error {
	value, _ := command.Get("homes")
	homes, err := parseHomes(value)
	for name, zones := range homes {
		err = errors.Join(err, changeTopic(spec, name, func(t *v1alpha1.TopicSpec) { t.Zones = zones }))
	}
	return err
}

func topicOf(spec *v1alpha1.ConsumerGroupSpec, name string) *v1alpha1.TopicSpec {
	for i := range spec.Topics {
		if spec.Topics[i].Name == name {
			return &spec.Topics[i]
		}
	}
	return nil
}

func changeTopic(spec *v1alpha1.ConsumerGroupSpec, name string, change func(*v1alpha1.TopicSpec)) error {
	topic := topicOf(spec, name)
	if topic == nil {
		return fmt.Errorf("the group has no topic %s", name)
	}
	change(topic)
	return nil
}

// remove deletes a group, or the newest plan of the present one.
func (w *simWorld) remove(command *Command) error {
	if command.Args[0] == "group" {
		_, err := w.Store.Delete(sim.Person, sim.KeyFor(sim.KindConsumerGroup, command.Args[1]), sim.Precondition{})
		return err
	}
	group := sim.Get[*v1alpha1.ConsumerGroup](w.Store, w.group)
	var newest *appsv1.ControllerRevision
	for _, plan := range sim.List[*appsv1.ControllerRevision](w.Store) {
		if group != nil && metav1.IsControlledBy(plan, group) && (newest == nil || plan.Revision > newest.Revision) {
			newest = plan
		}
	}
	if newest == nil {
		return fmt.Errorf("group %s has no plan", w.group)
	}
	_, err := w.Store.Delete(sim.Person, sim.KeyFor(sim.KindControllerRevision, newest.Name), sim.Precondition{})
	return err
}

// forceRebalance sets the annotation. A named caller must be the group's creator; one without a name may do everything.
func (w *simWorld) forceRebalance(command *Command) error {
	group := sim.Get[*v1alpha1.ConsumerGroup](w.Store, w.group)
	if group == nil {
		return apierrors.NewNotFound(schema.GroupResource{Resource: sim.KindConsumerGroup}, w.group)
	}
	if command.User != "" && group.Annotations[v1alpha1.CreatorAnnotation] != command.User {
		return apierrors.NewForbidden(schema.GroupResource{Resource: sim.KindConsumerGroup}, w.group,
			fmt.Errorf("NotAuthorized: %s may not rebalance it", command.User))
	}
	changed := group.DeepCopy()
	if changed.Annotations == nil {
		changed.Annotations = map[string]string{}
	}
	changed.Annotations[v1alpha1.RebalanceAnnotation] = command.Args[0]
	_, err := w.Store.Update(sim.Person, changed)
	return err
}
