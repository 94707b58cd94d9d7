// Package cluster gives tests, benchmarks and the demo a local Kubernetes cluster: a real control plane with simulated
// nodes, started by the program in hack/localcluster. The first use on a machine builds the control plane, which takes
// minutes; `make test` does it beforehand.
package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// KubeconfigVariable names the environment variable that gives an existing cluster to use instead of a new one. Its
// nodes cannot be lost and its audit log cannot be read.
const KubeconfigVariable = "ROLLCALL_KUBECONFIG"

// Options say which cluster to start.
type Options struct {
	// Name is the cluster's name. Empty: a name of its own. A cluster of this name that runs already is used as it
	// is, and left running by Stop.
	Name string
	// Nodes is the number of simulated nodes, in two zones in turn. 0: four.
	Nodes int
	// Detached lets the cluster outlive this process; Stop ends it all the same.
	Detached bool
	// Progress receives what is being done. Nil: standard error.
	Progress io.Writer
}

// Cluster is a running cluster.
type Cluster struct {
	state    state
	launcher string
	config   *rest.Config
	owner    *owner // nil: somebody else's
	audit    auditReader
}

// state is what the launcher tells of a cluster.
type state struct {
	Name       string `json:"name"`
	Phase      string `json:"phase"`
	Kubeconfig string `json:"kubeconfig"`
	AuditLog   string `json:"auditLog"`
	Dir        string `json:"dir"`
	Programs   string `json:"programs"`
	External   bool   `json:"external"`
}

var started atomic.Int64

// Start returns a running cluster. Unless Detached, it ends with Stop or with this process, however that ends.
func Start(ctx context.Context, options Options) (*Cluster, error) {
	if options.Progress == nil {
		options.Progress = os.Stderr
	}
	if options.Nodes == 0 {
		options.Nodes = 4
	}
	launcher, err := buildLauncher(ctx)
	if err != nil {
		return nil, err
	}
	if options.Name == "" {
		options.Name = fmt.Sprintf("test-%d-%d", os.Getpid(), started.Add(1))
	} else if c, err := attach(ctx, launcher, options.Name); err == nil {
		return c, nil
	}
	if os.Getenv(KubeconfigVariable) != "" || options.Detached {
		return startDetached(ctx, launcher, options)
	}
	return startOwned(ctx, launcher, options)
}

// ForTest starts a cluster that ends with the test. The test fails if there is none, or if it broke meanwhile.
func ForTest(t testing.TB, options Options) *Cluster {
	t.Helper()
	c, err := Start(t.Context(), options)
	if err != nil {
		t.Fatalf("start a cluster: %v", err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Errorf("stop the cluster: %v", err)
		}
	})
	return c
}

// Attach returns the running cluster of this name. Stop leaves it running.
func Attach(ctx context.Context, name string) (*Cluster, error) {
	launcher, err := buildLauncher(ctx)
	if err != nil {
		return nil, err
	}
	return attach(ctx, launcher, name)
}

func attach(ctx context.Context, launcher, name string) (*Cluster, error) {
	answer, err := output(ctx, launcher, "status", "--json", "--name", name)
	if err != nil {
		return nil, fmt.Errorf("cluster %s does not run: %w", name, err)
	}
	return fromAnswer(launcher, answer, nil)
}

// fromAnswer reads what the launcher says of a cluster.
func fromAnswer(launcher string, answer []byte, owned *owner) (*Cluster, error) {
	var read state
	if err := json.Unmarshal(answer, &read); err != nil {
		return nil, fmt.Errorf("read the state of the cluster from %q: %w", bytes.TrimSpace(answer), err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", read.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig of cluster %s: %w", read.Name, err)
	}
	unlimited(config)
	return &Cluster{state: read, launcher: launcher, config: config, owner: owned}, nil
}

// unlimited takes the client's own limits away: the API server's flow control is the real one.
func unlimited(config *rest.Config) {
	config.QPS = -1
}

// Name is the cluster's name.
func (c *Cluster) Name() string { return c.state.Name }

