package controllers

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
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

const testDocument = v1alpha1.AssignmentAnnotationPrefix + "g"

// policyBed has a person with every right in a namespace but that to coordinate, and one with that right alone added.
type policyBed struct {
	t         *testing.T
	namespace string
	admin     client.Client
	person    client.Client
	trusted   client.Client
}

func newPolicyBed(t *testing.T) *policyBed {
	admin, namespace := onCluster(t)
	b := &policyBed{t: t, namespace: namespace, admin: admin}
	everything := rbacv1.PolicyRule{
		APIGroups: []string{"", "apps", "rollcall.dev"}, Resources: []string{"*"},
		Verbs: []string{"get", "list", "watch", "create", "update", "patch", "delete"},
	}
	coordinate := rbacv1.PolicyRule{APIGroups: []string{"rollcall.dev"}, Resources: []string{"consumergroups"}, Verbs: []string{"coordinate"}}
	b.person = b.user("person-"+namespace, everything)
	b.trusted = b.user("trusted-"+namespace, everything, coordinate)
	return b
}

func (b *policyBed) user(name string, rules ...rbacv1.PolicyRule) client.Client {
	b.t.Helper()
	meta := metav1.ObjectMeta{Namespace: b.namespace, Name: name}
	mustCreate(b.t, b.admin, &rbacv1.Role{ObjectMeta: meta, Rules: rules}, &rbacv1.RoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}},
	})
	user := clientFor(b.t, userConfig(b.t, name, "system:authenticated"))
	// Roles and policies reach the API server's caches a moment after they are stored.
	eventually(b.t, "rights of "+name, func() error {
		return user.List(b.t.Context(), &corev1.PodList{}, client.InNamespace(b.namespace))
	})
	return user
}

// refused expects the policy's refusal with a message.
func refused(t *testing.T, what string, err error, message string) {
	t.Helper()
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), message) {
		t.Errorf("%s: got %v, want it forbidden with %q", what, err, message)
	}
}

func allowed(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

func mergePatch(json string) client.Patch { return client.RawPatch(types.MergePatchType, []byte(json)) }

func annotationPatch(value string) client.Patch {
	return mergePatch(`{"metadata":{"annotations":{"` + testDocument + `":` + value + `}}}`)
}

func (b *policyBed) pod(name string, annotations map[string]string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: name, Annotations: annotations},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "c"}}},
	}
}

// inForce waits until the policy is: it works from a cache of its own.
func (b *policyBed) inForce() {
	b.t.Helper()
	eventually(b.t, "the policy is in force", func() error {
		err := b.person.Create(b.t.Context(), b.pod("probe", map[string]string{testDocument: "{}"}), client.DryRunAll)
		if apierrors.IsForbidden(err) {
			return nil
		}
		return errFake
	})
}

func TestOnlyTheCoordinatorWritesDocuments(t *testing.T) {
	b := newPolicyBed(t)
	b.inForce()
	ctx := t.Context()
	const message = "are written by Rollcall alone"
	document := map[string]string{testDocument: "{}"}

	refused(t, "create a pod with a document", b.person.Create(ctx, b.pod("a", document)), message)
	allowed(t, "create a pod without", b.person.Create(ctx, b.pod("a", map[string]string{"example.com/a": "b"})))
	pod := b.pod("a", nil)
	status := func(c client.Client, patch client.Patch) error { return c.Status().Patch(ctx, pod.DeepCopy(), patch) }
	refused(t, "add a document", b.person.Patch(ctx, pod.DeepCopy(), annotationPatch(`"{}"`)), message)
	refused(t, "add a document through the status", status(b.person, annotationPatch(`"{}"`)), message)
	refused(t, "add a document through a binding", b.person.SubResource("binding").Create(ctx, pod.DeepCopy(), &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "a", Annotations: document},
		Target:     corev1.ObjectReference{Kind: "Node", Name: "nowhere"},
	}), message)

	allowed(t, "the coordinator adds a document", b.trusted.Patch(ctx, pod.DeepCopy(), annotationPatch(`"{}"`)))
	refused(t, "change a document", b.person.Patch(ctx, pod.DeepCopy(), annotationPatch(`"{ }"`)), message)
	refused(t, "remove a document", b.person.Patch(ctx, pod.DeepCopy(), annotationPatch(`null`)), message)
	refused(t, "remove a document through the status", status(b.person, annotationPatch(`null`)), message)
	allowed(t, "write another annotation", b.person.Patch(ctx, pod.DeepCopy(), mergePatch(`{"metadata":{"annotations":{"example.com/a":"c"}}}`)))
	allowed(t, "write the status beside a document", status(b.person, mergePatch(`{"status":{"message":"here"}}`)))
	allowed(t, "the coordinator removes a document", b.trusted.Patch(ctx, pod.DeepCopy(), annotationPatch(`null`)))
	allowed(t, "delete a pod", b.person.Delete(ctx, pod.DeepCopy()))
}

