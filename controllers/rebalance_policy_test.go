package controllers

import (
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

func forced(token string) client.Patch {
	return mergePatch(`{"metadata":{"annotations":{"` + v1alpha1.RebalanceAnnotation + `":"` + token + `"}}}`)
}

func createdBy(user string) client.Patch {
	return mergePatch(`{"metadata":{"annotations":{"` + v1alpha1.CreatorAnnotation + `":` + user + `}}}`)
}

// Who created a group may force a rebalance of it, and who has the verb; nobody else.
func TestWhoMayForceARebalance(t *testing.T) {
	b := newPolicyBed(t)
	write := rbacv1.PolicyRule{
		APIGroups: []string{"", "rollcall.dev"}, Resources: []string{"pods", "consumergroups"}, Verbs: []string{"get", "list", "create", "update", "patch", "delete"},
	}
	rebalance := rbacv1.PolicyRule{APIGroups: []string{"rollcall.dev"}, Resources: []string{"consumergroups"}, Verbs: []string{"rebalance"}}
	stranger, allowedTo := b.user("stranger-"+b.namespace, write), b.user("allowed-"+b.namespace, write, rebalance)
	ctx := t.Context()
	group := testConsumerGroup(b.namespace, "g", 4)
	group.Annotations = map[string]string{v1alpha1.CreatorAnnotation: "somebody-else"}
	eventually(t, "the policies are in force", func() error {
		probe := testConsumerGroup(b.namespace, "probe", 1)
		if err := b.person.Create(ctx, probe); err != nil {
			return err
		}
		noted := probe.Annotations[v1alpha1.CreatorAnnotation] == "person-"+b.namespace
		refusedNow := apierrors.IsForbidden(stranger.Patch(ctx, probe.DeepCopy(), forced("probe")))
		if err := b.person.Delete(ctx, probe); err != nil || !noted || !refusedNow {
			return errFake
		}
		return nil
	})
	allowed(t, "create", b.person.Create(ctx, group))
	if got := group.Annotations[v1alpha1.CreatorAnnotation]; got != "person-"+b.namespace {
		t.Errorf("the creator is noted as %q, whatever the object said", got)
	}
	const message = "NotAuthorized"
	refused(t, "a stranger forces", stranger.Patch(ctx, group.DeepCopy(), forced("r1")), message)
	allowed(t, "the creator forces", b.person.Patch(ctx, group.DeepCopy(), forced("r1")))
	allowed(t, "who has the verb forces", allowedTo.Patch(ctx, group.DeepCopy(), forced("r2")))
	allowed(t, "a stranger writes the spec", stranger.Patch(ctx, group.DeepCopy(), mergePatch(`{"spec":{"maxMembers":7}}`)))
	allowed(t, "a stranger takes the request away", stranger.Patch(ctx, group.DeepCopy(),
		mergePatch(`{"metadata":{"annotations":{"`+v1alpha1.RebalanceAnnotation+`":null}}}`)))

	refused(t, "another creator", b.person.Patch(ctx, group.DeepCopy(), createdBy(`"stranger"`)), "cannot be changed")
	kept := group.DeepCopy()
	allowed(t, "leave the creator out", b.person.Patch(ctx, kept, createdBy(`null`)))
	if got := kept.Annotations[v1alpha1.CreatorAnnotation]; got != "person-"+b.namespace {
		t.Errorf("the creator became %q when it was left out", got)
	}
}
