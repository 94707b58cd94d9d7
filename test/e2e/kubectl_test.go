package e2e_test

import (
	"context"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
)

// terminalWidth is what a table must fit.
const terminalWidth = 120

// What a user sees who has nothing but kubectl.
func TestKubectl(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.create(newGroup(groupName, 24), newSet("worker", groupName, 3))
	s.kubectl("wait", "--for=condition=Ready", "cg/"+groupName, "--timeout="+patience.String())
	s.awaitSettled(groupName, 3)

	t.Run("get fits a terminal", func(t *testing.T) { s.checkTable(t) })
	t.Run("a member that is away too", func(t *testing.T) {
		s.awaitAnotherSecond("worker-1")
		s.behave("worker-1", "ready", "false")
		s.await("it is Unavailable", func() bool { return s.member(groupName, "worker-1").Status.State == "Unavailable" })
		s.checkTable(t)
		s.behave("worker-1", "ready", "")
		s.awaitSettled(groupName, 3)
	})
	t.Run("describe tells why", func(t *testing.T) {
		s.scale("worker", 4)
		s.awaitSettled(groupName, 4)
		checkSays(t, s.kubectl("describe", "cg", groupName), "Stable", "MemberJoined", "worker-3", "Moved:", "Ready", "every member holds what its plan gives it")
		checkSays(t, s.kubectl("describe", "gm", groupName+".worker-3"), "Active", "Assigned", "Token:", "Ready")
	})
	t.Run("events tell the story", func(*testing.T) {
		s.poll("an event tells of the move", s.eventSent(func(event *eventsv1.Event) bool {
			return event.Regarding.Name == groupName && event.Reason == "Rebalanced" && strings.Contains(event.Note, "worker-3") &&
				strings.Contains(event.Note, "moved")
		}))
	})
	t.Run("rollcall is a category", func(t *testing.T) {
		checkSays(t, s.kubectl("get", "rollcall"), "consumergroup.rollcall.dev/"+groupName, "groupmember.rollcall.dev/"+groupName+".worker-0")
	})
	t.Run("wait for a group that is not there yet", func(t *testing.T) {
		done := make(chan string, 1)
		go func() {
			out, err := suite.cluster.Kubectl(t.Context(), "--namespace", s.namespace, "wait", "--for=condition=Ready", "cg/"+otherGroup, "--timeout="+patience.String())
			if err != nil {
				out = err.Error()
			}
			done <- out
		}()
		s.create(newGroup(otherGroup, 4), newDeployment("api", otherGroup, 2))
		checkSays(t, <-done, "condition met")
	})
}

// awaitAnotherSecond waits until the second in which a pod's container started is over: pods' timestamps have whole
// seconds, so readiness lost within it cannot be told from readiness not reached yet.
func (s *sandbox) awaitAnotherSecond(name string) {
	s.t.Helper()
	s.poll("the second of the start is over", func(context.Context) (bool, error) {
		pod, ok := named[*corev1.Pod](s.recorder, name)
		if !ok || len(pod.Status.ContainerStatuses) == 0 || pod.Status.ContainerStatuses[0].State.Running == nil {
			return false, nil
		}
		started := pod.Status.ContainerStatuses[0].State.Running.StartedAt
		return time.Since(started.Time) > 2*time.Second, nil
	})
}

// checkTable: the table of groups and members fits, and shows what matters.
func (s *sandbox) checkTable(t *testing.T) {
	t.Helper()
	table := s.kubectl("get", "cg,gm")
	for line := range strings.Lines(table) {
		if width := utf8.RuneCountInString(strings.TrimRight(line, " \n")); width > terminalWidth {
			t.Errorf("a line is %d wide, more than %d:\n%s", width, terminalWidth, table)
			break
		}
	}
	checkSays(t, table, "STATE", "GENERATION", "MEMBERS", "PARTITIONS", "READY", "REASON", "MEMBER", "PRESENCE", "24/24")
	t.Log("\n" + table)
}

func checkSays(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Errorf("%q is missing in\n%s", word, text)
		}
	}
}
