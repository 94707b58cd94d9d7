package proxy

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"
)

// Match says which requests a rule is about.
type Match func(*http.Request) bool

// Writes are all requests that may change something.
func Writes(request *http.Request) bool {
	switch request.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return true
	}
	return false
}

// Of are the requests that two matches are about.
func Of(a, b Match) Match { return func(r *http.Request) bool { return a(r) && b(r) } }

// Action is what becomes of a request.
type Action func(rule *Rule, p *Proxy, w http.ResponseWriter, request *http.Request)

// Rule is about some requests, for a number of times or until it is removed.
type Rule struct {
	match Match
	do    Action

	mu sync.Mutex
	// left is how many more requests it takes; below 0 all.
	left  int
	taken int
	// released lets held requests go on.
	released chan struct{}
	late     []*http.Request
	arrived  chan struct{}
}

// Refuse breaks the connection; the request does not reach the API server.
func Refuse() Action { return func(*Rule, *Proxy, http.ResponseWriter, *http.Request) { broken() } }

// Answer answers with a status of its own; the request does not reach the API server.
func Answer(code int) Action {
	return func(_ *Rule, _ *Proxy, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// Delay passes the request on later.
func Delay(d time.Duration) Action {
	return func(_ *Rule, p *Proxy, w http.ResponseWriter, request *http.Request) {
		if wait(request.Context(), d) != nil {
			broken()
		}
		p.forward.ServeHTTP(w, request)
	}
}

// Hold keeps the request, and its client waiting, until Release; then it is passed on. A client that gives up takes it back.
func Hold() Action {
	return func(rule *Rule, p *Proxy, w http.ResponseWriter, request *http.Request) {
		select {
		case <-rule.released:
			p.forward.ServeHTTP(w, request)
		case <-request.Context().Done():
			broken()
		}
	}
}

// LoseAnswer passes the request on, and breaks the connection instead of answering.
func LoseAnswer() Action {
	return func(_ *Rule, p *Proxy, _ http.ResponseWriter, request *http.Request) {
		p.forward.ServeHTTP(httptest.NewRecorder(), request)
		broken()
	}
}

// Late breaks the connection at once, and passes the request on at Release: what the client holds for lost arrives after all.
func Late() Action {
	return func(rule *Rule, _ *Proxy, _ http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			broken()
		}
		kept := request.Clone(context.WithoutCancel(request.Context()))
		kept.Body = io.NopCloser(bytes.NewReader(body))
		rule.mu.Lock()
		rule.late = append(rule.late, kept)
		rule.mu.Unlock()
		broken()
	}
}

// On adds a rule for so many requests, below 0 all; the oldest rule that matches counts.
func (p *Proxy) On(match Match, times int, do Action) *Rule {
	rule := &Rule{match: match, do: do, left: times, released: make(chan struct{}), arrived: make(chan struct{})}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = append(p.rules, rule)
	return rule
}

// takes says whether the rule takes a request, and counts it.
func (r *Rule) takes(request *http.Request) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left == 0 || !r.match(request) {
		return false
	}
	r.left--
	if r.taken++; r.taken == 1 {
		close(r.arrived)
	}
	return true
}

func (r *Rule) act(p *Proxy, w http.ResponseWriter, request *http.Request) { r.do(r, p, w, request) }

// Taken is how many requests it has taken.
func (r *Rule) Taken() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.taken
}

// Arrived is closed when it has taken its first request.
func (r *Rule) Arrived() <-chan struct{} { return r.arrived }

// Remove lets the rule take no more requests. What it holds stays held.
func (r *Rule) Remove() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left = 0
}

// Release removes the rule and lets go what it holds. It returns the API server's answers to late requests, in the order in
// which those were sent.
func (p *Proxy) Release(r *Rule) ([]int, error) {
	r.Remove()
	r.mu.Lock()
	late := r.late
	r.late = nil
	select {
	case <-r.released:
	default:
		close(r.released)
	}
	r.mu.Unlock()
	var codes []int
	for _, request := range late {
		answer := httptest.NewRecorder()
		if err := p.deliver(answer, request); err != nil {
			return codes, err
		}
		codes = append(codes, answer.Code)
	}
	return codes, nil
}

// deliver passes a kept request on. The API server not being there is an error.
func (p *Proxy) deliver(answer http.ResponseWriter, request *http.Request) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("%s %s was not answered: %v", request.Method, request.URL.Path, reason)
		}
	}()
	p.forward.ServeHTTP(answer, request)
	return nil
}
