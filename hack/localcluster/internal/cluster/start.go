package cluster

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/rollcall-dev/rollcall/hack/localcluster/internal/process"
	"github.com/rollcall-dev/rollcall/hack/localcluster/internal/programs"
)

const (
	// startTimeout bounds the start of a cluster on a busy machine; an idle one takes seconds.
	startTimeout = 3 * time.Minute
	// pollEvery is how often a condition of the start is looked at.
	pollEvery = 50 * time.Millisecond
)

// Options say what cluster to start.
type Options struct {
	Layout   Layout
	Programs programs.Set
	// Nodes is how many nodes are simulated, in two zones in turn.
	Nodes int
}

// cluster is one that runs in this process.
type cluster struct {
	options    Options
	plan       plan
	spawner    *process.Spawner
	components []*process.Component
	// ended receives the first component that ends.
	ended chan *process.Component
}

// start starts the programs and waits until pods can be created, scheduled and run. On failure, too, the cluster is
// returned, with what was started.
func start(ctx context.Context, options Options, report func(string)) (*cluster, error) {
	c := &cluster{options: options, spawner: process.NewSpawner(), ended: make(chan *process.Component, 1)}
	reserved, err := reservePorts()
	if err != nil {
		return c, err
	}
	c.plan = plan{layout: options.Layout, set: options.Programs, ports: reserved}
	if err := writeCredentials(options.Layout, c.server()); err != nil {
		return c, err
	}
	if err := writeConfig(options.Layout); err != nil {
		return c, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	return c, c.bringUp(ctx, report)
}

// bringUp starts one program after the other, each when what it needs is there.
func (c *cluster) bringUp(ctx context.Context, report func(string)) error {
	api, err := newClient(c.options.Layout, c.server())
	if err != nil {
		return err
	}
	report("starting etcd and the API server")
	if err := c.run(c.plan.etcd(), c.plan.apiServer()); err != nil {
		return err
	}
	if err := c.await(ctx, "the API server is ready", api.ready); err != nil {
		return err
	}
	report("starting the controllers, the scheduler and the nodes")
	if err := c.run(c.plan.controllerManager(), c.plan.scheduler(), c.plan.kwok()); err != nil {
		return err
	}
	if err := createNodes(ctx, api, c.options.Nodes); err != nil {
		return err
	}
	if err := c.await(ctx, "the nodes are ready", func(ctx context.Context) error { return nodesReady(ctx, api) }); err != nil {
		return err
	}
	return c.await(ctx, "the default service account is there", func(ctx context.Context) error {
		const path = "/api/v1/namespaces/default/serviceaccounts/default"
		if there, err := api.has(ctx, path); err != nil || !there {
			return fmt.Errorf("%s is not there yet (%w)", path, err)
		}
		return nil
	})
}

func nodesReady(ctx context.Context, api *client) error {
	nodes, err := listNodes(ctx, api)
	if err != nil {
		return err
	}
	for _, node := range nodes {
		if node.Ready != "True" || node.tainted {
			return fmt.Errorf("%s is not ready for pods", node.Name)
		}
	}
	return nil
}

// run starts programs and watches over them.
func (c *cluster) run(specs ...process.Spec) error {
	for _, spec := range specs {
		component, err := c.spawner.Start(spec)
		if err != nil {
			return err
		}
		c.components = append(c.components, component)
		go func() {
			<-component.Ended()
			select {
			case c.ended <- component:
			default: // another one ended first and is the one to blame
			}
		}()
	}
	return nil
}

// await polls a condition until it holds, a program ends or ctx does.
func (c *cluster) await(ctx context.Context, what string, condition func(context.Context) error) error {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		err := condition(ctx)
		if err == nil {
			return nil
		}
		select {
		case component := <-c.ended:
			return component.Failure()
		case <-ctx.Done():
			return fmt.Errorf("waited in vain until %s: %w; the logs are in %s", what, err, c.options.Layout.Dir)
		case <-ticker.C:
		}
	}
}

// stop ends all programs and gives the ports back.
func (c *cluster) stop() {
	for i := len(c.components) - 1; i >= 0; i-- {
		c.components[i].Kill()
	}
	for _, port := range []process.Port{c.plan.ports.etcdClient, c.plan.ports.etcdPeer, c.plan.ports.apiServer} {
		port.Release()
	}
}

func (c *cluster) server() string {
	return loopback("https", c.plan.ports.apiServer)
}

// state describes the cluster.
func (c *cluster) state(phase Phase) State {
	layout := c.options.Layout
	processes := map[string]int{}
	for _, component := range c.components {
		processes[component.Name()] = component.PID()
	}
	return State{
		Name: layout.Name, Phase: phase, PID: os.Getpid(), Processes: processes, Server: c.server(),
		Kubeconfig: layout.Kubeconfig(), AuditLog: layout.Audit(), Dir: layout.Dir, Programs: c.options.Programs.Dir,
		Nodes: c.options.Nodes, Started: time.Now().UTC().Truncate(time.Second),
	}
}
