package controllers

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// freeAddress is an address of this machine that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

// fetch gets a page, with a token if there is one, and returns status and content.
func fetch(ctx context.Context, url, token string) (int, string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	anyCertificate := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // The endpoint makes its own.
	response, err := anyCertificate.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	return response.StatusCode, string(content), err
}

// tokenOf makes a service account and a token for it.
func tokenOf(t *testing.T, c client.Client, namespace, name string) string {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	mustCreate(t, c, account)
	request := &authenticationv1.TokenRequest{}
	if err := c.SubResource("token").Create(t.Context(), account, request); err != nil {
		t.Fatal(err)
	}
	return request.Status.Token
}

func TestEndpoints(t *testing.T) {
	c, namespace := onCluster(t)
	metrics, probes := freeAddress(t), freeAddress(t)
	m := startManager(t, func(o *Options) { o.MetricsAddress, o.ProbeAddress = metrics, probes })
	m.leads(t)
	for _, path := range []string{"/healthz", "/readyz"} {
		eventually(t, path, func() error {
			status, content, err := fetch(t.Context(), "http://"+probes+path, "")
			if err == nil && status != http.StatusOK {
				return fmt.Errorf("%d %s", status, content)
			}
			return err
		})
	}

	stranger, scraper := tokenOf(t, c, namespace, "stranger"), tokenOf(t, c, namespace, "scraper")
	mustCreate(t, c, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "rollcall-metrics-reader"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "scraper"}},
	})
	for _, test := range []struct {
		who, token string
		status     int
	}{
		{"nobody", "", http.StatusUnauthorized},
		{"somebody without the right", stranger, http.StatusForbidden},
		{"who may", scraper, http.StatusOK},
	} {
		status, content, err := fetch(t.Context(), "https://"+metrics+"/metrics", test.token)
		if err != nil || status != test.status {
			t.Errorf("%s reads metrics: %d, %v, want %d", test.who, status, err, test.status)
		}
		if (status == http.StatusOK) != strings.Contains(content, "rollcall_initialized 1") {
			t.Errorf("%s sees %.200q", test.who, content)
		}
	}
}

// Of two managers one leads; when it stops it gives the lease up, and the other leads at once.
func TestOfTwoManagersOneLeads(t *testing.T) {
	c, _ := onCluster(t)
	first := startManager(t)
	first.leads(t)
	held := leaseOf(t, c)
	second := startManager(t)
	first.stop(t)
	began := time.Now()
	second.leads(t)
	if took := time.Since(began); took > DefaultOptions().LeaseDuration {
		t.Errorf("the second one led after %s: the lease was not given up", took)
	}
	if now := leaseOf(t, c); now == held || now == "" {
		t.Errorf("the lease is %q's, and was %q's", now, held)
	}
}

// Without renewals a manager ends, and no write of its leaves from 2 s before others may lead.
func TestAManagerThatCannotRenewEnds(t *testing.T) {
	c, namespace := onCluster(t)
	cut := &atomic.Bool{}
	m := startManagerVia(t, func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			if cut.Load() && strings.Contains(request.URL.Path, "/leases") {
				return nil, errFake
			}
			return next.RoundTrip(request)
		})
	}, func(o *Options) {
		o.LeaseDuration, o.RenewDeadline, o.RetryPeriod = 4*time.Second, 3*time.Second, time.Second
	})
	m.leads(t)
	cut.Store(true)
	eventually(t, "refusals", func() error {
		// Every new group asks for writes.
		group := testConsumerGroup(namespace, "", 1)
		group.GenerateName = "g-"
		mustCreate(t, c, group)
		if !strings.Contains(m.log.String(), "the leader's lease is not held") {
			return errors.New("none")
		}
		return nil
	})
	if err := m.ended(t); err == nil || !strings.Contains(err.Error(), "leader election lost") {
		t.Errorf("the manager ended with %v", err)
	}
}

func leaseOf(t *testing.T, c client.Client) string {
	t.Helper()
	lease := &coordinationv1.Lease{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "rollcall-system", Name: leaseName}, lease); err != nil {
		t.Fatal(err)
	}
	if lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}
