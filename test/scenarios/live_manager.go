package scenarios

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/controllers"
	"github.com/rollcall-dev/rollcall/test/cluster"
)

const (
	// repository is its root, as seen from this package's tests.
	repository = "../.."
	// managerNamespace, managerName and managerLease are what the manifests call them.
	managerNamespace, managerName, managerLease = "rollcall-system", "rollcall-manager", "rollcall-manager"
	// leadTimeout bounds how long the manager may take until it leads.
	leadTimeout = 90 * time.Second
	// stopTimeout is how long it may take to end when it is asked to.
	stopTimeout = 30 * time.Second
)

// Live is a cluster with the real manager, in which scripts are played side by side, each in a namespace of its own.
type Live struct {
	cluster *cluster.Cluster
	client  client.Client
	dir     string
	// user is the manager's, by which the audit log knows it.
	user    string
	command *exec.Cmd
	// ended is closed when the manager's process is.
	ended chan struct{}
}

// StartLive starts a cluster, installs the manifests in it and runs the manager beside it, as its service account.
func StartLive(ctx context.Context) (_ *Live, err error) {
	l := &Live{}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Stop())
		}
	}()
	if l.dir, err = os.MkdirTemp("", "rollcall-live-"); err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	if l.cluster, err = cluster.Start(ctx, cluster.Options{}); err != nil {
		return nil, fmt.Errorf("start a cluster: %w", err)
	}
	if l.client, err = client.New(l.cluster.Config(), client.Options{Scheme: controllers.Scheme()}); err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	deployment, err := l.install(ctx)
	if err != nil {
		return nil, fmt.Errorf("install: %w", err)
	}
	return l, l.runManager(ctx, deployment)
}

// install applies the manifests. Pods are simulated, so the manager's own is not wanted.
func (l *Live) install(ctx context.Context) (*appsv1.Deployment, error) {
	if _, err := l.cluster.Kubectl(ctx, "apply", "-k", filepath.Join(repository, "config", "default")); err != nil {
		return nil, err
	}
	if err := l.cluster.AwaitInstalled(ctx); err != nil {
		return nil, err
	}
	deployment := &appsv1.Deployment{}
	if err := l.client.Get(ctx, client.ObjectKey{Namespace: managerNamespace, Name: managerName}, deployment); err != nil {
		return nil, fmt.Errorf("find the manager's Deployment: %w", err)
	}
	none := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"replicas":0}}`))
	if err := l.client.Patch(ctx, deployment, none); err != nil {
		return nil, fmt.Errorf("scale the manager's Deployment to 0: %w", err)
	}
	return deployment, nil
}

// runManager builds the program, starts it with the Deployment's arguments, and waits until it leads.
func (l *Live) runManager(ctx context.Context, deployment *appsv1.Deployment) error {
	pod := &deployment.Spec.Template.Spec
	l.user = cluster.ServiceAccountUser(managerNamespace, pod.ServiceAccountName)
	kubeconfig, err := l.cluster.ServiceAccountKubeconfig(ctx, managerNamespace, pod.ServiceAccountName)
	if err != nil {
		return err
	}
	program := filepath.Join(l.dir, "manager")
	build := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", program, "./cmd/manager")
	build.Dir = repository
	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the manager: %w\n%s", err, text)
	}
	log, err := os.Create(filepath.Join(l.dir, "manager.log"))
	if err != nil {
		return fmt.Errorf("make the manager's log: %w", err)
	}
	defer func() { _ = log.Close() }() // The process has its own handle.
	args := append([]string{}, pod.Containers[0].Args...)
	args = append(args, "--leader-elect-namespace="+managerNamespace, "--health-probe-bind-address=0", "--metrics-bind-address=0")
	command := exec.Command(program, args...)
	command.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		return fmt.Errorf("start the manager: %w", err)
	}
	l.command, l.ended = command, make(chan struct{})
	go func() {
		_ = command.Wait() // That it has ended is all that counts.
		close(l.ended)
	}()
	return l.untilItLeads(ctx)
}

func (l *Live) untilItLeads(ctx context.Context) error {
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, leadTimeout, true, func(ctx context.Context) (bool, error) {
		if err := l.err(); err != nil {
			return false, err
		}
		lease := &coordinationv1.Lease{}
		err := l.client.Get(ctx, client.ObjectKey{Namespace: managerNamespace, Name: managerLease}, lease)
		return err == nil && ptr.Deref(lease.Spec.HolderIdentity, "") != "", client.IgnoreNotFound(err)
	})
	if err != nil {
		return fmt.Errorf("wait until the manager leads: %w", err)
	}
	return nil
}

// err says if the manager has ended by itself.
func (l *Live) err() error {
	select {
	case <-l.ended:
		return fmt.Errorf("the manager has ended by itself: see %s", filepath.Join(l.dir, "manager.log"))
	default:
		return nil
	}
}

// Stop ends the manager and the cluster. The manager's log stays where it had ended by itself.
func (l *Live) Stop() error {
	var errs []error
	if l.command != nil {
		errs = append(errs, l.err(), l.stopManager())
	}
	if l.cluster != nil {
		errs = append(errs, l.cluster.Stop())
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return os.RemoveAll(l.dir)
}

func (l *Live) stopManager() error {
	select {
	case <-l.ended:
		return nil
	default:
	}
	if err := l.command.Process.Signal(os.Interrupt); err != nil {
		return fmt.Errorf("stop the manager: %w", err)
	}
	select {
	case <-l.ended:
		return nil
	case <-time.After(stopTimeout):
		return errors.Join(fmt.Errorf("the manager did not stop in %v", stopTimeout), l.command.Process.Kill())
	}
}
