package scenarios

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/test/referee"
	"github.com/rollcall-dev/rollcall/test/sim"
)

// lastWrites is how many of the newest writes a view describes.
const lastWrites = 10

// simWorld plays scripts in memory, with a virtual clock.
type simWorld struct {
	*sim.World
	// group is the last that was named.
	group string
	// replacementGiven: the file has set the replacement timeout of that group.
	replacementGiven map[string]bool
}

// NewSimWorld is empty but for a running operator. Applied says of each write that gets no answer whether it was applied.
func NewSimWorld(applied func() bool) World { return newSimWorld(applied) }

func newSimWorld(applied func() bool) *simWorld {
	w := &simWorld{World: sim.NewWorld(), replacementGiven: map[string]bool{}}
	w.Faults.Applied = applied
	return w
}

// simCommands carry out the commands, by verb.
var simCommands = map[string]func(*simWorld, *Command) error{
	"group": (*simWorld).setGroup, "delete": (*simWorld).remove, "rebalance": (*simWorld).forceRebalance,
	"start": (*simWorld).start, "join": (*simWorld).actProcess, "sync": (*simWorld).sync, "ack": (*simWorld).actProcess,
	"silence": (*simWorld).actProcess, "beat": (*simWorld).actProcess, "pause": (*simWorld).actProcess,
	"resume": (*simWorld).actProcess, "leave": (*simWorld).actProcess, "close": (*simWorld).actProcess,
	"update": (*simWorld).update, "remove": (*simWorld).removeMember,
	"workload": (*simWorld).setWorkload, "annotate": (*simWorld).annotate,
	"pod": (*simWorld).pod, "replace": (*simWorld).replace, "node": (*simWorld).node,
	"publish": (*simWorld).publish, "crash": (*simWorld).crash, "freeze": (*simWorld).freeze, "thaw": (*simWorld).thaw,
	"fail": (*simWorld).failWrites, "stale": (*simWorld).stale, "dark": (*simWorld).makeDark, "light": (*simWorld).makeLight,
	"advance": (*simWorld).advance, "finally": (*simWorld).untilQuiet, "manager": (*simWorld).setFlags,
}

// byPerson are the commands that a person sends to the API server, which must be reachable for them.
var byPerson = []string{"group", "delete", "rebalance", "remove", "workload", "annotate"}

// Do carries out one command, and lets everybody react to it.
func (w *simWorld) Do(command Command) error {
	if w.inTheDark() && slices.Contains(byPerson, command.Verb) {
		return &Refusal{errors.New("the API server cannot be reached")}
	}
	err := simCommands[command.Verb](w, &command)
	w.Act()
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return &Refusal{err}
	}
	return err
}

// View is what the world shows.
func (w *simWorld) View() View {
	view := View{
		Now:     w.Now(),
		Groups:  sim.List[*v1alpha1.ConsumerGroup](w.Store),
		Members: sim.List[*v1alpha1.GroupMember](w.Store),
		Plans:   sim.List[*appsv1.ControllerRevision](w.Store),
	}
	records := w.Store.Records()
	for _, written := range records {
		if written.Who.Operator() {
			view.Writes++
			if written.Key.Kind == sim.KindConsumerGroup {
				view.GroupWrites++
			}
		}
	}
	view.LastWrites = func() []string {
		var lines []string
		for _, written := range records[max(0, len(records)-lastWrites):] {
			lines = append(lines, written.String())
		}
		return lines
	}
	for _, event := range w.Events() {
		view.Events = append(view.Events, Event{About: event.About, Reason: event.Reason})
	}
	view.Workers = append(w.processWorkers(), w.podWorkers()...)
	return view
}

func (w *simWorld) processWorkers() []Worker {
	var workers []Worker
	for _, process := range w.Processes() {
		workers = append(workers, Worker{
			Handle: process.Handle, Group: process.Group(), Object: process.Object(), Member: process.Member,
			Error: process.Trouble(), Proven: process.Proven(),
			Works: map[string]map[partition]bool{process.Group(): worksOn(process.Working())},
		})
	}
	return workers
}

func (w *simWorld) podWorkers() []Worker {
	var workers []Worker
	for _, pod := range w.Pods() {
		worker := Worker{Handle: pod.Name, Pod: true, PodUID: string(pod.UID), Works: map[string]map[partition]bool{}}
		for group, works := range pod.Working() {
			worker.Works[group] = worksOn(works)
		}
		workers = append(workers, worker)
	}
	return workers
}

func worksOn(copies map[referee.Copy]int64) map[partition]bool {
	works := map[partition]bool{}
	for one := range copies {
		works[partition{one.Topic, one.Partition}] = true
	}
	return works
}

// actProcess carries out the commands that need nothing but a handle.
func (w *simWorld) actProcess(command *Command) error {
	process := w.Process(command.Args[0])
	if process == nil {
		return fmt.Errorf("nobody was started as %s", command.Args[0])
	}
	switch command.Verb {
	case "join":
		return process.Join()
	case "ack":
		process.Acknowledge()
	case "silence":
		process.Silence()
	case "beat":
		process.Beat()
	case "pause":
		process.Pause()
	case "resume":
		process.Resume()
	case "leave":
		return process.Leave()
	case "close":
		return process.Close()
	}
	return nil
}

// inTheDark says that the API server cannot be reached.
func (w *simWorld) inTheDark() bool { return w.IsDark() }

func topicNames(value string) []string { return splitList(strings.ReplaceAll(value, "+", ",")) }