func TestTemplatesBearNoDocuments(t *testing.T) {
	b := newPolicyBed(t)
	set := testStatefulSet(b.namespace, "g", 0)
	set.Spec.Template.Annotations = map[string]string{testDocument: "{}"}
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "d"},
		Spec:       appsv1.DeploymentSpec{Selector: set.Spec.Selector, Template: *set.Spec.Template.DeepCopy()},
	}
	b.inForce()
	const message = "remove the annotations assignment.rollcall.dev/* from spec.template"
	refused(t, "StatefulSet", b.person.Create(t.Context(), set), message)
	refused(t, "Deployment", b.person.Create(t.Context(), deployment), message)
	set.Spec.Template.Annotations = map[string]string{v1alpha1.CapacityAnnotation: "2"}
	allowed(t, "StatefulSet without", b.person.Create(t.Context(), set))
}

func TestOnlyTheCoordinatorWritesStatuses(t *testing.T) {
	b := newPolicyBed(t)
	b.inForce()
	ctx := t.Context()
	group := testConsumerGroup(b.namespace, "g", 4)
	member := testMember("m")
	member.Namespace, member.Spec.Incarnation = b.namespace, "one"
	for _, obj := range []client.Object{group, member} {
		allowed(t, "create", b.person.Create(ctx, obj))
		patch := mergePatch(`{"status":{"generation":5}}`)
		refused(t, "status", b.person.Status().Patch(ctx, obj.DeepCopyObject().(client.Object), patch), "the status is written by Rollcall's coordinator alone")
		allowed(t, "the coordinator's status", b.trusted.Status().Patch(ctx, obj.DeepCopyObject().(client.Object), patch))
		allowed(t, "spec", b.person.Patch(ctx, obj, mergePatch(`{"metadata":{"labels":{"a":"b"}}}`)))
	}
}

func TestOnlyTheCoordinatorWritesPlans(t *testing.T) {
	b := newPolicyBed(t)
	b.inForce()
	ctx := t.Context()
	group := testConsumerGroup(b.namespace, "g", 4)
	mustCreate(t, b.admin, group)
	const message = "are its plans and written by Rollcall's coordinator alone"
	plan := func(name string, owned bool) *appsv1.ControllerRevision {
		revision := &appsv1.ControllerRevision{
			ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: name, Labels: map[string]string{v1alpha1.GroupLabel: "g"}},
			Revision:   1, Data: runtime.RawExtension{Raw: []byte(`{}`)},
		}
		if owned {
			revision.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(group, v1alpha1.GroupVersion.WithKind("ConsumerGroup"))}
		}
		return revision
	}
	refused(t, "create a plan", b.person.Create(ctx, plan("forged", true)), message)
	stray := plan("stray", false)
	allowed(t, "create a revision of one's own", b.person.Create(ctx, stray))
	stray.OwnerReferences = plan("", true).OwnerReferences
	refused(t, "make it a plan", b.person.Update(ctx, stray), message)

	genuine := plan("genuine", true)
	allowed(t, "the coordinator creates a plan", b.trusted.Create(ctx, genuine))
	forged := genuine.DeepCopy()
	forged.Revision = 7
	refused(t, "change a plan's generation", b.person.Update(ctx, forged), message)
	marked := genuine.DeepCopy()
	marked.Finalizers = []string{"example.com/wait"}
	allowed(t, "set a finalizer", b.person.Update(ctx, marked))
	marked.Finalizers = nil
	allowed(t, "remove a finalizer", b.person.Update(ctx, marked))
	orphan := marked.DeepCopy()
	orphan.OwnerReferences = nil
	allowed(t, "take a plan from its group", b.person.Update(ctx, orphan))
	refused(t, "give it back", b.person.Update(ctx, withOwner(orphan, genuine)), message)
	allowed(t, "delete a plan", b.person.Delete(ctx, orphan))
}

func withOwner(plan, owned *appsv1.ControllerRevision) *appsv1.ControllerRevision {
	again := plan.DeepCopy()
	again.OwnerReferences = owned.OwnerReferences
	return again
}

// A cascade=orphan deletion takes the owner from the plans, by the garbage collector: no policy may stop it.
func TestAGroupMayBeDeletedWithoutItsPlans(t *testing.T) {
	b := newPolicyBed(t)
	group := testConsumerGroup(b.namespace, "g", 4)
	mustCreate(t, b.admin, group)
	plan := &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: b.namespace, Name: "plan", Labels: map[string]string{v1alpha1.GroupLabel: "g"},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(group, v1alpha1.GroupVersion.WithKind("ConsumerGroup"))},
		},
		Revision: 1, Data: runtime.RawExtension{Raw: []byte(`{}`)},
	}
	mustCreate(t, b.trusted, plan)
	if err := b.person.Delete(t.Context(), group, client.PropagationPolicy(metav1.DeletePropagationOrphan)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the group goes", func() error { return gone(context.WithoutCancel(t.Context()), b.admin, group) })
	if err := b.admin.Get(t.Context(), client.ObjectKeyFromObject(plan), plan); err != nil {
		t.Errorf("the plan went with its group: %v", err)
	}
}
