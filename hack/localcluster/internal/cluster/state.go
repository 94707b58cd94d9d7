package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/rollcall-dev/rollcall/hack/localcluster/internal/lock"
)

// Phase is how far a cluster is.
type Phase string

// The phases. Absent and Dead are never stored: nobody is left to do it.
const (
	Absent   Phase = "Absent"   // there is no such cluster
	Starting Phase = "Starting" // its programs are being started
	Running  Phase = "Running"  // it answers
	Failed   Phase = "Failed"   // it could not start, or a program of it ended; its logs are still there
	Dead     Phase = "Dead"     // its supervisor was killed; what is left are files
)

// State is what others may know of a cluster.
type State struct {
	Name  string `json:"name"`
	Phase Phase  `json:"phase"`
	// PID is the supervisor's process id.
	PID int `json:"pid,omitempty"`
	// Processes are the ids of the programs, by name.
	Processes map[string]int `json:"processes,omitempty"`
	// Server is the URL of the API server.
	Server     string `json:"server,omitempty"`
	Kubeconfig string `json:"kubeconfig,omitempty"`
	AuditLog   string `json:"auditLog,omitempty"`
	Dir        string `json:"dir"`
	// Programs is the folder of kubectl and the other programs.
	Programs string    `json:"programs,omitempty"`
	Nodes    int       `json:"nodes"`
	Started  time.Time `json:"started,omitzero"`
	// Failure says why the cluster failed.
	Failure string `json:"failure,omitempty"`
	// External is set for a cluster that was not started here: its kubeconfig was given.
	External bool `json:"external,omitempty"`
}

// ReadState returns the state of a cluster.
func ReadState(layout Layout) (State, error) {
	content, err := os.ReadFile(layout.State())
	if errors.Is(err, os.ErrNotExist) {
		return State{Name: layout.Name, Phase: Absent, Dir: layout.Dir}, nil
	}
	if err != nil {
		return State{}, fmt.Errorf("read the state of cluster %s: %w", layout.Name, err)
	}
	var state State
	if err := json.Unmarshal(content, &state); err != nil {
		return State{}, fmt.Errorf("read the state of cluster %s: %w", layout.Name, err)
	}
	if state.External || state.Phase == Failed {
		return state, nil
	}
	alive, err := lock.Held(layout.Lock())
	if err != nil {
		return State{}, err
	}
	if !alive {
		state.Phase = Dead
	}
	return state, nil
}

// WriteState replaces the state of a cluster in one step, so that a reader never sees half of it.
func WriteState(layout Layout, state State) error {
	content, err := json.MarshalIndent(state, "", "  ")
	if err != nil {
		return fmt.Errorf("write the state of cluster %s: %w", layout.Name, err)
	}
	unfinished := layout.State() + ".unfinished"
	if err := os.WriteFile(unfinished, append(content, '\n'), 0o600); err != nil {
		return fmt.Errorf("write the state of cluster %s: %w", layout.Name, err)
	}
	if err := os.Rename(unfinished, layout.State()); err != nil {
		return fmt.Errorf("write the state of cluster %s: %w", layout.Name, err)
	}
	return nil
}

// Remove deletes the files of a cluster that has no supervisor.
func Remove(layout Layout) error {
	held, free, err := lock.Try(layout.Lock())
	if err != nil {
		return err
	}
	if !free {
		return fmt.Errorf("cluster %s still has a supervisor", layout.Name)
	}
	defer held.Discard()
	return errors.Join(os.RemoveAll(layout.Dir), removeIfThere(layout.SupervisorLog()))
}

// RemoveDead deletes the files of clusters whose supervisor was killed: nobody else does.
func RemoveDead() error {
	layouts, err := Layouts()
	if err != nil {
		return err
	}
	var failures []error
	for _, layout := range layouts {
		state, err := ReadState(layout)
		if err == nil && state.Phase == Dead {
			err = Remove(layout)
		}
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove %s: %w", path, err)
	}
	return nil
}
