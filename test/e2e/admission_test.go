package e2e_test

import (
	"context"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/controllers"
)

// What only the coordinator may say, nobody else can, whatever else he may do in the namespace. The manager itself has no
// more rights than its manifests give it: all other tests show that they suffice.
func TestOnlyTheCoordinatorCoordinates(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.create(newGroup(groupName, 4), newSet(setName, groupName, 2))
	s.awaitSettled(groupName, 2)
	user := s.mighty("mallory")

	merge := func(text string) client.Patch { return client.RawPatch("application/merge-patch+json", []byte(text)) }
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "web-0"}}
	document := merge(`{"metadata":{"annotations":{"` + v1alpha1.AssignmentAnnotationPrefix + groupName + `":"{}"}}}`)
	for name, attempt := range map[string]func(context.Context) error{
		"a document on a pod":            func(ctx context.Context) error { return user.Patch(ctx, pod.DeepCopy(), document) },
		"a document through pods/status": func(ctx context.Context) error { return user.Status().Patch(ctx, pod.DeepCopy(), document) },
		"taking a document away": func(ctx context.Context) error {
			return user.Patch(ctx, pod.DeepCopy(), merge(`{"metadata":{"annotations":{"`+v1alpha1.AssignmentAnnotationPrefix+groupName+`":null}}}`))
		},
		"a pod made with a document": func(ctx context.Context) error {
			own := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "own"}}
			own.Annotations = map[string]string{v1alpha1.AssignmentAnnotationPrefix + groupName: "{}"}
			own.Spec.Containers = []corev1.Container{{Name: "main", Image: "example.com/app:1"}}
			return user.Create(ctx, own)
		},
		"a group's status": func(ctx context.Context) error {
			return user.Status().Patch(ctx, s.group(groupName).DeepCopy(), merge(`{"status":{"generation":99}}`))
		},
		"a member's status": func(ctx context.Context) error {
			return user.Status().Patch(ctx, s.member(groupName, "web-0").DeepCopy(), merge(`{"status":{"revision":99}}`))
		},
		"a plan": func(ctx context.Context) error { return user.Create(ctx, forgedPlan(s.group(groupName))) },
	} {
		t.Run(name, func(t *testing.T) {
			err := attempt(t.Context())
			if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "may not coordinate consumergroups") {
				t.Errorf("the answer must be that mallory may not coordinate; it is: %v", err)
			}
		})
	}
	t.Run("anything else is free", func(t *testing.T) {
		if err := user.Patch(t.Context(), pod.DeepCopy(), merge(`{"metadata":{"labels":{"color":"red"}}}`)); err != nil {
			t.Errorf("a label on a pod that bears a document: %v", err)
		}
		if err := user.Patch(t.Context(), s.group(groupName).DeepCopy(), merge(`{"spec":{"rebalanceTimeout":"1m"}}`)); err != nil {
			t.Errorf("a change of a group's spec: %v", err)
		}
	})
	s.judge(groupName)
}

// forgedPlan would give everything to nobody.
func forgedPlan(group *v1alpha1.ConsumerGroup) *appsv1.ControllerRevision {
	plan := &appsv1.ControllerRevision{Revision: group.Status.Generation + 1, Data: runtime.RawExtension{Raw: []byte(`{}`)}}
	plan.Namespace, plan.GenerateName = group.Namespace, group.Name+"-forged-"
	plan.Labels = map[string]string{v1alpha1.GroupLabel: group.Name}
	plan.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(group, v1alpha1.SchemeGroupVersion.WithKind("ConsumerGroup"))}
	return plan
}

// mighty is a client of a user who may read and write everything in the namespace, but has not the verb coordinate.
func (s *sandbox) mighty(user string) client.Client {
	s.t.Helper()
	verbs := []string{"get", "list", "watch", "create", "update", "patch", "delete"}
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: user}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: verbs},
	}}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
	s.create(role, binding)
	config, err := suite.cluster.ConfigFor(s.t.Context(), user)
	if err != nil {
		s.t.Fatal(err)
	}
	c, err := client.New(config, client.Options{Scheme: controllers.Scheme()})
	if err != nil {
		s.t.Fatal(err)
	}
	s.poll("the user has his rights", func(ctx context.Context) (bool, error) {
		err := c.Get(ctx, client.ObjectKeyFromObject(s.group(groupName)), &v1alpha1.ConsumerGroup{})
		if apierrors.IsForbidden(err) {
			return false, nil
		}
		return err == nil, err
	})
	return c
}
