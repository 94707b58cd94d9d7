package scenarios

import (
	"fmt"
	"strings"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/test/sim"
)

// start begins a self-registered process.
func (w *simWorld) start(command *Command) error {
	spec := sim.ProcessSpec{Handle: command.Args[0], Acks: sim.AckAtOnce}
	spec.Member, _ = command.Get("member")
	spec.Host, _ = command.Get("host")
	spec.Zone, _ = command.Get("zone")
	if acks, given := command.Get("acks"); given {
		spec.Acks = sim.AckMode(acks)
	}
	offer(&spec, command)
	w.Start(w.group, spec)
	return nil
}

// offer gives a process what it may change later.
func offer(spec *sim.ProcessSpec, command *Command) {
	if topics, given := command.Get("topics"); given {
		spec.Topics = topicNames(topics)
	}
	if capacity, given := command.integer("capacity"); given {
		spec.Capacity = &capacity
	}
	if session, given := command.duration("session"); given {
		spec.SessionTimeout = lasting(session)
	}
	if rebalance, given := command.duration("rebalance"); given {
		spec.RebalanceTimeout = lasting(rebalance)
	}
	if protocols, given := command.Get("protocols"); given {
		spec.Protocols = parseProtocols(protocols)
	}
}

// parseProtocols reads "sticky:meta,range".
func parseProtocols(value string) []v1alpha1.MemberProtocol {
	var protocols []v1alpha1.MemberProtocol
	for _, part := range splitList(value) {
		name, metadata, _ := strings.Cut(part, ":")
		protocols = append(protocols, v1alpha1.MemberProtocol{Name: name, Metadata: []byte(metadata)})
	}
	return protocols
}

// update changes what a process offers.
func (w *simWorld) update(command *Command) error {
	process := w.Process(command.Args[0])
	if process == nil {
		return fmt.Errorf("nobody was started as %s", command.Args[0])
	}
	return process.Update(func(spec *sim.ProcessSpec) { offer(spec, command) })
}

// removeMember deletes a GroupMember by hand.
func (w *simWorld) removeMember(command *Command) error {
	view := w.View()
	member := view.member(w.group, command.Args[0])
	if member == nil {
		return fmt.Errorf("there is no member %s", command.Args[0])
	}
	_, err := w.Store.Delete(sim.Person, sim.KeyFor(sim.KindGroupMember, member.Name), sim.Precondition{})
	return err
}
