package pki_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/rollcall-dev/rollcall/hack/localcluster/internal/pki"
)

// A server and a client with certificates of the same authority know each other; the client's user and groups arrive.
func TestServerKnowsClient(t *testing.T) {
	authority, err := pki.NewAuthority("test")
	if err != nil {
		t.Fatal(err)
	}
	authority = saveAndLoad(t, authority)
	own, err := authority.Pair()
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(own.Certificate) {
		t.Fatal("the authority's certificate is no PEM")
	}
	server, err := authority.Server("server", []string{"kubernetes.default"}, net.IPv4(10, 96, 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	client, err := authority.Client("system:serviceaccount:ns:name", "a", "b")
	if err != nil {
		t.Fatal(err)
	}
	near, far := net.Pipe()
	go func() {
		_ = tls.Client(near, &tls.Config{RootCAs: roots, ServerName: "127.0.0.1", Certificates: []tls.Certificate{pair(t, client)}}).Handshake()
	}()
	connection := tls.Server(far, &tls.Config{
		ClientCAs: roots, ClientAuth: tls.RequireAndVerifyClientCert, Certificates: []tls.Certificate{pair(t, server)},
		MaxVersion: tls.VersionTLS12, // its handshake ends only when both sides agree
	})
	if err := connection.Handshake(); err != nil {
		t.Fatal(err)
	}
	subject := connection.ConnectionState().PeerCertificates[0].Subject
	if subject.CommonName != "system:serviceaccount:ns:name" || len(subject.Organization) != 2 {
		t.Errorf("the client is known as %v", subject)
	}
}

func TestKubeconfig(t *testing.T) {
	content, err := pki.Kubeconfig("c", "https://127.0.0.1:1", "u", []byte("ca"), pki.Pair{Certificate: []byte("cert"), Key: []byte("key")})
	if err != nil {
		t.Fatal(err)
	}
	var read struct {
		CurrentContext string `json:"current-context"`
		Clusters       []struct {
			Cluster struct {
				Server    string `json:"server"`
				Authority []byte `json:"certificate-authority-data"`
			} `json:"cluster"`
		} `json:"clusters"`
		Users []struct {
			User struct {
				Certificate []byte `json:"client-certificate-data"`
			} `json:"user"`
		} `json:"users"`
	}
	if err := json.Unmarshal(content, &read); err != nil {
		t.Fatal(err)
	}
	if read.CurrentContext != "c" || read.Clusters[0].Cluster.Server != "https://127.0.0.1:1" ||
		string(read.Clusters[0].Cluster.Authority) != "ca" || string(read.Users[0].User.Certificate) != "cert" {
		t.Errorf("got %s", content)
	}
}

func saveAndLoad(t *testing.T, authority *pki.Authority) *pki.Authority {
	t.Helper()
	own, err := authority.Pair()
	if err != nil {
		t.Fatal(err)
	}
	certificate, key := filepath.Join(t.TempDir(), "ca.crt"), filepath.Join(t.TempDir(), "ca.key")
	for path, content := range map[string][]byte{certificate: own.Certificate, key: own.Key} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	loaded, err := pki.LoadAuthority(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

func pair(t *testing.T, p pki.Pair) tls.Certificate {
	t.Helper()
	certificate, err := tls.X509KeyPair(p.Certificate, p.Key)
	if err != nil {
		t.Error(err)
	}
	return certificate
}
