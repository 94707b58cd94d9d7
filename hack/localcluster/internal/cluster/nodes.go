package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/rollcall-dev/rollcall/hack/localcluster/internal/programs"
)

const (
	// simulatedLabel marks the nodes that KWOK plays. It watches by this label, so a node that loses it falls silent:
	// its lease expires, its pods stay as they are, and the node lifecycle controller finds it lost.
	simulatedLabel = Prefix + "/simulated"
	zoneLabel      = "topology.kubernetes.io/zone"
	nodesPath      = "/api/v1/nodes"
)

// zones are those of the nodes, in turn.
var zones = []string{"zone-a", "zone-b"}

// Node is what the launcher shows of a node.
type Node struct {
	Name, Zone string
	// Ready is the status of its condition Ready: True, False or Unknown.
	Ready string
	// Lost is whether it was made silent.
	Lost bool
	// tainted is whether new pods are kept off it.
	tainted bool
}

// nodeObject is the part of a node object that is used here.
type nodeObject struct {
	Metadata struct {
		Name   string            `json:"name"`
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
	Spec struct {
		Taints []struct {
			Key string `json:"key"`
		} `json:"taints"`
	} `json:"spec"`
	Status struct {
		Conditions []struct {
			Type   string `json:"type"`
			Status string `json:"status"`
		} `json:"conditions"`
	} `json:"status"`
}

func (o nodeObject) node() Node {
	node := Node{
		Name: o.Metadata.Name, Zone: o.Metadata.Labels[zoneLabel], Ready: "Unknown",
		Lost: o.Metadata.Labels[simulatedLabel] != "true", tainted: len(o.Spec.Taints) > 0,
	}
	for _, condition := range o.Status.Conditions {
		if condition.Type == "Ready" {
			node.Ready = condition.Status
		}
	}
	return node
}

// newNode returns the node with this number, counted from 1, as its kubelet would register it.
func newNode(number int, version string) map[string]any {
	name := fmt.Sprintf("node-%d", number)
	size := map[string]string{"cpu": "1000", "memory": "1Ti", "pods": "100000", "ephemeral-storage": "1Ti"}
	return map[string]any{
		"apiVersion": "v1", "kind": "Node",
		"metadata": map[string]any{"name": name, "labels": map[string]string{
			simulatedLabel: "true", zoneLabel: zones[(number-1)%len(zones)],
			"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
			"topology.kubernetes.io/region": "local",
		}},
		"status": map[string]any{
			"allocatable": size, "capacity": size,
			"addresses": []map[string]string{
				{"type": "InternalIP", "address": fmt.Sprintf("10.0.%d.%d", number/250, number%250+1)},
				{"type": "Hostname", "address": name},
			},
			"nodeInfo": map[string]string{
				"kubeletVersion": version, "kubeProxyVersion": "", "operatingSystem": "linux", "architecture": "amd64",
				"containerRuntimeVersion": "simulated", "kernelVersion": "simulated", "osImage": "simulated",
				"bootID": "", "machineID": "", "systemUUID": "",
			},
		},
	}
}

// createNodes registers count nodes.
func createNodes(ctx context.Context, c *client, count int) error {
	var version struct {
		GitVersion string `json:"gitVersion"`
	}
	if err := c.do(ctx, http.MethodGet, "/version", "", nil, &version); err != nil {
		return err
	}
	for number := 1; number <= count; number++ {
		if err := c.do(ctx, http.MethodPost, nodesPath, "application/json", newNode(number, version.GitVersion), nil); err != nil {
			return fmt.Errorf("create node %d: %w", number, err)
		}
	}
	return nil
}

func listNodes(ctx context.Context, c *client) ([]Node, error) {
	var list struct {
		Items []nodeObject `json:"items"`
	}
	if err := c.do(ctx, http.MethodGet, nodesPath, "", nil, &list); err != nil {
		return nil, err
	}
	nodes := make([]Node, 0, len(list.Items))
	for _, item := range list.Items {
		nodes = append(nodes, item.node())
	}
	return nodes, nil
}

// Nodes lists the nodes of a running cluster.
func Nodes(ctx context.Context, layout Layout, state State) ([]Node, error) {
	c, err := administrator(layout, state)
	if err != nil {
		return nil, err
	}
	return listNodes(ctx, c)
}

// SetLost makes a node silent, as if its machine had lost power or network, or lets it answer again. It does not wait
// until the control plane has noticed.
func SetLost(ctx context.Context, layout Layout, state State, name string, lost bool) error {
	c, err := administrator(layout, state)
	if err != nil {
		return err
	}
	var value any = "true"
	if lost {
		value = nil
	}
	patch := map[string]any{"metadata": map[string]any{"labels": map[string]any{simulatedLabel: value}}}
	err = c.do(ctx, http.MethodPatch, nodesPath+"/"+name, "application/merge-patch+json", patch, nil)
	var refused *answer
	if errors.As(err, &refused) && refused.code == http.StatusNotFound {
		return fmt.Errorf("cluster %s has no node %s%s", layout.Name, name, knownNodes(ctx, c))
	}
	return err
}

func knownNodes(ctx context.Context, c *client) string {
	nodes, err := listNodes(ctx, c)
	if err != nil {
		return ""
	}
	names := make([]string, 0, len(nodes))
	for _, node := range nodes {
		names = append(names, node.Name)
	}
	return "; it has " + strings.Join(names, ", ")
}

// administrator returns a client of a running cluster whose nodes are simulated here.
func administrator(layout Layout, state State) (*client, error) {
	if state.External {
		return nil, fmt.Errorf("cluster %s was not started here: its nodes are not simulated", layout.Name)
	}
	if state.Phase != Running {
		return nil, fmt.Errorf("cluster %s is %s, not running", layout.Name, strings.ToLower(string(state.Phase)))
	}
	return newClient(layout, state.Server)
}

// Kubectl returns the path of kubectl for a cluster that may have been started elsewhere.
func Kubectl(state State, lookPath func(string) (string, error)) (string, error) {
	if state.Programs != "" {
		return programs.Set{Dir: state.Programs}.Path(programs.Kubectl), nil
	}
	if path, err := lookPath(programs.Kubectl); err == nil {
		return path, nil
	}
	set, err := programs.Find()
	if err != nil {
		return "", fmt.Errorf("kubectl is not on PATH and was not built yet (run `localcluster build`): %w", err)
	}
	return set.Path(programs.Kubectl), nil
}
