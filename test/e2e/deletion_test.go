package e2e_test

import (
	"context"
	"maps"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/test/referee"
)

// A deleted group ends with all that was made for it. Created again, it fences whoever still holds an old token.
func TestGroupDeletedAndCreatedAgain(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.create(newGroup(groupName, 12), newSet(setName, groupName, 3))
	s.awaitSettled(groupName, 3)
	tokens := s.tokens(groupName)

	s.kubectl("delete", "consumergroup", groupName, "--timeout="+patience.String())
	s.await("all that was made for it is gone", func() bool {
		return s.group(groupName).Name == "" && len(s.members(groupName)) == 0 && len(s.currentPlans(groupName)) == 0 && !s.anyDocument()
	})
	if pods := s.pods(setName); len(pods) != 3 {
		t.Errorf("the pods are none of its business: %d of 3 are there", len(pods))
	}

	s.create(newGroup(groupName, 12))
	s.awaitSettled(groupName, 3)
	checkTokensRose(t, tokens, s.tokens(groupName))
	s.judge(groupName)
}

// A member deleted by hand whose pod is still wanted hands over what it holds, and joins again as a new member.
func TestMemberDeletedByHand(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.create(newGroup(groupName, 12), newSet(setName, groupName, 3))
	s.awaitSettled(groupName, 3)
	tokens, before := s.tokens(groupName), s.member(groupName, "web-1")

	s.kubectl("delete", "groupmember", before.Name, "--timeout="+patience.String())
	s.await("it is there again, another object", func() bool {
		now := s.member(groupName, "web-1")
		return now.UID != "" && now.UID != before.UID
	})
	s.awaitSettled(groupName, 3)
	checkEven(t, s.shares(groupName), 4)
	changed := maps.Clone(tokens)
	maps.DeleteFunc(changed, func(c referee.Copy, _ int64) bool { return s.owners(groupName)[c] != "web-1" })
	checkTokensRose(t, changed, s.tokens(groupName))
	s.judge(groupName)
}

// A namespace that is deleted with everything in it ends.
func TestNamespaceDeleted(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.create(newGroup(groupName, 12), newSet(setName, groupName, 3, shortGrace),
		newGroup(otherGroup, 4), newDeployment("api", otherGroup, 2, shortGrace))
	s.awaitSettled(groupName, 3)
	s.awaitSettled(otherGroup, 2)

	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}
	if err := suite.client.Delete(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	s.poll("the namespace is gone", func(ctx context.Context) (bool, error) {
		err := suite.client.Get(ctx, client.ObjectKeyFromObject(namespace), namespace)
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
}

// currentPlans are the names of the plans that are kept.
func (s *sandbox) currentPlans(group string) []string {
	var names []string
	for _, revision := range current[*appsv1.ControllerRevision](s.recorder) {
		if revision.Labels[v1alpha1.GroupLabel] == group {
			names = append(names, revision.Name)
		}
	}
	return names
}

// anyDocument says that some pod bears an assignment document.
func (s *sandbox) anyDocument() bool {
	for _, pod := range current[*corev1.Pod](s.recorder) {
		for key := range pod.Annotations {
			if strings.HasPrefix(key, v1alpha1.AssignmentAnnotationPrefix) {
				return true
			}
		}
	}
	return false
}

// checkTokensRose: each copy that had a token has a greater one now.
func checkTokensRose(t *testing.T, before, now map[referee.Copy]int64) {
	t.Helper()
	for c, token := range before {
		if now[c] <= token {
			t.Errorf("the token of %s was %d and is %d", c, token, now[c])
		}
	}
}
