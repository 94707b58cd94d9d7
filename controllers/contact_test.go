package controllers

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const leasesPath = "/apis/coordination.k8s.io/v1/leases"

func TestWhatCountsAsHeard(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(testStart)
	contact := NewContact(clock)
	var code atomic.Int64
	event, end := make(chan bool), make(chan bool)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(int(code.Load()))
		if r.URL.Query().Get("watch") == "" {
			return
		}
		w.(http.Flusher).Flush()
		for {
			select {
			case <-event:
				_, _ = io.WriteString(w, "x")
				w.(http.Flusher).Flush()
			case <-end:
				return
			case <-r.Context().Done():
				return
			}
		}
	}))
	defer server.Close()
	caller := &http.Client{Transport: contact.Listen(http.DefaultTransport)}
	get := func(path string, answer int) io.ReadCloser {
		t.Helper()
		code.Store(int64(answer))
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := caller.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		return response.Body
	}
	silent := func(when string, want time.Duration) {
		t.Helper()
		if got := contact.silence(); got != want {
			t.Errorf("%s: silent for %s, want %s", when, got, want)
		}
		clock.SetTime(clock.Now().Add(10 * time.Second))
	}
	_ = get("/version", 200).Close()
	silent("an answer without a watch", 0)
	refused := get(leasesPath+"?watch=true", 403)
	_ = get("/version", 200).Close()
	silent("a watch that was refused", 0)
	end <- true
	_ = refused.Close()

	stream := get(leasesPath+"?watch=true", 200)
	silent("a watch that opens", 0)
	for answer, want := range map[int]time.Duration{500: 10 * time.Second, 429: 10 * time.Second, 404: 0} {
		_ = get("/version", 200).Close()
		clock.SetTime(clock.Now().Add(10 * time.Second))
		_ = get("/version", answer).Close()
		silent(http.StatusText(answer), want)
	}
	event <- true
	if _, err := stream.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	silent("an event", 0)
	end <- true
	if _, err := io.ReadAll(stream); err != nil {
		t.Fatal(err)
	}
	_ = stream.Close()
	_ = get("/version", 200).Close()
	silent("an answer after the watch has ended", 20*time.Second-10*time.Second)
	again := get(leasesPath+"?watch=true", 200)
	silent("a watch that opens again", 0)
	_ = again.Close()
	_ = get("/version", 200).Close()
	silent("an answer after the watch was closed", 10*time.Second)
}

// countingReader counts questions, and never answers.
type countingReader struct {
	client.Reader
	asked chan types.NamespacedName
}

func (r *countingReader) Get(ctx context.Context, key client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	r.asked <- key
	<-ctx.Done()
	return ctx.Err()
}

func TestTheProberAsksWhileThereAreSessions(t *testing.T) {
	b := newSessionBed(t)
	reader := &countingReader{asked: make(chan types.NamespacedName)}
	about := types.NamespacedName{Namespace: "default", Name: "x"}
	p := &prober{contact: b.sessions.contact, sessions: b.sessions, live: reader, about: about}
	if p.sessions.any() {
		t.Fatal("sessions before any Lease was seen")
	}
	b.sessions.Observe(t.Context(), &coordinationv1.Lease{})
	b.sessions.contact.open()
	b.sessions.contact.answered()
	b.pass(time.Second)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- p.Start(ctx) }()
	for range 2 { // The first question is not answered, the second is asked all the same.
		select {
		case key := <-reader.asked:
			if key != about {
				t.Errorf("asked about %s", key)
			}
		case <-time.After(patience):
			t.Fatal("nothing was asked")
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
