// Package coordinator decides for one ConsumerGroup: who is in it, which generation it is at, who holds which copy of
// which partition, and how copies change hands. It is pure: Decide takes a snapshot of the objects and the time and
// returns batches of writes. It keeps nothing between two calls; the objects are the state.
//
// # States
//
// A group is Down while nobody is in its generation, Joining while a round is open, AwaitingSync while its members are
// brought to what the newest plan gives them, and Stable when they have it. Initialize is what a coordinator that is
// still loading shows; it is never written. A state that lasts no time is not written either.
//
// # A generation is one object
//
// When a round completes, the coordinator creates a ControllerRevision, the plan of the next generation: who is in it
// and who gets each copy (plan.go). Creating it is the commit. Exactly one coordinator can create a given name, nothing
// is half decided, and whoever comes next, after any crash, goes on from the newest plan. status.generation follows it.
//
// What asks for a round is a comparison of the objects with that plan (round.go): a member that it does not list, one
// that it lists and that has left, another offer, other topics, a forced rebalance, and so on. Nothing is written to
// ask, so nothing can be forgotten.
//
// To leave is one-way. A member that becomes Leaving, Dead or Rejected notes the generation of that moment in
// status.left; from then on only a later plan can name it. If it is wanted again it is Pending, a new member.
//
// # The order of a decision
//
// decide.go goes through these, and stops at the first that has something to write, so that the rest is decided from
// objects that say it:
//
//  1. Facts (facts.go, takeover.go): what the members' specs and the clock say of them. Unavailable, Dead, Leaving,
//     Rejected, a new incarnation.
//  2. The round (round.go, accept.go, commit.go): its causes, its deadline, its commit.
//  3. The hand-over (handover.go, holders.go, revocation.go): revoke from losers, grant to gainers what is free.
//  4. The group's own status (groupstatus.go, conditions.go), and the ends of objects (finish.go, deletion.go).
//
// Before a plan that follows another process's, and before the first grant of one, touch.go makes late grants of that
// process fail.
//
// # Hand-over
//
// Only a free copy is granted: no other member has it in its assignment or in a revocation in force, no other
// incarnation of the gainer has, and the gainer has no other copy of that partition (holders.go, freeFor). A revocation
// is in force until its memberID has acknowledged its revision or said that it has stopped for good, or its pod has
// stopped, or its session is over; the policy Available adds that time alone ends it (revocation.go). What ended other
// than by the member's word is written out of its object before one of its copies is granted. A grant bears a token
// greater than every token under which that copy was held before (token.go).
//
// docs/handover.md goes through the rules one by one, with the scenarios that guard them.
//
// # Time
//
// All timers are deadlines computed from instants in the objects. view.passed asks whether one has come, and notes it
// as a time to wake up if it has not: the earliest that was looked at is WakeAt. A deadline has passed when now equals it.
//
// # Live reads
//
// A cache may lag. A member is declared Dead, a plan taken for lost, and under Exclusive a session for over only from
// what was read live for that very snapshot; Decide asks for such reads by Need, and decides again.
package coordinator
