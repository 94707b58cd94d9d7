package e2e_test

import "syscall"

// apart keeps the terminal's signals from the manager, whose end is the tests' to choose, and has it die with them.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
