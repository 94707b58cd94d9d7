package assignor

import "errors"

// Sticky moves as little as an even load allows.
func Sticky(in Input) (Result, error) { return Result{}, errors.ErrUnsupported }

// Range gives each member consecutive partitions of each topic.
func Range(in Input) (Result, error) { return Result{}, errors.ErrUnsupported }

// RoundRobin deals the partitions of all topics out in turn.
func RoundRobin(in Input) (Result, error) { return Result{}, errors.ErrUnsupported }
