package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/test/cluster"
)

const (
	// manifests are what a user applies.
	manifests = "../../config/default"
	// systemNamespace and leaseName are known to whoever operates it.
	systemNamespace = "rollcall-system"
	leaseName       = "rollcall-manager"
)

// installation is what the manifests say of the manager.
type installation struct {
	namespace, lease string
	// user is the manager's, by which the audit log knows it.
	user string
	args []string
	// kubeconfig has the rights of the manager's service account, and no others.
	kubeconfig string
}

// install applies the manifests as a user does. Pods are simulated here, so the manager's own Deployment is scaled to 0,
// and the program is started beside the cluster with the same arguments and the same service account.
func install(ctx context.Context, e *environment) (installation, error) {
	if _, err := e.cluster.Kubectl(ctx, "apply", "-k", manifests); err != nil {
		return installation{}, err
	}
	if err := e.cluster.AwaitInstalled(ctx); err != nil {
		return installation{}, err
	}
	if err := e.awaitKinds(ctx); err != nil {
		return installation{}, err
	}
	deployment, err := theDeployment(ctx, e)
	if err != nil {
		return installation{}, err
	}
	scaled := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"replicas":0}}`))
	if err := e.client.Patch(ctx, deployment.DeepCopy(), scaled); err != nil {
		return installation{}, fmt.Errorf("scale the manager's Deployment to 0: %w", err)
	}
	pod := deployment.Spec.Template.Spec
	i := installation{
		namespace: deployment.Namespace, lease: leaseName, args: pod.Containers[0].Args,
		user:       cluster.ServiceAccountUser(deployment.Namespace, pod.ServiceAccountName),
		kubeconfig: filepath.Join(e.dir, "kubeconfig"),
	}
	return i, writeKubeconfig(ctx, e.cluster.Config(), deployment.Namespace, pod.ServiceAccountName, i.kubeconfig)
}

// awaitKinds waits until groups can be created: the API server takes some seconds to learn the schema of a new kind, and until
// then refuses what an admission policy would change.
func (e *environment) awaitKinds(ctx context.Context) error {
	var refused error
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		probe := newGroup("probe", 1)
		probe.Namespace = metav1.NamespaceDefault
		refused = e.client.Create(ctx, probe, client.DryRunAll)
		return refused == nil, nil
	})
	return errors.Join(err, refused)
}

func theDeployment(ctx context.Context, e *environment) (*appsv1.Deployment, error) {
	list := &appsv1.DeploymentList{}
	if err := e.client.List(ctx, list, client.InNamespace(systemNamespace)); err != nil {
		return nil, fmt.Errorf("find the manager's Deployment: %w", err)
	}
	if len(list.Items) != 1 {
		return nil, fmt.Errorf("namespace %s has %d Deployments, not the manager's alone", systemNamespace, len(list.Items))
	}
	return &list.Items[0], nil
}

// writeKubeconfig makes a kubeconfig with a token of the service account, as a pod of it has one.
func writeKubeconfig(ctx context.Context, admin *rest.Config, namespace, account, path string) error {
	clients, err := kubernetes.NewForConfig(admin)
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To[int64](24 * 60 * 60)}}
	token, err := clients.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, account, request, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("ask for a token of service account %s/%s: %w", namespace, account, err)
	}
	authority := admin.CAData
	if len(authority) == 0 && admin.CAFile != "" {
		if authority, err = os.ReadFile(admin.CAFile); err != nil {
			return fmt.Errorf("read the cluster's authority: %w", err)
		}
	}
	const name = "manager"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: admin.Host, CertificateAuthorityData: authority}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		return fmt.Errorf("write the manager's kubeconfig: %w", err)
	}
	return nil
}
