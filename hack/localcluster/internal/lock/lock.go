// Package lock serializes processes by locks on files. The kernel releases such a lock when its holder ends, however it
// ends, so a held lock also says that the holder lives.
package lock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// retryEvery is how often Acquire tries a lock that another process holds.
const retryEvery = 200 * time.Millisecond

// Lock is an exclusive lock on a file, held until Release or the end of the process.
type Lock struct {
	file *os.File
}

// Try takes the lock on the file at path, which is created if missing. held is false if another holder has it.
func Try(path string) (lock *Lock, held bool, err error) {
	for {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, false, fmt.Errorf("open the lock file: %w", err)
		}
		if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
			_ = file.Close()
			if errors.Is(err, unix.EWOULDBLOCK) {
				return nil, false, nil
			}
			return nil, false, fmt.Errorf("lock %s: %w", path, err)
		}
		if isAt(file, path) {
			return &Lock{file: file}, true, nil
		}
		_ = file.Close() // its last holder removed it between our opening and our locking it
	}
}

// isAt tells whether an open file is still the one at path.
func isAt(file *os.File, path string) bool {
	opened, err := file.Stat()
	if err != nil {
		return false
	}
	present, err := os.Stat(path)
	return err == nil && os.SameFile(opened, present)
}

// Acquire waits for the lock on the file at path until ctx ends. waiting is called once per attempt that failed.
func Acquire(ctx context.Context, path string, waiting func()) (*Lock, error) {
	ticker := time.NewTicker(retryEvery)
	defer ticker.Stop()
	for {
		lock, held, err := Try(path)
		if err != nil || held {
			return lock, err
		}
		waiting()
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for the lock %s: %w", path, ctx.Err())
		case <-ticker.C:
		}
	}
}

// Held tells whether some process holds the lock on the file at path. A missing file is not held.
func Held(path string) (bool, error) {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	lock, free, err := Try(path)
	if err != nil {
		return false, err
	}
	if free {
		lock.Release()
	}
	return !free, nil
}

// Discard gives the lock up and removes its file. It is removed while it is held, so that nobody holds a lock on a file
// that others no longer find.
func (l *Lock) Discard() {
	_ = os.Remove(l.file.Name())
	l.Release()
}

// Release gives the lock up. The file stays.
func (l *Lock) Release() {
	_ = l.file.Close()
}
