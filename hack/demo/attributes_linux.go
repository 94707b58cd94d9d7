package main

import (
	"runtime"
	"syscall"
)

// The kernel's signal at a parent's death means the thread that started the child: main's lives as long as the process.
func init() { runtime.LockOSThread() }

// attributes of the manager's process. It ends with the demo, however that ends, unless it is kept; then it belongs to
// no terminal. Either way an interrupt at the terminal is the demo's to handle.
func attributes(keep bool) *syscall.SysProcAttr {
	if keep {
		return &syscall.SysProcAttr{Setsid: true}
	}
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
