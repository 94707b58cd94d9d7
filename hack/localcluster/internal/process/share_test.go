package process_test

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// shared lets a listener share its port, as the API server does with --permit-port-sharing.
func shared(_, _ string, connection syscall.RawConn) error {
	var failure error
	if err := connection.Control(func(descriptor uintptr) {
		failure = unix.SetsockoptInt(int(descriptor), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
	}); err != nil {
		return err
	}
	return failure
}
