package controllers

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// lossy loses every fifth write before it is sent, and every seventh one's answer.
func lossy(lost *atomic.Int64) func(http.RoundTripper) http.RoundTripper {
	var count atomic.Int64
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			path := request.URL.Path
			ours := strings.Contains(path, "/rollcall.dev/") || strings.Contains(path, "/controllerrevisions") || strings.Contains(path, "/pods")
			if !mutates(request.Method) || !ours {
				return next.RoundTrip(request)
			}
			switch n := count.Add(1); {
			case n%5 == 0:
				lost.Add(1)
				return nil, errFake
			case n%7 == 0:
				if response, err := next.RoundTrip(request); err == nil {
					_ = response.Body.Close()
				}
				lost.Add(1)
				return nil, errFake
			default:
				return next.RoundTrip(request)
			}
		})
	}
}

// watchHolders looks at the members as fast as it can, and reports a partition with two holders.
func watchHolders(t *testing.T, c client.Client, namespace string) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		for ctx.Err() == nil {
			var members v1alpha1.GroupMemberList
			if err := c.List(ctx, &members, client.InNamespace(namespace)); err != nil {
				if ctx.Err() == nil {
					t.Errorf("list members: %v", err)
				}
				return
			}
			if twice := heldTwice(members.Items); twice != "" {
				t.Error(twice)
				return
			}
		}
	})
	return func() { cancel(); running.Wait() }
}

// heldTwice names a partition that two members hold: in assignment, or in a revocation that they have not acknowledged.
func heldTwice(members []v1alpha1.GroupMember) string {
	holder := map[string]string{}
	for i := range members {
		m := &members[i]
		var held []v1alpha1.TopicPartitions
		if m.Status.Assignment != nil {
			held = append(held, m.Status.Assignment.TopicPartitions...)
		}
		for _, r := range m.Status.Revoking {
			if a := m.Spec.Acknowledged; a == nil || a.MemberID != r.MemberID || a.Revision < r.Revision {
				held = append(held, r.TopicPartitions...)
			}
		}
		for _, entry := range held {
			for _, partition := range entry.Partitions {
				key := fmt.Sprintf("%s-%d", entry.Topic, partition)
				if other, ok := holder[key]; ok {
					return fmt.Sprintf("%s is held by %s and by %s", key, other, m.Name)
				}
				holder[key] = m.Name
			}
		}
	}
	return ""
}

// Whatever becomes of single writes, nobody ever holds what another holds, and in the end all is as if none had been lost.
func TestLostWrites(t *testing.T) {
	c, namespace := onCluster(t)
	var lost atomic.Int64
	m := startManagerVia(t, lossy(&lost))
	stop := watchHolders(t, c, namespace)
	defer stop()
	group, set := testConsumerGroup(namespace, "g", 24), testStatefulSet(namespace, "g", 4)
	mustCreate(t, c, group, set)
	key := client.ObjectKeyFromObject(group)
	before := groupIs(t, c, key, 4)
	scale(t, c, set, 6)
	grown := groupIs(t, c, key, 6)
	if got := grown.Status.Generation - before.Status.Generation; got != 1 {
		t.Errorf("4 to 6 pods cost %d generations, want 1", got)
	}
	if got := grown.Status.LastRebalance.Moved; got != 8 {
		t.Errorf("4 to 6 pods moved %d of 24 partitions, want 8", got)
	}
	scale(t, c, set, 4)
	groupIs(t, c, key, 4)
	eventually(t, "documents", func() error { return documentsTell(t.Context(), c, namespace, "g", 4) })
	eventually(t, "silence", func() error { return m.quietFor(3 * time.Second) })
	if lost.Load() < 5 {
		t.Errorf("only %d writes were lost: the test proves nothing", lost.Load())
	}
}
