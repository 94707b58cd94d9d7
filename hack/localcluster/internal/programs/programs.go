// Package programs finds the programs of which a cluster consists, or builds them from their Go modules, once for every
// process of this user.
package programs

import (
	"fmt"
	"os"
	"path/filepath"
)

// Names of the programs.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Kubectl           = "kubectl"
	Kwok              = "kwok"
)

// All lists every program that a cluster needs.
var All = []string{Etcd, APIServer, ControllerManager, Scheduler, Kubectl, Kwok}

// AssetsVariable names the environment variable that points at a folder of ready-made programs.
const AssetsVariable = "KUBEBUILDER_ASSETS"

// Set is a folder that holds all programs.
type Set struct {
	// Dir is the absolute path of the folder.
	Dir string
}

// Path returns the absolute path of a program.
func (s Set) Path(name string) string {
	return filepath.Join(s.Dir, name)
}

// In returns the set in a folder, or an error that names the programs missing there.
func In(dir string) (Set, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Set{}, fmt.Errorf("find %s: %w", dir, err)
	}
	var missing []string
	for _, name := range All {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return Set{}, fmt.Errorf("%s has no executable %v", dir, missing)
	}
	return Set{Dir: dir}, nil
}
