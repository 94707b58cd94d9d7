package cluster

import (
	"fmt"
	"net"
	"os"
	"regexp"

	"github.com/rollcall-dev/rollcall/hack/localcluster/internal/pki"
)

// serviceIP is the first address of the services, by which pods would reach the API server.
var serviceIP = net.IPv4(10, 96, 0, 1)

// administrators is the group that may do everything.
const administrators = "system:masters"

// Users that the programs are known by. The audit policy and readers of the audit log go by these names.
const (
	adminUser             = "admin"
	controllerManagerUser = "system:kube-controller-manager"
	schedulerUser         = "system:kube-scheduler"
	kwokUser              = "localcluster:kwok"
)

var notInFileNames = regexp.MustCompile(`[^-A-Za-z0-9.]+`)

// writeCredentials makes the keys and certificates of a cluster and the kubeconfig files of its programs.
func writeCredentials(layout Layout, server string) error {
	authority, err := pki.NewAuthority("localcluster-" + layout.Name)
	if err != nil {
		return err
	}
	own, err := authority.Pair()
	if err != nil {
		return err
	}
	serving, err := authority.Server("kube-apiserver", []string{"kubernetes", "kubernetes.default", "kubernetes.default.svc"}, serviceIP)
	if err != nil {
		return err
	}
	tokens, err := pki.NewKey()
	if err != nil {
		return err
	}
	files := map[string][]byte{
		"ca.crt": own.Certificate, "ca.key": own.Key,
		"apiserver.crt": serving.Certificate, "apiserver.key": serving.Key,
		"service-accounts.key": tokens,
	}
	for name, content := range files {
		if err := os.WriteFile(layout.pki(name), content, 0o600); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	users := []struct {
		name, path string
		groups     []string
	}{
		{adminUser, layout.Kubeconfig(), []string{administrators}},
		{controllerManagerUser, layout.config("controller-manager.kubeconfig"), nil},
		{schedulerUser, layout.config("scheduler.kubeconfig"), nil},
		{kwokUser, layout.config("kwok.kubeconfig"), []string{administrators}},
	}
	for _, user := range users {
		if err := writeKubeconfig(layout, authority, server, user.path, user.name, user.groups); err != nil {
			return err
		}
	}
	return nil
}

// UserKubeconfig makes a kubeconfig by which a cluster knows its bearer as this user in these groups, and returns its
// path. The user need not exist anywhere: a certificate says who somebody is.
func UserKubeconfig(layout Layout, state State, user string, groups []string) (string, error) {
	if state.External {
		return "", fmt.Errorf("cluster %s was not started here: its certificate authority is not known", layout.Name)
	}
	authority, err := pki.LoadAuthority(layout.pki("ca.crt"), layout.pki("ca.key"))
	if err != nil {
		return "", err
	}
	path := layout.UserKubeconfig(notInFileNames.ReplaceAllString(user, "_") + ".kubeconfig")
	return path, writeKubeconfig(layout, authority, state.Server, path, user, groups)
}

func writeKubeconfig(layout Layout, authority *pki.Authority, server, path, user string, groups []string) error {
	client, err := authority.Client(user, groups...)
	if err != nil {
		return err
	}
	own, err := authority.Pair()
	if err != nil {
		return err
	}
	content, err := pki.Kubeconfig("localcluster-"+layout.Name, server, user, own.Certificate, client)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return fmt.Errorf("write the kubeconfig of %s: %w", user, err)
	}
	return nil
}
