package controllers

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/rollcall-dev/rollcall/test/cluster"
)

// patience is how long a test waits for what must come true on the cluster.
const patience = 60 * time.Second

// shared by all tests of the package: one cluster with everything installed but the manager.
var testCluster struct {
	once sync.Once
	*cluster.Cluster
	err error
}

func TestMain(m *testing.M) {
	flag.Parse()
	logf.SetLogger(logr.Discard())
	code := m.Run()
	if testCluster.Cluster != nil {
		if err := testCluster.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stop the cluster:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// onCluster gives the administrator's client and a namespace of the test's own. With -short the test is skipped.
func onCluster(t *testing.T) (client.Client, string) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a cluster")
	}
	testCluster.once.Do(func() { testCluster.Cluster, testCluster.err = startCluster(context.Background()) })
	if testCluster.err != nil {
		t.Fatal(testCluster.err)
	}
	admin := clientFor(t, testCluster.Config())
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := admin.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	return admin, namespace.Name
}

func startCluster(ctx context.Context) (*cluster.Cluster, error) {
	c, err := cluster.Start(ctx, cluster.Options{})
	if err != nil {
		return nil, err
	}
	for _, folder := range []string{"crd", "rbac", "policy"} {
		if err := applyFolder(ctx, c, "../config/"+folder); err != nil {
			return c, err
		}
	}
	return c, c.AwaitInstalled(ctx)
}

// applyFolder installs a kustomization; namespaces that it names are made first.
func applyFolder(ctx context.Context, c *cluster.Cluster, folder string) error {
	command := exec.CommandContext(ctx, c.KubectlPath(), "kustomize", folder)
	var complaints bytes.Buffer
	command.Stderr = &complaints
	manifests, err := command.Output()
	if err != nil {
		return fmt.Errorf("kustomize %s: %w: %s", folder, err, complaints.String())
	}
	namespace := "apiVersion: v1\nkind: Namespace\nmetadata: {name: rollcall-system}\n---\n"
	return c.Apply(ctx, namespace+string(manifests))
}

// managerConfig has the rights of the manager's service account.
func managerConfig(t *testing.T) *rest.Config {
	t.Helper()
	return userConfig(t, cluster.ServiceAccountUser("rollcall-system", "rollcall-manager"),
		"system:serviceaccounts", "system:serviceaccounts:rollcall-system", "system:authenticated")
}

// userConfig has the rights of a user.
func userConfig(t *testing.T, user string, groups ...string) *rest.Config {
	t.Helper()
	config, err := testCluster.ConfigFor(t.Context(), user, groups...)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func clientFor(t *testing.T, config *rest.Config) client.Client {
	t.Helper()
	c, err := client.New(config, client.Options{Scheme: Scheme(), FieldValidation: metav1.FieldValidationStrict})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// eventually waits until a condition holds; the condition says what is still wrong.
func eventually(t *testing.T, what string, condition func() error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		last = condition()
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("%s: %v", what, last)
	}
}
