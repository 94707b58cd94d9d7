// Package explore walks every interleaving of small groups through the real decisions of the coordinator.
//
// A world is the group's objects, the processes and what each last read, the coordinator with what it has decided and
// not yet sent, and writes that are still on their way. From each world every step is taken that could be taken: a
// process reads or acknowledges, the coordinator decides or sends one write, a late write arrives, something happens
// (somebody joins, leaves, expires), something fails (a crash, a lost write), time passes. Two worlds that differ only
// in what no rule looks at are one. After every step the referee judges.
//
// docs/exploration.md tells how to read a trace and how to add a mutation.
package explore
