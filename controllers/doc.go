// Package controllers is the hands of Rollcall: it reads objects, lets the pure packages decide, and carries out what
// they want.
//
// Three reconcilers pass data one way: workload (pods and nodes to GroupMember specs), group (specs to statuses) and
// publish (statuses to pod annotations). All of them write through one Executor over a small Store, and a group is
// driven by one Driver; simulations use the same Executor and Driver over a Store in memory.
package controllers
