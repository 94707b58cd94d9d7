//go:build unix && !linux

package e2e_test

import "syscall"

// apart keeps the terminal's signals from the manager, whose end is the tests' to choose. When the tests are killed it ends
// for want of a cluster.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
