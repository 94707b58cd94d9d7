package proxy_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/rollcall-dev/rollcall/test/proxy"
)

// bed has a server that notes what reaches it, a proxy before it, and a client of that.
type bed struct {
	*testing.T
	*proxy.Proxy
	client *http.Client

	mu   sync.Mutex
	seen []string
}

func newBed(t *testing.T) *bed {
	b := &bed{T: t}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		b.mu.Lock()
		b.seen = append(b.seen, fmt.Sprintf("%s %s %s", r.Method, r.URL.Path, body))
		b.mu.Unlock()
		w.WriteHeader(http.StatusAccepted)
		w.(http.Flusher).Flush()
		if r.URL.Path == "/watch" {
			<-r.Context().Done()
		}
	}))
	t.Cleanup(server.Close)
	p, err := proxy.Start(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Stop() })
	b.Proxy, b.client = p, &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	return b
}

// send gives the status of the answer, 0 when there is none.
func (b *bed) send(ctx context.Context, method, path, body string) int {
	request, err := http.NewRequestWithContext(ctx, method, b.Config().Host+path, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	response, err := b.client.Do(request)
	if err != nil {
		return 0
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode
}

func (b *bed) expect(what string, got, want int, seen ...string) {
	b.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if got != want || !slices.Equal(b.seen, seen) {
		b.Errorf("%s: status %d, want %d; the server has seen %q, want %q", what, got, want, b.seen, seen)
	}
	b.seen = nil
}

func TestRequestsPass(t *testing.T) {
	b := newBed(t)
	b.expect("without rules", b.send(t.Context(), "PUT", "/a", "x"), 202, "PUT /a x")
	b.On(proxy.Writes, 2, proxy.Refuse())
	b.expect("a read", b.send(t.Context(), "GET", "/a", ""), 202, "GET /a ")
	b.expect("a first write", b.send(t.Context(), "PUT", "/a", "1"), 0)
	b.expect("a second", b.send(t.Context(), "PATCH", "/a", "2"), 0)
	b.expect("a third", b.send(t.Context(), "DELETE", "/a", "3"), 202, "DELETE /a 3")
}

func TestWhatBecomesOfRequests(t *testing.T) {
	b := newBed(t)
	all := func(*http.Request) bool { return true }
	b.On(all, 1, proxy.Answer(503))
	b.expect("an answer of its own", b.send(t.Context(), "PUT", "/a", "x"), 503)
	b.On(all, 1, proxy.LoseAnswer())
	b.expect("a lost answer", b.send(t.Context(), "PUT", "/a", "x"), 0, "PUT /a x")
	began := time.Now()
	b.On(all, 1, proxy.Delay(50*time.Millisecond))
	b.expect("a delay", b.send(t.Context(), "PUT", "/a", "x"), 202, "PUT /a x")
	if time.Since(began) < 50*time.Millisecond {
		t.Error("the delay was none")
	}
	late := b.On(all, 2, proxy.Late())
	b.expect("a late one", b.send(t.Context(), "PUT", "/a", "1"), 0)
	b.expect("another", b.send(t.Context(), "PUT", "/a", "2"), 0)
	codes, err := b.Release(late)
	if err != nil || !slices.Equal(codes, []int{202, 202}) {
		t.Errorf("the late ones were answered %v, %v", codes, err)
	}
	b.expect("they arrive", 0, 0, "PUT /a 1", "PUT /a 2")
}

func TestHeldRequests(t *testing.T) {
	b := newBed(t)
	held := b.On(proxy.Of(proxy.Writes, func(r *http.Request) bool { return r.URL.Path == "/held" }), -1, proxy.Hold())
	b.expect("another path", b.send(t.Context(), "PUT", "/a", "x"), 202, "PUT /a x")
	answer := make(chan int)
	go func() { answer <- b.send(t.Context(), "PUT", "/held", "x") }()
	<-held.Arrived()
	b.expect("while it is held", held.Taken(), 1)
	if _, err := b.Release(held); err != nil {
		t.Fatal(err)
	}
	b.expect("released", <-answer, 202, "PUT /held x")
	b.expect("later ones", b.send(t.Context(), "PUT", "/held", "y"), 202, "PUT /held y")
}

func TestACutBreaksWatches(t *testing.T) {
	b := newBed(t)
	ended := make(chan int)
	go func() { ended <- b.send(t.Context(), "GET", "/watch", "") }()
	deadline := time.After(time.Minute)
	for reached := false; !reached; {
		select {
		case <-deadline:
			t.Fatal("the watch does not reach the server")
		case <-time.After(10 * time.Millisecond):
			b.mu.Lock()
			reached = len(b.seen) == 1
			b.mu.Unlock()
		}
	}
	b.Cut()
	<-ended
	b.expect("the watch was there", 0, 0, "GET /watch ")
	b.expect("during the cut", b.send(t.Context(), "PUT", "/a", "x"), 0)
	b.Mend()
	b.expect("after it", b.send(t.Context(), "PUT", "/a", "x"), 202, "PUT /a x")
}
