//go:build unix && !linux

package main

import "syscall"

// attributes of the manager's process: an interrupt at the terminal is the demo's to handle. Only if the demo is killed
// with SIGKILL the manager stays; it ends by itself when the cluster has gone.
func attributes(bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true}
}
