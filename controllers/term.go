package controllers

import (
	"sync/atomic"

	"github.com/rollcall-dev/rollcall/coordinator"
)

// Term is the identity of one start of the process. All its executors share one, so that no two touches are alike.
type Term struct {
	id      string
	counter atomic.Int64
}

// NewTerm begins a term; no two starts of a process may have the same id.
func NewTerm(id string) *Term { return &Term{id: id} }

// Next is the term with a counter that no other call has given.
func (t *Term) Next() coordinator.Term {
	return coordinator.Term{ID: t.id, Counter: t.counter.Add(1)}
}
