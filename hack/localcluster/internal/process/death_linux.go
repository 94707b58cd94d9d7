package process

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// run serves requests on a thread of its own.
func (s *Spawner) run() {
	runtime.LockOSThread()
	for request := range s.requests {
		request()
	}
}

// attributes let the kernel kill the child when its parent dies, and keep the terminal's signals from it: the
// supervisor alone decides about its end.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}

// Watch returns a channel that is closed when the process with this id ends. A process that is not there counts as
// ended. Watching ends with ctx.
func Watch(ctx context.Context, pid int) (<-chan struct{}, error) {
	gone := make(chan struct{})
	// A descriptor stands for this very process: an id that is given to another process later does no harm.
	descriptor, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		close(gone)
		return gone, nil
	}
	if err != nil {
		return nil, fmt.Errorf("watch process %d: %w", pid, err)
	}
	go func() {
		defer func() { _ = unix.Close(descriptor) }()
		poll := []unix.PollFd{{Fd: int32(descriptor), Events: unix.POLLIN}}
		for ctx.Err() == nil {
			ready, err := unix.Poll(poll, 1000)
			if ready > 0 || err != nil && !errors.Is(err, unix.EINTR) {
				close(gone)
				return
			}
		}
	}()
	return gone, nil
}
