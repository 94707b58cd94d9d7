package controllers

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"

	"github.com/rollcall-dev/rollcall/coordinator"
)

// maxNote is the API server's bound on an event's text.
const maxNote = 1024

// Recorder sends the events of decisions to the API server.
func Recorder(recorder events.EventRecorder) func(coordinator.Event) {
	return func(event coordinator.Event) {
		kind := corev1.EventTypeNormal
		if event.Warning {
			kind = corev1.EventTypeWarning
		}
		note := event.Message
		if len(note) > maxNote {
			note = note[:maxNote]
		}
		recorder.Eventf(event.About, nil, kind, event.Reason, event.Reason, "%s", note)
	}
}

// standingEvent is an event that a decision returns for as long as its cause stands.
type standingEvent struct {
	key   string
	event coordinator.Event
}

// standing remembers which causes were told of, so that each is told once.
type standing[K comparable] struct {
	mu   sync.Mutex
	told map[K]map[string]bool
}

// begun gives the events whose cause did not stand at the last decision about the same thing.
func (s *standing[K]) begun(about K, now []standingEvent) []coordinator.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.told[about]
	var fresh []coordinator.Event
	keys := make(map[string]bool, len(now))
	for _, e := range now {
		if !before[e.key] && !keys[e.key] {
			fresh = append(fresh, e.event)
		}
		keys[e.key] = true
	}
	s.keep(about, keys)
	return fresh
}

func (s *standing[K]) keep(about K, keys map[string]bool) {
	if len(keys) == 0 {
		delete(s.told, about)
		return
	}
	if s.told == nil {
		s.told = map[K]map[string]bool{}
	}
	s.told[about] = keys
}
