package process

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Port is a free TCP port of 127.0.0.1, kept from everybody but the program it is for. That program must listen with
// SO_REUSEPORT: the port stays bound here, without listening, so that nobody can take it before or between two starts.
type Port struct {
	// Number is the port.
	Number int
	socket *os.File
}

// ReservePort finds a free port and keeps it until Release.
func ReservePort() (Port, error) {
	descriptor, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return Port{}, fmt.Errorf("reserve a port: %w", err)
	}
	unix.CloseOnExec(descriptor)
	number, err := bindLoopback(descriptor)
	if err != nil {
		_ = unix.Close(descriptor)
		return Port{}, fmt.Errorf("reserve a port: %w", err)
	}
	return Port{Number: number, socket: os.NewFile(uintptr(descriptor), "reserved port")}, nil
}

func bindLoopback(descriptor int) (int, error) {
	if err := unix.SetsockoptInt(descriptor, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
		return 0, err
	}
	if err := unix.Bind(descriptor, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, err
	}
	address, err := unix.Getsockname(descriptor)
	if err != nil {
		return 0, err
	}
	bound, isIPv4 := address.(*unix.SockaddrInet4)
	if !isIPv4 {
		return 0, fmt.Errorf("unexpected address %T", address)
	}
	return bound.Port, nil
}

// Release gives the port back. A port that was never reserved has nothing to give.
func (p Port) Release() {
	_ = p.socket.Close()
}
