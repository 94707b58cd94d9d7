package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const (
	systemNamespace = "rollcall-system"
	serviceAccount  = "rollcall-manager"
	// stopTimeout is how long a manager that was asked to stop may take.
	stopTimeout = 30 * time.Second
)

// manager is the running program.
type manager struct {
	command *exec.Cmd
	log     string
	ended   chan struct{}
	err     error // valid once ended is closed
}

// buildManager builds the program as `make build` does, so that what that has compiled is not compiled again.
func (s *stage) buildManager(ctx context.Context) error {
	build := exec.CommandContext(ctx, "go", "build", "-o", s.program(), "./cmd/manager")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the manager: %w\n%s", err, text)
	}
	return nil
}

func (s *stage) program() string { return filepath.Join(s.dir, "manager") }

// startManager starts the program as its Deployment would: same arguments but for addresses, and a token of its service
// account, so that it has the rights of its roles and no others.
func (s *stage) startManager(ctx context.Context) error {
	probe, err := freeAddress()
	if err != nil {
		return err
	}
	args, err := s.cluster.Kubectl(ctx, "get", "deployment/rollcall-manager", "-n", systemNamespace,
		"-o", "jsonpath={.spec.template.spec.containers[0].args[*]}")
	if err != nil {
		return err
	}
	kubeconfig, err := s.managersKubeconfig(ctx)
	if err != nil {
		return err
	}
	m := &manager{log: filepath.Join(s.dir, "manager.log"), ended: make(chan struct{})}
	log, err := os.Create(m.log)
	if err != nil {
		return fmt.Errorf("make the manager's log: %w", err)
	}
	defer func() { _ = log.Close() }() // The process has its own handle.
	// What comes later on the command line counts.
	m.command = exec.Command(s.program(), append(strings.Fields(args), "--leader-elect-namespace="+systemNamespace,
		"--health-probe-bind-address="+probe, "--metrics-bind-address=0")...)
	m.command.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	m.command.Stdout, m.command.Stderr = log, log
	m.command.SysProcAttr = attributes(s.keep)
	if err := m.command.Start(); err != nil {
		return fmt.Errorf("start the manager: %w", err)
	}
	go func() {
		m.err = m.command.Wait()
		close(m.ended)
	}()
	s.manager = m
	return m.untilReady(ctx, probe)
}

// managersKubeconfig makes one with a token of the manager's service account, as a pod of it would have.
func (s *stage) managersKubeconfig(ctx context.Context) (string, error) {
	token, err := s.cluster.Kubectl(ctx, "create", "token", serviceAccount, "-n", systemNamespace, "--duration=24h")
	if err != nil {
		return "", err
	}
	config, err := clientcmd.LoadFromFile(s.cluster.Kubeconfig())
	if err != nil {
		return "", fmt.Errorf("read the cluster's kubeconfig: %w", err)
	}
	for name := range config.AuthInfos {
		config.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: strings.TrimSpace(token)}
	}
	path := filepath.Join(s.dir, "manager.kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		return "", fmt.Errorf("write the manager's kubeconfig: %w", err)
	}
	return path, nil
}

func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	return listener.Addr().String(), listener.Close()
}

func (m *manager) untilReady(ctx context.Context, probe string) error {
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		select {
		case <-m.ended:
			return false, errors.New("it has ended")
		default:
			return answers(ctx, "http://"+probe+"/readyz"), nil
		}
	})
	if err != nil {
		return fmt.Errorf("the manager does not become ready: %w\n%s", err, m.lastWords())
	}
	return nil
}

func answers(ctx context.Context, url string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return false
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	_ = answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

// stop asks the manager to end, as a kubelet does. The error says if it did not end well.
func (m *manager) stop() error {
	select {
	case <-m.ended:
		return fmt.Errorf("the manager had ended by itself: %w\n%s", m.err, m.lastWords())
	default:
	}
	if err := m.command.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("stop the manager: %w", err)
	}
	select {
	case <-m.ended:
		return m.err
	case <-time.After(stopTimeout):
		return errors.Join(fmt.Errorf("the manager did not stop in %v and was killed", stopTimeout), m.command.Process.Kill())
	}
}

// lastWords are the last lines of its log.
func (m *manager) lastWords() string {
	const shown = 15
	text, err := os.ReadFile(m.log)
	if err != nil {
		return err.Error()
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return string(bytes.Join(lines[max(0, len(lines)-shown):], []byte("\n")))
}
