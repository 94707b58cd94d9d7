package programs

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	// executable is the one program that is all of them, by the name it is called by.
	executable = "controlplane"
	// linesOnFailure is how much of a failed command's output the error shows.
	linesOnFailure = 25
)

// build compiles the programs into dir.
func build(ctx context.Context, source Source, dir string, progress *Progress) error {
	flags, err := linkerFlags(source)
	if err != nil {
		return err
	}
	progress.Step("building the Kubernetes control plane from its Go modules; this is done once")
	progress.Step("from nothing it takes 6 to 12 minutes on two cores, with a filled Go build cache one")
	packages, err := fetch(ctx, source, progress)
	if err != nil {
		return err
	}
	done := 0
	compile := func(line string) {
		done++
		progress.Running(fmt.Sprintf("compiling package %d of at most %d: %s", done, packages, line))
	}
	target := filepath.Join(dir, executable)
	_, err = runGo(ctx, source, progress, compile, "build", "-v", "-buildvcs=false", "-ldflags", flags, "-o", target, ".")
	if err != nil {
		return fmt.Errorf("build the control plane in %s: %w", source.Dir, err)
	}
	for _, name := range All {
		if err := os.Symlink(executable, filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("name the program %s: %w", name, err)
		}
	}
	return nil
}

// fetch downloads the modules that are needed and returns how many packages will be linked.
func fetch(ctx context.Context, source Source, progress *Progress) (int, error) {
	progress.Running("looking which modules are needed")
	list, err := runGo(ctx, source, progress, func(line string) { progress.Running(line) }, "list", "-deps", ".")
	if err != nil {
		return 0, fmt.Errorf("fetch the control plane's modules: %w", err)
	}
	return bytes.Count(list, []byte("\n")), nil
}

// linkerFlags sets the versions that the programs say of themselves, and leaves debugging tables out: 70 MB less.
func linkerFlags(source Source) (string, error) {
	kubernetes, err := source.version("k8s.io/kubernetes")
	if err != nil {
		return "", err
	}
	parts := strings.Split(strings.TrimPrefix(kubernetes, "v"), ".")
	if len(parts) < 3 {
		return "", fmt.Errorf("the version %q of k8s.io/kubernetes has no three parts", kubernetes)
	}
	const prefix = " -X k8s.io/component-base/version."
	return "-s -w" + prefix + "gitVersion=" + kubernetes + prefix + "gitTreeState=clean" +
		prefix + "gitMajor=" + parts[0] + prefix + "gitMinor=" + parts[1], nil
}

// runGo runs the go command in the module, gives each line it reports to onLine and returns its standard output.
func runGo(ctx context.Context, source Source, progress *Progress, onLine func(string), args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = source.Dir
	// A workspace or a -mod flag of the caller must not change which versions are built.
	command.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	// The compilers are children of the go command: an interrupted build must end them all.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGTERM) }
	command.WaitDelay = 10 * time.Second
	var stdout bytes.Buffer
	command.Stdout = &stdout
	stderr, err := command.StderrPipe()
	if err != nil {
		return nil, fmt.Errorf("run go %s: %w", args[0], err)
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("run go %s (is Go installed?): %w", args[0], err)
	}
	stop := progress.keepAlive()
	complaints := readReports(stderr, onLine)
	err = command.Wait()
	stop()
	if err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("go %s was interrupted: %w", args[0], ctx.Err())
		}
		return nil, fmt.Errorf("go %s: %w\n%s", args[0], err, strings.Join(complaints, "\n"))
	}
	return stdout.Bytes(), nil
}

// readReports hands the lines of progress (package names, downloads) to onLine and returns the last of all others.
func readReports(stderr io.Reader, onLine func(string)) []string {
	var complaints []string
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		line := lines.Text()
		if isReport(line) {
			onLine(strings.TrimPrefix(line, "go: "))
			continue
		}
		complaints = append(complaints, line)
		if len(complaints) > linesOnFailure {
			complaints = complaints[1:]
		}
	}
	return complaints
}

// isReport tells a line of progress from a complaint: a download, or the bare path of a package.
func isReport(line string) bool {
	return strings.HasPrefix(line, "go: downloading ") || line != "" && !strings.ContainsAny(line, " \t:#")
}