// Dir is the folder of the cluster's files: logs/, kubeconfig, audit.log. It goes with the cluster.
func (c *Cluster) Dir() string { return c.state.Dir }

// Kubeconfig is the path of the administrator's kubeconfig.
func (c *Cluster) Kubeconfig() string { return c.state.Kubeconfig }

// Config is the administrator's client configuration, without a limit of requests. It is the caller's copy.
func (c *Cluster) Config() *rest.Config { return rest.CopyConfig(c.config) }

// ConfigFor is the client configuration of another user, as UserKubeconfig makes it.
func (c *Cluster) ConfigFor(ctx context.Context, user string, groups ...string) (*rest.Config, error) {
	path, err := c.UserKubeconfig(ctx, user, groups...)
	if err != nil {
		return nil, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig of %s: %w", user, err)
	}
	unlimited(config)
	return config, nil
}

// UserKubeconfig makes a kubeconfig by which the API server knows its bearer as this user in these groups, and returns
// its path. A program run with it has only that user's rights, and the audit log names the user.
func (c *Cluster) UserKubeconfig(ctx context.Context, user string, groups ...string) (string, error) {
	args := []string{"kubeconfig", "--name", c.state.Name, "--user", user}
	for _, group := range groups {
		args = append(args, "--group", group)
	}
	answer, err := output(ctx, c.launcher, args...)
	if err != nil {
		return "", fmt.Errorf("make a kubeconfig for %s: %w", user, err)
	}
	return string(bytes.TrimSpace(answer)), nil
}

// ServiceAccountKubeconfig is UserKubeconfig for a service account, with the groups that every service account is in.
func (c *Cluster) ServiceAccountKubeconfig(ctx context.Context, namespace, name string) (string, error) {
	return c.UserKubeconfig(ctx, ServiceAccountUser(namespace, name), "system:serviceaccounts",
		"system:serviceaccounts:"+namespace, "system:authenticated")
}

// ServiceAccountUser is the user name of a service account.
func ServiceAccountUser(namespace, name string) string {
	return "system:serviceaccount:" + namespace + ":" + name
}

// LoseNode makes a node silent, as if its machine had lost its power or network: its pods stay as they are, and after 4
// to 5 seconds the node lifecycle controller finds it Unknown. It does not wait for that.
func (c *Cluster) LoseNode(ctx context.Context, node string) error {
	return c.node(ctx, "lose", node)
}

// ReturnNode lets a lost node answer again.
func (c *Cluster) ReturnNode(ctx context.Context, node string) error {
	return c.node(ctx, "return", node)
}

func (c *Cluster) node(ctx context.Context, verb, node string) error {
	_, err := output(ctx, c.launcher, "node", verb, "--name", c.state.Name, node)
	if err != nil {
		return fmt.Errorf("%s node %s: %w", verb, node, err)
	}
	return nil
}

// Stop ends a cluster that Start started, and does nothing to others. The error says if the cluster had broken before.
func (c *Cluster) Stop() error {
	if c.owner == nil {
		return nil
	}
	return c.owner.stop()
}

// owner ends a cluster once.
type owner struct {
	once sync.Once
	end  func() error
	err  error
}

func (o *owner) stop() error {
	o.once.Do(func() { o.err = o.end() })
	return o.err
}

// startDetached starts, or adopts, a cluster that does not depend on this process.
func startDetached(ctx context.Context, launcher string, options Options) (*Cluster, error) {
	var answer bytes.Buffer
	command := launcherCommand(ctx, launcher, "up", "--json", "--name", options.Name, "--nodes", strconv.Itoa(options.Nodes))
	command.Stdout = &answer
	complaints := &tail{next: options.Progress}
	command.Stderr = complaints
	if err := command.Run(); err != nil {
		return nil, errors.Join(err, complaints.err())
	}
	end := func() error {
		_, err := output(context.Background(), launcher, "down", "--name", options.Name)
		return err
	}
	return fromAnswer(launcher, answer.Bytes(), &owner{end: end})
}
