package e2e_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// Topics grow, shrink, come and go: each change costs one generation, and what comes back has a greater token.
func TestTopicsChange(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.create(newGroup(groupName, 12), newSet(setName, groupName, 3))
	s.awaitSettled(groupName, 3)
	generation, tokens := s.group(groupName).Status.Generation, s.tokens(groupName)
	for _, step := range []struct {
		name, topics string
		partitions   int
	}{
		{"grown", `{"name":"orders","partitions":15}`, 15},
		{"shrunk", `{"name":"orders","partitions":6}`, 6},
		{"added", `{"name":"orders","partitions":6},{"name":"refunds","partitions":6}`, 12},
		{"removed", `{"name":"refunds","partitions":6}`, 6},
		{"back", `{"name":"orders","partitions":12},{"name":"refunds","partitions":6}`, 18},
	} {
		changed := &v1alpha1.ConsumerGroup{ObjectMeta: metav1.ObjectMeta{Name: groupName}}
		s.patch(changed, `{"spec":{"topics":[`+step.topics+`]}}`)
		s.await("the change is seen", func() bool { return s.group(groupName).Generation == changed.Generation })
		s.awaitSettled(groupName, 3)
		generation++
		if status := s.group(groupName).Status; status.Generation != generation || !strings.Contains(status.LastRebalance.Reason, "TopicsChanged") {
			t.Errorf("%s: generation %d (%s), not %d", step.name, status.Generation, status.LastRebalance.Reason, generation)
		}
		if owners := s.owners(groupName); len(owners) != step.partitions {
			t.Errorf("%s: %d partitions are held, not %d", step.name, len(owners), step.partitions)
		}
		checkEven(t, s.shares(groupName), step.partitions/3)
	}
	// Those above 5 were away for a while; the lower ones too, while the topic was not there.
	checkTokensRose(t, tokens, s.tokens(groupName))
	s.judge(groupName)
}
