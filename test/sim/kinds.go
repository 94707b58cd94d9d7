package sim

import (
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/controllers"
)

// The kinds that a Store holds.
const (
	KindConsumerGroup      = "ConsumerGroup"
	KindGroupMember        = "GroupMember"
	KindControllerRevision = "ControllerRevision"
	KindStatefulSet        = "StatefulSet"
	KindDeployment         = "Deployment"
	KindReplicaSet         = "ReplicaSet"
	KindPod                = "Pod"
	KindNode               = "Node"
	KindLease              = "Lease"
)

// kindOf is the name of the object's Go type, which is its kind.
func kindOf(object Object) string { return reflect.TypeOf(object).Elem().Name() }

// keyOf is the object's key in the store's one namespace, which cluster-wide objects share.
func keyOf(object Object) Key {
	key := controllers.KeyOf(object)
	key.Namespace = Namespace
	return key
}

// namespaceOf is where an object of this kind is stored; nodes are cluster-wide.
func namespaceOf(object Object) string {
	if _, isNode := object.(*corev1.Node); isNode {
		return ""
	}
	return Namespace
}

// parts are pointers to an object's spec and status; nil where the kind has none, or none that is written apart.
func parts(object Object) (spec, status any) {
	switch o := object.(type) {
	case *v1alpha1.ConsumerGroup:
		return &o.Spec, &o.Status
	case *v1alpha1.GroupMember:
		return &o.Spec, &o.Status
	case *corev1.Pod:
		return &o.Spec, &o.Status
	case *corev1.Node:
		return &o.Spec, &o.Status
	case *appsv1.StatefulSet:
		return &o.Spec, &o.Status
	case *appsv1.Deployment:
		return &o.Spec, &o.Status
	case *appsv1.ReplicaSet:
		return &o.Spec, &o.Status
	case *coordinationv1.Lease:
		return &o.Spec, nil
	case *appsv1.ControllerRevision:
		return &o.Data, nil
	}
	return nil, nil
}

// dropStatus: the main endpoint does not create a status where that is written apart.
func dropStatus(object Object) {
	switch o := object.(type) {
	case *v1alpha1.ConsumerGroup:
		o.Status = v1alpha1.ConsumerGroupStatus{}
	case *v1alpha1.GroupMember:
		o.Status = v1alpha1.GroupMemberStatus{}
	}
}

// takeStatus gives object the status of from, as a copy.
func takeStatus(object, from Object) {
	_, to := parts(object)
	if to == nil {
		return
	}
	_, status := parts(from.DeepCopyObject().(Object))
	reflect.ValueOf(to).Elem().Set(reflect.ValueOf(status).Elem())
}

// keepIdentity: what no update changes.
func keepIdentity(updated, stored Object) {
	updated.SetNamespace(stored.GetNamespace())
	updated.SetUID(stored.GetUID())
	updated.SetCreationTimestamp(stored.GetCreationTimestamp())
	updated.SetDeletionTimestamp(stored.GetDeletionTimestamp())
	updated.SetGeneration(stored.GetGeneration())
}

func specChanged(stored, updated Object) bool {
	before, _ := parts(stored)
	after, _ := parts(updated)
	return !equality.Semantic.DeepEqual(before, after)
}

func equal(a, b Object) bool { return equality.Semantic.DeepEqual(a, b) }

// graceful kinds are removed by whoever ends them (a kubelet), not with their last finalizer.
func graceful(object Object) bool {
	_, isPod := object.(*corev1.Pod)
	return isPod
}
