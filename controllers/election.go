package controllers

import (
	"fmt"
	"os"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

const (
	// leaseName is the name of the leader's lease.
	leaseName = "rollcall-manager"
	// namespaceFile names the namespace of the pod that this process runs in.
	namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"
)

// +kubebuilder:rbac:namespace=rollcall-system,groups=coordination.k8s.io,resources=leases,verbs=create
// +kubebuilder:rbac:namespace=rollcall-system,groups=coordination.k8s.io,resources=leases,resourceNames=rollcall-manager,verbs=get;update

// newLock is the elector's lock. Its requests go their own way past the guard of all other writes; one of them taking
// long must not keep the next from being tried before the deadline.
func newLock(config *rest.Config, o Options, identity string) (resourcelock.Interface, error) {
	namespace, err := leaseNamespace(o)
	if err != nil {
		return nil, err
	}
	config = rest.AddUserAgent(rest.CopyConfig(config), "leader-election")
	config.Timeout = max(o.RenewDeadline/2, time.Second)
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return resourcelock.New(resourcelock.LeasesResourceLock, namespace, leaseName, clients.CoreV1(), clients.CoordinationV1(),
		resourcelock.ResourceLockConfig{Identity: identity})
}

func leaseNamespace(o Options) (string, error) {
	if o.LeaderElectNamespace != "" {
		return o.LeaderElectNamespace, nil
	}
	content, err := os.ReadFile(namespaceFile)
	if err != nil {
		return "", fmt.Errorf("not in a pod, so --leader-elect-namespace is needed (or --leader-elect=false): %w", err)
	}
	return strings.TrimSpace(string(content)), nil
}

// newIdentity names one start of one process.
func newIdentity() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return host + "_" + string(uuid.NewUUID())
}
