package process_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/hack/localcluster/internal/process"
)

// helperVariable makes this test program a parent that starts one component and waits.
const helperVariable = "PROCESS_TEST_LOG"

func TestMain(m *testing.M) {
	if log := os.Getenv(helperVariable); log != "" {
		component, err := process.NewSpawner().Start(process.Spec{Name: "sleep", Path: "/bin/sleep", Args: []string{"600"}, Log: log})
		if err != nil {
			panic(err)
		}
		fmt.Println(component.PID())
		select {}
	}
	os.Exit(m.Run())
}

func TestComponentDiesWithAKilledParent(t *testing.T) {
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), helperVariable+"="+filepath.Join(t.TempDir(), "log"))
	stdout, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	gone, err := process.Watch(t.Context(), child)
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-gone:
		t.Fatal("the component ended before its parent")
	default:
	}
	if err := parent.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	select {
	case <-gone:
	case <-time.After(30 * time.Second):
		t.Errorf("process %d lives on", child)
	}
}

func TestFailureShowsTheLog(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	spec := process.Spec{Name: "broken", Path: "/bin/sh", Args: []string{"-c", "echo the reason >&2; exit 3"}, Log: log}
	component, err := process.NewSpawner().Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	<-component.Ended()
	message := component.Failure().Error()
	for _, part := range []string{"broken ended", "exit status 3", "the reason", log} {
		if !strings.Contains(message, part) {
			t.Errorf("%q is missing in %q", part, message)
		}
	}
}

func TestStartNamesTheComponent(t *testing.T) {
	spec := process.Spec{Name: "missing", Path: "/no/such/program", Log: filepath.Join(t.TempDir(), "log")}
	if _, err := process.NewSpawner().Start(spec); err == nil || !strings.Contains(err.Error(), "start missing") {
		t.Errorf("got %v", err)
	}
}

func TestExcerptKeepsTheLastLines(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	var text strings.Builder
	for i := range 100 {
		fmt.Fprintf(&text, "line %d\n", i)
	}
	if err := os.WriteFile(log, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := process.Excerpt(log); strings.Contains(got, "line 84\n") || !strings.Contains(got, "line 85\n") || !strings.Contains(got, "line 99\n") {
		t.Errorf("got %q", got)
	}
}

func TestWatchAProcessThatIsGone(t *testing.T) {
	finished := exec.Command("/bin/true")
	if err := finished.Run(); err != nil {
		t.Fatal(err)
	}
	gone, err := process.Watch(t.Context(), finished.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	<-gone
}

func TestReservedPortIsKept(t *testing.T) {
	port, err := process.ReservePort()
	if err != nil {
		t.Fatal(err)
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port.Number))
	if stranger, err := net.Listen("tcp", address); err == nil {
		_ = stranger.Close()
		t.Errorf("a stranger could listen on the reserved %s", address)
	}
	sharing := net.ListenConfig{Control: shared}
	owner, err := sharing.Listen(context.Background(), "tcp", address)
	if err != nil {
		t.Fatalf("the program for which %s is reserved cannot listen: %v", address, err)
	}
	_ = owner.Close()
	port.Release()
	stranger, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatalf("%s was released, yet: %v", address, err)
	}
	_ = stranger.Close()
}
