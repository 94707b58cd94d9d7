// Package controllers is the hands of Rollcall: it reads objects, lets the pure packages decide, and carries out what
// they want.
//
// Three reconcilers pass data one way: workload (pods and nodes to GroupMember specs), group (specs to statuses) and
// publish (statuses to pod annotations). Each has a source, which makes a snapshot of the cache (and reads past it what a
// decision needs live), and a driver, which decides and carries out until nothing is left to do. Simulations use the
// same drivers, with sources and a Store of their own.
//
// What keeps it safe:
//
//   - Every write is locked by the version it was decided from; the first failure ends the list (Executor).
//   - Nothing is decided from less than this process has written itself (Memory), nor from an object whose last write may
//     still land: that one is read live and touched first (Settle).
//   - Nobody is declared dead by the cache's word: the member and its pod are read live (livePresence).
//   - A new leader decides nothing before its cache holds all that was there when it began to lead (Loader).
//   - Nothing is written once the leader's lease could have expired (Lease).
package controllers
