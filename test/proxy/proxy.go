// Package proxy stands between a client and the API server, for tests of what happens when requests or answers are lost, late
// or refused. It speaks plain HTTP on loopback, and to the API server with the rights that it was given: whoever
// asks through it has those.
package proxy

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Proxy passes requests on, save those that a rule is about.
type Proxy struct {
	forward *httputil.ReverseProxy
	server  *http.Server
	address string

	mu    sync.Mutex
	rules []*Rule
	// cut: no request is answered; those under way were broken when it began.
	cut    bool
	flying map[int]context.CancelFunc
	next   int
}

// Start begins to serve. Stop ends it.
func Start(config *rest.Config) (*Proxy, error) {
	target, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("where the API server is: %w", err)
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, fmt.Errorf("how to reach the API server: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	p := &Proxy{address: listener.Addr().String(), flying: map[int]context.CancelFunc{}}
	p.forward = &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     transport,
		FlushInterval: -1, // A watch's events pass as they come.
		ErrorLog:      log.New(discard{}, "", 0),
		ErrorHandler:  func(http.ResponseWriter, *http.Request, error) { broken() },
	}
	p.server = &http.Server{Handler: http.HandlerFunc(p.serve), ErrorLog: log.New(discard{}, "", 0)}
	go func() { _ = p.server.Serve(listener) }() // It ends with Stop.
	return p, nil
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

// Stop ends the proxy and every request under way.
func (p *Proxy) Stop() error {
	p.mu.Lock()
	p.breakAll()
	p.mu.Unlock()
	return p.server.Close()
}

// Config leads a client through the proxy.
func (p *Proxy) Config() *rest.Config {
	return &rest.Config{Host: "http://" + p.address, QPS: -1}
}

// WriteKubeconfig leads a program through the proxy.
func (p *Proxy) WriteKubeconfig(path string) error {
	config := clientcmdapi.NewConfig()
	config.Clusters["proxy"] = &clientcmdapi.Cluster{Server: "http://" + p.address}
	config.Contexts["proxy"] = &clientcmdapi.Context{Cluster: "proxy"}
	config.CurrentContext = "proxy"
	return clientcmd.WriteToFile(*config, path)
}

// Cut breaks every request under way, watches included, and every later one, until Mend. Nothing reaches the API server.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = true
	p.breakAll()
}

// Mend ends a Cut.
func (p *Proxy) Mend() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = false
}

func (p *Proxy) breakAll() {
	for id, cancel := range p.flying {
		cancel()
		delete(p.flying, id)
	}
}

// takeOff notes a request under way; false when there is a cut.
func (p *Proxy) takeOff(ctx context.Context) (context.Context, func(), bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cut {
		return nil, nil, false
	}
	ctx, cancel := context.WithCancel(ctx)
	p.next++
	id := p.next
	p.flying[id] = cancel
	return ctx, func() {
		cancel()
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.flying, id)
	}, true
}

func (p *Proxy) serve(w http.ResponseWriter, request *http.Request) {
	ctx, land, ok := p.takeOff(request.Context())
	if !ok {
		broken()
	}
	defer land()
	request = request.WithContext(ctx)
	if rule := p.ruleFor(request); rule != nil {
		rule.act(p, w, request)
		return
	}
	p.forward.ServeHTTP(w, request)
}

// broken ends a request without an answer: its client sees a connection that breaks.
func broken() { panic(http.ErrAbortHandler) }

// ruleFor is the first rule that is about a request, and takes it.
func (p *Proxy) ruleFor(request *http.Request) *Rule {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, rule := range p.rules {
		if rule.takes(request) {
			return rule
		}
	}
	return nil
}

// wait is a delay that ends early with the request.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return errors.New("the request has ended")
	}
}
