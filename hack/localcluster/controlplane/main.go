// Command controlplane is the Kubernetes control plane, etcd, KWOK and kubectl in one executable. The name it is
// called by (usually a symbolic link), or else its first argument, says which of them it is.
//
// One program instead of six links the libraries they share once: the build takes less time and a fifth of the disk.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// parts maps the name of each program to its entry point. An entry point reads os.Args and returns the exit code.
var parts = map[string]func() int{
	"etcd":                    runEtcd,
	"kube-apiserver":          runAPIServer,
	"kube-controller-manager": runControllerManager,
	"kube-scheduler":          runScheduler,
	"kubectl":                 runKubectl,
	"kwok":                    runKwok,
}

func main() {
	if run, known := parts[filepath.Base(os.Args[0])]; known {
		os.Exit(run())
	}
	if len(os.Args) > 1 {
		if run, known := parts[os.Args[1]]; known {
			os.Args = os.Args[1:]
			os.Exit(run())
		}
	}
	fmt.Fprintf(os.Stderr, "usage: controlplane PROGRAM [ARGUMENT...]\nprograms: %s\n", strings.Join(names(), ", "))
	os.Exit(2)
}

func names() []string {
	all := make([]string, 0, len(parts))
	for name := range parts {
		all = append(all, name)
	}
	sort.Strings(all)
	return all
}
