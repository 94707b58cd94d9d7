package cluster

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/rollcall-dev/rollcall/hack/localcluster/internal/pki"
)

// client sends the few requests that the launcher needs, so that it builds in seconds without client-go.
type client struct {
	server string
	http   *http.Client
}

// answer is a refusal of the API server.
type answer struct {
	code    int
	message string
}

// Error gives the code and what the server said.
func (a *answer) Error() string { return fmt.Sprintf("HTTP %d: %s", a.code, a.message) }

// newClient returns a client that acts as the administrator of a cluster that was started here.
func newClient(layout Layout, server string) (*client, error) {
	authority, err := pki.LoadAuthority(layout.pki("ca.crt"), layout.pki("ca.key"))
	if err != nil {
		return nil, err
	}
	pair, err := authority.Client(adminUser, administrators)
	if err != nil {
		return nil, err
	}
	certificate, err := tls.X509KeyPair(pair.Certificate, pair.Key)
	if err != nil {
		return nil, fmt.Errorf("read the administrator's certificate: %w", err)
	}
	trusted, err := os.ReadFile(layout.pki("ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("read the certificate authority: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(trusted)
	transport := &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2: true,
	}
	return &client{server: server, http: &http.Client{Transport: transport, Timeout: 10 * time.Second}}, nil
}

// do sends a request and reads its answer into result, if there is one to be read.
func (c *client) do(ctx context.Context, method, path, contentType string, body, result any) error {
	var content io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("%s %s: %w", method, path, err)
		}
		content = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.server+path, content)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "localcluster")
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer func() { _ = response.Body.Close() }()
	received, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s: %w", method, path, refusal(response.StatusCode, received))
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(received, result); err != nil {
		return fmt.Errorf("read the answer of %s %s: %w", method, path, err)
	}
	return nil
}

// refusal reads the message of a Status, or takes the text as it is.
func refusal(code int, body []byte) error {
	var status struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(body, &status) == nil && status.Message != "" {
		return &answer{code: code, message: status.Message}
	}
	return &answer{code: code, message: string(body)}
}

// ready returns nil when the API server says that it is.
func (c *client) ready(ctx context.Context) error {
	return c.do(ctx, http.MethodGet, "/readyz", "", nil, nil)
}

// has tells whether an object is there.
func (c *client) has(ctx context.Context, path string) (bool, error) {
	err := c.do(ctx, http.MethodGet, path, "", nil, nil)
	var refused *answer
	if errors.As(err, &refused) && refused.code == http.StatusNotFound {
		return false, nil
	}
	return err == nil, err
}
