package cluster

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// installTimeout bounds how long the API server may take to know what was installed.
	installTimeout = 90 * time.Second
	// probeGroup is a group that is never stored.
	probeGroup = `
apiVersion: rollcall.dev/v1alpha1
kind: ConsumerGroup
metadata: {name: probe, namespace: default}
spec: {topics: [{name: t, partitions: 1}]}
`
)

// AwaitInstalled waits until the API server takes Rollcall's objects. That its kinds are established is not enough: what mutating
// policies know of kinds is brought up to date every few seconds, and until then each object of a new kind is refused.
func (c *Cluster) AwaitInstalled(ctx context.Context) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, installTimeout, true, func(ctx context.Context) (bool, error) {
		_, last = c.kubectl(ctx, probeGroup, []string{"create", "--dry-run=server", "-f", "-"})
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("the API server takes no ConsumerGroup in %s: %w", installTimeout, last)
	}
	return nil
}
