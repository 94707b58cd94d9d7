package controllers

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

const (
	// outageCounts is how long nothing must have been heard for that time to be taken out of sessions.
	outageCounts = 2 * time.Second
	// probeEvery is how often the API server is asked something where nothing else is.
	probeEvery = time.Second
	// probeTimeout is long: an answer that comes late is an answer.
	probeTimeout = 10 * time.Second
)

// Contact knows when this process could hear of heartbeats: while the API server answers, and a watch brings it the Leases.
// Whose renewals could not be heard is not silent.
type Contact struct {
	clock clock.PassiveClock

	mu sync.Mutex
	// streams are the open watches of Leases.
	streams int
	// heard is the last instant at which there was an answer while such a watch was open.
	heard time.Time
	// outages that have ended and were not yet taken out of sessions.
	outages []outage
}

// outage is a time in which nothing was heard.
type outage struct{ began, ended time.Time }

// NewContact has not heard anything yet.
func NewContact(c clock.PassiveClock) *Contact { return &Contact{clock: c} }

// Listen notes every answer of the API server that passes.
func (c *Contact) Listen(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		response, err := next.RoundTrip(request)
		if err != nil || !answers(response.StatusCode) {
			return response, err
		}
		if watchesLeases(request) && response.StatusCode == http.StatusOK {
			c.open()
			response.Body = &heartbeatStream{ReadCloser: response.Body, contact: c}
		}
		c.answered()
		return response, nil
	})
}

// answers: one that is overloaded, or has lost its store, does not answer: nor does it take renewals.
func answers(code int) bool {
	return code < http.StatusInternalServerError && code != http.StatusTooManyRequests
}

func watchesLeases(request *http.Request) bool {
	watch := request.URL.Query().Get("watch")
	return request.Method == http.MethodGet && (watch == "true" || watch == "1") &&
		strings.HasPrefix(request.URL.Path, "/apis/"+coordinationv1.GroupName+"/") && strings.HasSuffix(request.URL.Path, "/leases")
}

// heartbeatStream is the body of a watch of Leases.
type heartbeatStream struct {
	io.ReadCloser
	contact *Contact
	once    sync.Once
}

// Read passes on what the watch brings; what it brings is an answer, and when it breaks nothing is heard any more.
func (s *heartbeatStream) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	if err != nil {
		s.once.Do(s.contact.broken)
	} else {
		s.contact.answered()
	}
	return n, err
}

// Close ends the watch.
func (s *heartbeatStream) Close() error {
	s.once.Do(s.contact.broken)
	return s.ReadCloser.Close()
}

func (c *Contact) open() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.streams++
}

func (c *Contact) broken() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.streams--
}

// answered notes an answer. If there had been none for long, an outage has ended.
func (c *Contact) answered() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.streams == 0 {
		return
	}
	at := now(c.clock)
	if began := c.heard; !began.IsZero() && at.Sub(began) > outageCounts {
		c.outages = append(c.outages, outage{began, at})
	}
	c.heard = at
}

// take gives the outages that have ended, once each, and the one that lasts, if one does.
func (c *Contact) take() (ended []outage, lasts *outage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ended, c.outages = c.outages, nil
	if at := now(c.clock); !c.heard.IsZero() && at.Sub(c.heard) > outageCounts {
		lasts = &outage{c.heard, at}
	}
	return ended, lasts
}

// silence is how long nothing has been heard.
func (c *Contact) silence() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.heard.IsZero() {
		return 0
	}
	return now(c.clock).Sub(c.heard)
}

// Lost says that an outage lasts.
func (c *Contact) Lost() bool { return c.silence() > outageCounts }

// prober asks the API server for something each second in which there was no other answer, while there are sessions to be
// judged: without a question, no answer proves nothing.
type prober struct {
	contact  *Contact
	sessions *Sessions
	live     client.Reader
	// about is a Lease; whether it is there does not matter. It is read from the store, so the answer says that renewals
	// could be stored.
	about types.NamespacedName
}

var _ manager.LeaderElectionRunnable = (*prober)(nil)

// NeedLeaderElection: only a leader judges sessions.
func (p *prober) NeedLeaderElection() bool { return true }

// Start asks until the manager ends. A question that is not answered does not hold up the next.
func (p *prober) Start(ctx context.Context) error {
	ticker := time.NewTicker(probeEvery)
	defer ticker.Stop()
	var asked sync.WaitGroup
	defer asked.Wait()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			if p.sessions.any() && p.contact.silence() >= probeEvery/2 {
				asked.Go(func() { p.ask(ctx) })
			}
		}
	}
}

func (p *prober) ask(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	_ = p.live.Get(ctx, p.about, &coordinationv1.Lease{}) // The contact notes the answer.
}
