package main

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

const annotation = "localcluster.rollcall.dev/"

// pod is a manifest of a pod with one annotation.
func pod(name, key, value string) string {
	return fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: default, annotations: {%s: %q}}
spec:
  terminationGracePeriodSeconds: 3
  containers: [{name: main, image: "example.com/web:1"}]
---`, name, annotation+key, value)
}

// shown reads fields of a pod; they stand between blanks.
func shown(t *testing.T, cluster, name string, fields ...string) string {
	t.Helper()
	return strings.TrimSpace(kubectl(t, cluster, "get", "pod", name, "--ignore-not-found", "-o", "jsonpath={"+strings.Join(fields, "}{' '}{")+"}"))
}

const (
	phase    = ".status.phase"
	ready    = ".status.conditions[?(@.type=='Ready')].status"
	restarts = ".status.containerStatuses[0].restartCount"
	waiting  = ".status.containerStatuses[0].state.waiting.reason"
	exitCode = ".status.containerStatuses[0].state.terminated.exitCode"
)

func podsBehave(t *testing.T, cluster string) {
	apply(t, cluster, pod("plain", "unused", "x")+pod("unready", "ready", "false")+pod("crashing", "crash", "1s")+
		pod("late", "starts-after", "2s")+pod("failed", "ends", "Failed")+pod("done", "ends", "Succeeded")+
		pod("stubborn", "terminates-after", "grace")+pod("killed", "exit-code", "137"))
	until := func(name, want string, fields ...string) {
		t.Helper()
		eventually(t, name+" is "+want, func() (string, bool) {
			seen := shown(t, cluster, name, fields...)
			return seen, seen == want
		})
	}
	until("plain", "Running True", phase, ready)
	until("unready", "Running False", phase, ready)
	until("late", "Running True", phase, ready)
	until("failed", "Failed 1", phase, exitCode)
	until("done", "Succeeded 0", phase, exitCode)
	t.Run("readiness is lost and found", func(t *testing.T) {
		kubectl(t, cluster, "annotate", "pod", "plain", annotation+"ready=false")
		until("plain", "Running False", phase, ready)
		kubectl(t, cluster, "annotate", "pod", "plain", annotation+"ready-")
		until("plain", "Running True", phase, ready)
	})
	t.Run("a crash loop, and its end", func(t *testing.T) { crashes(t, cluster, until) })
	t.Run("a lost node's pods do not stop", func(t *testing.T) { lostNode(t, cluster, until) })
	t.Run("a pod stops when it is deleted", func(t *testing.T) { stops(t, cluster, until) })
}

type untilFunc func(name, want string, fields ...string)

func crashes(t *testing.T, cluster string, until untilFunc) {
	eventually(t, "it was restarted twice", func() (string, bool) {
		seen := shown(t, cluster, "crashing", restarts)
		count, err := strconv.Atoi(seen)
		return seen, err == nil && count >= 2
	})
	until("crashing", "CrashLoopBackOff", waiting)
	if seen := shown(t, cluster, "crashing", ready); seen != "False" {
		t.Errorf("a crashing pod has ready %s", seen)
	}
	kubectl(t, cluster, "annotate", "pod", "crashing", annotation+"crash-")
	until("crashing", "Running True", phase, ready)
}

func lostNode(t *testing.T, cluster string, until untilFunc) {
	node := shown(t, cluster, "plain", ".spec.nodeName")
	mustRun(t, "node", "lose", "--name", cluster, node)
	condition := func(want string) {
		t.Helper()
		eventually(t, node+" is "+want, func() (string, bool) {
			seen := kubectl(t, cluster, "get", "node", node, "-o", "jsonpath={"+ready+"}")
			return seen, seen == want
		})
	}
	condition("Unknown")
	until("plain", "False", ready)
	kubectl(t, cluster, "delete", "pod", "plain", "--wait=false", "--grace-period=1")
	// A pod elsewhere that is deleted later has stopped: what was to happen to the first has happened.
	other := strings.NewReplacer("node-1", "node-2", "node-2", "node-1").Replace(node)
	kubectl(t, cluster, "run", "witness", "--image=example.com/web:1", "--overrides", `{"spec":{"nodeName":"`+other+`"}}`)
	until("witness", "True", ready)
	kubectl(t, cluster, "delete", "pod", "witness", "--wait=false")
	until("witness", "", phase)
	if seen := shown(t, cluster, "plain", phase); seen != "Running" {
		t.Errorf("a pod on a lost node was stopped: %s", seen)
	}
	mustRun(t, "node", "return", "--name", cluster, node)
	condition("True")
	until("plain", "", phase)
}

func stops(t *testing.T, cluster string, until untilFunc) {
	kubectl(t, cluster, "delete", "pod", "stubborn", "killed", "--wait=false")
	until("killed", "", phase)
	if seen := shown(t, cluster, "stubborn", phase); seen != "Running" {
		t.Errorf("a pod that uses its grace period of 3 s is %q right after the request to delete it", seen)
	}
	until("stubborn", "", phase)
}
