// Package cluster starts, watches and ends local Kubernetes clusters. A cluster is a folder and a supervising process;
// it is over when that process is.
package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
)

// DefaultName is the name of the cluster of a person who gives none.
const DefaultName = "rollcall"

var validName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,46}[a-z0-9])?$`)

// Layout is where the files of one cluster lie.
type Layout struct {
	// Name is the cluster's name.
	Name string
	// Dir is the cluster's folder. It exists while the cluster does, and longer if the cluster failed.
	Dir string
}

// NewLayout returns the layout of the cluster with this name, which need not exist.
func NewLayout(name string) (Layout, error) {
	if !validName.MatchString(name) {
		return Layout{}, fmt.Errorf("the cluster name %q must be 1 to 48 lower-case letters, digits and hyphens", name)
	}
	root, err := root()
	if err != nil {
		return Layout{}, err
	}
	return Layout{Name: name, Dir: filepath.Join(root, name)}, nil
}

// Layouts returns the layouts of all clusters of this user.
func Layouts() ([]Layout, error) {
	root, err := root()
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, fmt.Errorf("list the clusters: %w", err)
	}
	var layouts []Layout
	for _, entry := range entries {
		if entry.IsDir() && validName.MatchString(entry.Name()) {
			layouts = append(layouts, Layout{Name: entry.Name(), Dir: filepath.Join(root, entry.Name())})
		}
	}
	return layouts, nil
}

// root returns the folder of all clusters of this user. It lies in the temporary folder that everybody may write, so
// it must be ours and closed to others: it holds private keys.
func root() (string, error) {
	dir := filepath.Join(os.TempDir(), "rollcall-localcluster-"+strconv.Itoa(os.Getuid()))
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return "", fmt.Errorf("make the folder of the clusters: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", fmt.Errorf("look at the folder of the clusters: %w", err)
	}
	owner, known := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || info.Mode().Perm()&0o077 != 0 || known && int(owner.Uid) != os.Getuid() {
		return "", fmt.Errorf("%s must be a folder that belongs to you alone (mode 0700); remove it or set TMPDIR", dir)
	}
	return dir, nil
}

// Lock is held by the supervisor while the cluster exists. It lies beside the folder, which comes and goes.
func (l Layout) Lock() string { return l.Dir + ".lock" }

// State is the file that says how the cluster is.
func (l Layout) State() string { return filepath.Join(l.Dir, "state.json") }

// Kubeconfig is the administrator's.
func (l Layout) Kubeconfig() string { return filepath.Join(l.Dir, "kubeconfig") }

// UserKubeconfig is that of another user.
func (l Layout) UserKubeconfig(file string) string { return filepath.Join(l.Dir, "users", file) }

// Audit is the API server's audit log.
func (l Layout) Audit() string { return filepath.Join(l.Dir, "audit.log") }

// Log is the log of a component.
func (l Layout) Log(component string) string { return filepath.Join(l.Dir, "logs", component+".log") }

// SupervisorLog is the log of a supervisor in the background. It lies beside the folder, which the supervisor itself
// makes and removes.
func (l Layout) SupervisorLog() string { return l.Dir + ".log" }

func (l Layout) pki(file string) string    { return filepath.Join(l.Dir, "pki", file) }
func (l Layout) config(file string) string { return filepath.Join(l.Dir, "config", file) }
func (l Layout) etcd() string              { return filepath.Join(l.Dir, "etcd") }

// clear removes what an earlier cluster of this name left, and makes the folders of a new one.
func (l Layout) clear() error {
	if err := os.RemoveAll(l.Dir); err != nil {
		return fmt.Errorf("clear %s: %w", l.Dir, err)
	}
	for _, dir := range []string{"pki", "config", "logs", "users"} {
		if err := os.MkdirAll(filepath.Join(l.Dir, dir), 0o700); err != nil {
			return fmt.Errorf("make the folders of cluster %s: %w", l.Name, err)
		}
	}
	return nil
}
