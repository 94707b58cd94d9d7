package cluster_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/rollcall-dev/rollcall/test/cluster"
	"github.com/rollcall-dev/rollcall/test/cluster/audit"
)

const statefulSet = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web, namespace: default}
spec:
  replicas: 3
  serviceName: web
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: main, image: "example.com/web:1"}]
`

// patience bounds every wait; it is far above what anything takes on an idle machine.
const patience = 2 * time.Minute

func TestCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a cluster")
	}
	c := cluster.ForTest(t, cluster.Options{Progress: t.Output()})
	client := kubernetes.NewForConfigOrDie(c.Config())
	t.Run("rolls a StatefulSet and counts who wrote", func(t *testing.T) { rollAndCount(t, c) })
	t.Run("counts no write that changes nothing", func(t *testing.T) { countNoNoOps(t, c, client) })
	t.Run("knows another user", func(t *testing.T) { actAsAnotherUser(t, c) })
	t.Run("loses a node and gets it back", func(t *testing.T) { loseANode(t, c, client) })
	t.Run("is found by its name", func(t *testing.T) { attachToIt(t, c) })
}

func rollAndCount(t *testing.T, c *cluster.Cluster) {
	ctx := t.Context()
	mark, err := c.Mark(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Apply(ctx, statefulSet); err != nil {
		t.Fatal(err)
	}
	rolledOut(t, c)
	if _, err := c.Kubectl(ctx, "rollout", "restart", "statefulset/web"); err != nil {
		t.Fatal(err)
	}
	rolledOut(t, c)

	writes, err := c.Writes(ctx, mark)
	if err != nil {
		t.Fatal(err)
	}
	controller := cluster.ServiceAccountUser("kube-system", "statefulset-controller")
	made := writes.Where(audit.By(controller), audit.To("pods")).Count(audit.PerKind)
	if made["create pods"] != 6 || made["delete pods"] != 3 {
		t.Errorf("a set of 3 that was rolled once makes 6 pods and deletes 3; the controller did %v", made)
	}
	if mine := writes.Where(audit.By("admin")); len(mine) != 2 {
		t.Errorf("the set was applied and restarted, two writes; counted were\n%s", mine)
	}
}

func countNoNoOps(t *testing.T, c *cluster.Cluster, client kubernetes.Interface) {
	ctx := t.Context()
	mark, err := c.Mark(ctx)
	if err != nil {
		t.Fatal(err)
	}
	label := []byte(`{"metadata":{"labels":{"color":"red"}}}`)
	for range 3 {
		if _, err := client.CoreV1().Pods("default").Patch(ctx, "web-0", types.MergePatchType, label, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	writes, err := c.Writes(ctx, mark)
	if err != nil {
		t.Fatal(err)
	}
	if mine := writes.Where(audit.By("admin"), audit.ToObject("default", "web-0")); len(mine) != 1 {
		t.Errorf("three equal patches change the pod once; counted were\n%s", mine)
	}
	again, err := c.Mark(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if later, err := c.Writes(ctx, again); err != nil || len(later.Where(audit.By("admin"))) != 0 {
		t.Errorf("nothing was written after the mark, yet counted were\n%s (%v)", later, err)
	}
}

func actAsAnotherUser(t *testing.T, c *cluster.Cluster) {
	path, err := c.ServiceAccountKubeconfig(t.Context(), "default", "worker")
	if err != nil {
		t.Fatal(err)
	}
	who, err := c.Kubectl(t.Context(), "--kubeconfig", path, "auth", "whoami", "-o", "jsonpath={.status.userInfo.username}")
	if err != nil || who != cluster.ServiceAccountUser("default", "worker") {
		t.Errorf("the API server knows the bearer as %q (%v)", who, err)
	}
	if _, err := c.Kubectl(t.Context(), "--kubeconfig", path, "get", "pods"); err == nil || !strings.Contains(err.Error(), "forbidden") {
		t.Errorf("a service account without a role may not list pods, but: %v", err)
	}
}

func loseANode(t *testing.T, c *cluster.Cluster, client kubernetes.Interface) {
	ctx := t.Context()
	pod, err := client.CoreV1().Pods("default").Get(ctx, "web-1", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	node := pod.Spec.NodeName
	if err := c.LoseNode(ctx, node); err != nil {
		t.Fatal(err)
	}
	await(t, "the node is Unknown", func(ctx context.Context) (bool, error) {
		return nodeIs(ctx, client, node, corev1.ConditionUnknown)
	})
	await(t, "its pod is not Ready", func(ctx context.Context) (bool, error) { return podReady(ctx, client, corev1.ConditionFalse) })
	if err := c.ReturnNode(ctx, node); err != nil {
		t.Fatal(err)
	}
	await(t, "the node is Ready", func(ctx context.Context) (bool, error) {
		return nodeIs(ctx, client, node, corev1.ConditionTrue)
	})
	await(t, "its pod is Ready", func(ctx context.Context) (bool, error) { return podReady(ctx, client, corev1.ConditionTrue) })
	if err := c.LoseNode(ctx, "node-99"); err == nil {
		t.Error("a node that is not there cannot be lost")
	}
}

func attachToIt(t *testing.T, c *cluster.Cluster) {
	same, err := cluster.Attach(t.Context(), c.Name())
	if err != nil {
		t.Fatal(err)
	}
	if same.Kubeconfig() != c.Kubeconfig() {
		t.Errorf("attached to %s instead of %s", same.Kubeconfig(), c.Kubeconfig())
	}
	if err := same.Stop(); err != nil {
		t.Error(err)
	}
	if _, err := c.Kubectl(t.Context(), "get", "nodes"); err != nil {
		t.Errorf("a cluster must outlive the Stop of who only attached to it: %v", err)
	}
	if _, err := cluster.Attach(t.Context(), "no-such-cluster"); err == nil {
		t.Error("there is no such cluster")
	}
}

func TestStopLeavesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a cluster")
	}
	for name, options := range map[string]cluster.Options{
		"of this process": {Nodes: 1},
		"detached":        {Nodes: 1, Detached: true},
	} {
		t.Run(name, func(t *testing.T) {
			options.Progress = t.Output()
			startAndStop(t, options)
		})
	}
}

func startAndStop(t *testing.T, options cluster.Options) {
	c, err := cluster.Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(c.Dir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there (%v)", c.Dir(), err)
	}
	if _, err := client(c).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("the API server still answers: %v", err)
	}
	if err := c.Stop(); err != nil {
		t.Errorf("stopping again: %v", err)
	}
}

func client(c *cluster.Cluster) kubernetes.Interface {
	return kubernetes.NewForConfigOrDie(c.Config())
}

func rolledOut(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	if _, err := c.Kubectl(t.Context(), "rollout", "status", "statefulset/web", "--timeout="+patience.String()); err != nil {
		t.Fatal(err)
	}
}

func nodeIs(ctx context.Context, client kubernetes.Interface, name string, ready corev1.ConditionStatus) (bool, error) {
	node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return false, err
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == ready, nil
		}
	}
	return false, nil
}

func podReady(ctx context.Context, client kubernetes.Interface, want corev1.ConditionStatus) (bool, error) {
	pod, err := client.CoreV1().Pods("default").Get(ctx, "web-1", metav1.GetOptions{})
	if err != nil {
		return false, err
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == want, nil
		}
	}
	return false, nil
}

func await(t *testing.T, what string, condition wait.ConditionWithContextFunc) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, patience, true, condition); err != nil {
		t.Fatalf("waited in vain until %s: %v", what, err)
	}
}
