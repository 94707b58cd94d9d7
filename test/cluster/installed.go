package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
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

// creatorNoted is what the policies' work on a new group is known by.
const creatorNoted = "rollcall.dev/creator"

// AwaitInstalled waits until the API server takes Rollcall's objects and minds its policies. That the kinds are established is not
// enough: policies come into force some time later, and what mutating ones know of kinds is brought up to date every few seconds;
// in between each object of a new kind is refused.
func (c *Cluster) AwaitInstalled(ctx context.Context) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, installTimeout, true, func(ctx context.Context) (bool, error) {
		var made string
		made, last = c.kubectl(ctx, probeGroup, []string{"create", "--dry-run=server", "-o", "yaml", "-f", "-"})
		if last == nil && !strings.Contains(made, creatorNoted) {
			last = errors.New("no policy notes who creates it")
		}
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("the API server takes no ConsumerGroup in %s: %w", installTimeout, last)
	}
	return nil
}
