// Package sim is a small world for tests: an API server in memory (Store), the operator's process with its faults, the
// processes and pods that are members, and one virtual clock.
//
// Nothing here runs by itself. Time passes when the test says so, everything that is due happens in the order of its
// instant, and the same sequence of calls gives the same history.
package sim
