package cluster

import (
	"fmt"

	"github.com/rollcall-dev/rollcall/hack/localcluster/internal/process"
	"github.com/rollcall-dev/rollcall/hack/localcluster/internal/programs"
)

const (
	// nodeLeaseSeconds is the term of a node's lease; KWOK renews it four times in that time.
	nodeLeaseSeconds = 4
	// requestsPerSecond lets the real controllers work as fast as a test wants them to; the default, 20, would make
	// the measurement of a large roll one of this limit.
	requestsPerSecond, requestBurst = 500, 1000
)

// ports are those on which a cluster listens.
type ports struct {
	etcdClient, etcdPeer, apiServer process.Port
}

func reservePorts() (ports, error) {
	var all ports
	for _, port := range []*process.Port{&all.etcdClient, &all.etcdPeer, &all.apiServer} {
		reserved, err := process.ReservePort()
		if err != nil {
			return ports{}, err
		}
		*port = reserved
	}
	return all, nil
}

func loopback(scheme string, port process.Port) string {
	return fmt.Sprintf("%s://127.0.0.1:%d", scheme, port.Number)
}

// plan knows how to run each program of a cluster.
type plan struct {
	layout Layout
	set    programs.Set
	ports  ports
}

func (p plan) spec(name string, args ...string) process.Spec {
	return process.Spec{
		Name: name, Path: p.set.Path(name), Args: args, Dir: p.layout.Dir, Log: p.layout.Log(name),
		// KWOK would read the user's own ~/.kwok.
		Env: []string{"KWOK_WORKDIR=" + p.layout.config("kwok")},
	}
}

func (p plan) etcd() process.Spec {
	client, peer := loopback("http", p.ports.etcdClient), loopback("http", p.ports.etcdPeer)
	return p.spec(programs.Etcd,
		"--data-dir="+p.layout.etcd(),
		"--unsafe-no-fsync", // the data of a throw-away cluster need not survive a power failure
		"--quota-backend-bytes=8589934592",
		"--log-level=warn",
		"--socket-reuse-port",
		"--listen-client-urls="+client, "--advertise-client-urls="+client,
		"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster=default="+peer,
	)
}

func (p plan) apiServer() process.Spec {
	return p.spec(programs.APIServer,
		"--etcd-servers="+loopback("http", p.ports.etcdClient),
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", p.ports.apiServer.Number), "--permit-port-sharing",
		"--endpoint-reconciler-type=none", // an endpoint may not be on loopback, and no pod would use it
		"--tls-cert-file="+p.layout.pki("apiserver.crt"), "--tls-private-key-file="+p.layout.pki("apiserver.key"),
		"--client-ca-file="+p.layout.pki("ca.crt"),
		"--authorization-mode=Node,RBAC", "--allow-privileged",
		"--service-cluster-ip-range=10.96.0.0/16",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file="+p.layout.pki("service-accounts.key"),
		"--service-account-signing-key-file="+p.layout.pki("service-accounts.key"),
		"--audit-policy-file="+p.layout.config("audit-policy.yaml"),
		"--audit-log-path="+p.layout.Audit(), "--audit-log-format=json",
		"--audit-log-maxsize=1000000", // never begun anew: its readers go on from where they were
	)
}

func (p plan) controllerManager() process.Spec {
	return p.spec(programs.ControllerManager,
		"--kubeconfig="+p.layout.config("controller-manager.kubeconfig"),
		"--leader-elect=false", "--secure-port=0",
		"--use-service-account-credentials", // so that the audit log names each controller
		"--service-account-private-key-file="+p.layout.pki("service-accounts.key"),
		"--root-ca-file="+p.layout.pki("ca.crt"),
		fmt.Sprintf("--node-monitor-grace-period=%ds", nodeLeaseSeconds), "--node-monitor-period=1s",
		fmt.Sprintf("--kube-api-qps=%d", requestsPerSecond), fmt.Sprintf("--kube-api-burst=%d", requestBurst),
	)
}

func (p plan) scheduler() process.Spec {
	return p.spec(programs.Scheduler,
		"--kubeconfig="+p.layout.config("scheduler.kubeconfig"),
		"--leader-elect=false", "--secure-port=0",
		fmt.Sprintf("--kube-api-qps=%d", requestsPerSecond), fmt.Sprintf("--kube-api-burst=%d", requestBurst),
	)
}

func (p plan) kwok() process.Spec {
	return p.spec(programs.Kwok,
		"--kubeconfig="+p.layout.config("kwok.kubeconfig"),
		"--config="+p.layout.config("stages.yaml"),
		"--manage-nodes-with-label-selector="+simulatedLabel+"=true",
		fmt.Sprintf("--node-lease-duration-seconds=%d", nodeLeaseSeconds),
		"--cidr=10.244.0.0/16",
		"--v=WARN",
	)
}
