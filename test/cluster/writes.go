package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/rollcall-dev/rollcall/test/cluster/audit"
)

// auditTimeout is how long a request that was answered may take to appear in the audit log.
const auditTimeout = 10 * time.Second

// Mark is an instant in the audit log.
type Mark int

// auditReader reads the audit log as it grows.
type auditReader struct {
	mu   sync.Mutex
	log  *audit.Log
	read int64
}

// Mark returns the present instant: every request that was answered before belongs to the time before it.
func (c *Cluster) Mark(ctx context.Context) (Mark, error) {
	writes, err := c.allWrites(ctx)
	return Mark(len(writes)), err
}

// Writes returns the requests since a mark that changed an object, of all users: see package audit for what counts.
// Every request that was answered before is among them.
func (c *Cluster) Writes(ctx context.Context, since Mark) (audit.Writes, error) {
	writes, err := c.allWrites(ctx)
	if err != nil {
		return nil, err
	}
	return writes[since:], nil
}

func (c *Cluster) allWrites(ctx context.Context) (audit.Writes, error) {
	if c.state.AuditLog == "" {
		return nil, errors.New("the cluster was not started here: its audit log cannot be read")
	}
	marker, err := c.sendMarker(ctx)
	if err != nil {
		return nil, err
	}
	c.audit.mu.Lock()
	defer c.audit.mu.Unlock()
	err = wait.PollUntilContextTimeout(ctx, 5*time.Millisecond, auditTimeout, true, func(context.Context) (bool, error) {
		if err := c.audit.readOn(c.state.AuditLog); err != nil {
			return false, err
		}
		return c.audit.log.Seen(marker), nil
	})
	if err != nil {
		return nil, fmt.Errorf("wait for the audit log to catch up: %w", err)
	}
	return c.audit.log.Writes(), nil
}

// sendMarker sends a request that changes nothing and can be found in the log, behind those answered before it.
func (c *Cluster) sendMarker(ctx context.Context) (string, error) {
	client, err := kubernetes.NewForConfig(c.config)
	if err != nil {
		return "", fmt.Errorf("mark the audit log: %w", err)
	}
	marker := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "audit-marker-" + string(uuid.NewUUID())}}
	options := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	if _, err := client.CoreV1().ConfigMaps(metav1.NamespaceDefault).Create(ctx, marker, options); err != nil {
		return "", fmt.Errorf("mark the audit log: %w", err)
	}
	return marker.Name, nil
}

// readOn takes in what the log has grown by.
func (r *auditReader) readOn(path string) error {
	if r.log == nil {
		r.log = audit.NewLog()
	}
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open the audit log: %w", err)
	}
	defer func() { _ = file.Close() }()
	if _, err := file.Seek(r.read, io.SeekStart); err != nil {
		return fmt.Errorf("read the audit log: %w", err)
	}
	read, err := r.log.Read(file)
	r.read += read
	return err
}
