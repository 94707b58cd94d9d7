package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/rollcall-dev/rollcall/hack/localcluster/internal/lock"
)

// answerTimeout bounds how long a cluster that was given may take to answer.
const answerTimeout = 20 * time.Second

// Adopt makes a cluster that runs elsewhere known under a name, if it answers. Nothing is started, and ending it later
// only forgets it. lookPath finds a program on PATH.
func Adopt(ctx context.Context, layout Layout, kubeconfig string, lookPath func(string) (string, error)) (State, error) {
	kubeconfig, err := filepath.Abs(kubeconfig)
	if err != nil {
		return State{}, fmt.Errorf("find the kubeconfig: %w", err)
	}
	state := State{Name: layout.Name, Phase: Running, Dir: layout.Dir, Kubeconfig: kubeconfig, External: true}
	kubectl, err := Kubectl(state, lookPath)
	if err != nil {
		return State{}, err
	}
	if err := answers(ctx, kubectl, kubeconfig); err != nil {
		return State{}, err
	}
	held, free, err := lock.Try(layout.Lock())
	if err != nil {
		return State{}, err
	}
	if !free {
		return State{}, fmt.Errorf("cluster %s was started here and still runs; end it or choose another name", layout.Name)
	}
	defer held.Discard()
	return state, errors.Join(layout.clear(), WriteState(layout, state))
}

// answers asks the API server of a kubeconfig whether it is ready. kubectl does it, since a kubeconfig may name any
// kind of credentials.
func answers(ctx context.Context, kubectl, kubeconfig string) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	var complaint bytes.Buffer
	command := exec.CommandContext(ctx, kubectl, "--kubeconfig", kubeconfig, "get", "--raw", "/readyz")
	command.Stderr = &complaint
	if err := command.Run(); err != nil {
		return fmt.Errorf("the cluster of %s does not answer: %w: %s", kubeconfig, err, bytes.TrimSpace(complaint.Bytes()))
	}
	return nil
}
