package audit

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Log is what was read of an audit log so far. It must be read from the beginning: an answer shows that nothing was
// changed by bearing a resourceVersion that an earlier answer bore.
type Log struct {
	writes   Writes
	versions map[version]struct{}
	markers  map[string]struct{}
}

// version is one state of one object.
type version struct {
	group, resource, namespace, name, resourceVersion string
}

// NewLog returns a log of which nothing was read yet.
func NewLog() *Log {
	return &Log{versions: map[version]struct{}{}, markers: map[string]struct{}{}}
}

// Read takes in the complete lines of r and returns how many bytes they are. The rest is a line that is still being
// written: it is to be read again.
func (l *Log) Read(r io.Reader) (int64, error) {
	var read int64
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return read, nil
		}
		if err != nil {
			return read, fmt.Errorf("read the audit log: %w", err)
		}
		read += int64(len(line))
		if err := l.take(bytes.TrimSpace(line)); err != nil {
			return read, err
		}
	}
}

// Writes returns all writes so far, in the order of the log. The slice is the caller's.
func (l *Log) Writes() Writes {
	return append(Writes{}, l.writes...)
}

// Seen tells whether a dry run that would have created an object of this name was read. Sent after other requests, it
// shows that those are in the log.
func (l *Log) Seen(marker string) bool {
	_, seen := l.markers[marker]
	return seen
}

func (l *Log) take(line []byte) error {
	if len(line) == 0 {
		return nil
	}
	event, err := parse(line)
	if err != nil {
		return err
	}
	if event.Verb == "create" && event.dryRun() {
		l.markers[event.ObjectRef.Name] = struct{}{}
	}
	if !event.succeeded() {
		return nil
	}
	write := event.write()
	if changed := l.isNew(write); changed && event.counted() {
		l.writes = append(l.writes, write)
	}
	return nil
}

// isNew tells whether the answer shows a state of the object that no answer showed before. An answer without an object
// (a binding, a deletion confirmed) is given only where something was done.
func (l *Log) isNew(write Write) bool {
	if write.ResourceVersion == "" {
		return true
	}
	shown := version{write.Group, write.Resource, write.Namespace, write.Name, write.ResourceVersion}
	_, known := l.versions[shown]
	l.versions[shown] = struct{}{}
	return !known
}
