package cluster

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Kubectl runs kubectl as the administrator and returns what it prints.
func (c *Cluster) Kubectl(ctx context.Context, args ...string) (string, error) {
	return c.kubectl(ctx, "", args)
}

// Apply applies manifests, given as YAML or JSON.
func (c *Cluster) Apply(ctx context.Context, manifests string) error {
	_, err := c.kubectl(ctx, manifests, []string{"apply", "--server-side", "--force-conflicts", "-f", "-"})
	return err
}

// Env is the environment of a program that is to find the cluster, and kubectl: KUBECONFIG and PATH are set.
func (c *Cluster) Env() []string {
	path := os.Getenv("PATH")
	if c.state.Programs != "" {
		path = c.state.Programs + string(os.PathListSeparator) + path
	}
	return append(os.Environ(), "KUBECONFIG="+c.state.Kubeconfig, "PATH="+path)
}

// KubectlPath is the path of kubectl.
func (c *Cluster) KubectlPath() string {
	if c.state.Programs == "" {
		return "kubectl" // of a cluster that was started elsewhere: from PATH
	}
	return filepath.Join(c.state.Programs, "kubectl")
}

func (c *Cluster) kubectl(ctx context.Context, input string, args []string) (string, error) {
	command := exec.CommandContext(ctx, c.KubectlPath(), args...)
	command.Env = c.Env()
	command.Stdin = strings.NewReader(input)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return stdout.String(), fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return stdout.String(), nil
}
