package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/rollcall-dev/rollcall/test/cluster"
	"github.com/rollcall-dev/rollcall/test/cluster/audit"
)

const (
	sampleGroup = "orders"
	// quiet is how long Rollcall must have written nothing before its writes are counted, so that late ones are, too.
	quiet = time.Second
)

// writes are those of Rollcall since the step began: requests that changed an object, by the API server's audit log;
// events and the leader's lease aside. They are counted once a step.
func (s *story) writes() audit.Writes {
	if s.err != nil || s.counted != nil {
		return s.counted
	}
	us := cluster.ServiceAccountUser(systemNamespace, serviceAccount)
	since, counted := time.Now(), audit.Writes{}
	err := wait.PollUntilContextTimeout(s.ctx, 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		all, err := s.stage.cluster.Writes(ctx, s.mark)
		if err != nil {
			return false, err
		}
		if now := all.Where(audit.By(us)); len(now) != len(counted) {
			counted, since = now, time.Now()
		}
		return time.Since(since) >= quiet, nil
	})
	if err != nil {
		s.err = fmt.Errorf("count the writes: %w", err)
		return nil
	}
	s.counted = counted
	return counted
}

// writesForOnePod is the greatest number of writes that one pod cost: to its member and to itself.
func (s *story) writesForOnePod() int {
	about := s.writes().Where(func(w audit.Write) bool {
		return audit.To("pods")(w) || audit.To("groupmembers.rollcall.dev")(w)
	})
	most := 0
	for _, count := range about.Count(func(w audit.Write) string { return strings.TrimPrefix(w.Name, sampleGroup+".") }) {
		most = max(most, count)
	}
	return most
}

func (s *story) writesToGroup() int {
	return len(s.writes().Where(audit.To("consumergroups.rollcall.dev")))
}
