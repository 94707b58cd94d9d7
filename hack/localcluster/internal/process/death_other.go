//go:build unix && !linux

package process

import (
	"context"
	"errors"
	"syscall"
	"time"
)

// run serves requests. Without a signal at the parent's death, a supervisor that is killed with SIGKILL leaves its
// components behind; every other end takes them along.
func (s *Spawner) run() {
	for request := range s.requests {
		request()
	}
}

func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// Watch returns a channel that is closed when the process with this id ends. Watching ends with ctx.
func Watch(ctx context.Context, pid int) (<-chan struct{}, error) {
	gone := make(chan struct{})
	go func() {
		ticker := time.NewTicker(500 * time.Millisecond)
		defer ticker.Stop()
		for {
			if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
				close(gone)
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
	}()
	return gone, nil
}
