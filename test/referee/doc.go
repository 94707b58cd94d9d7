// Package referee judges a coordinator by what it did, not by how: it looks at the objects and at what processes work
// on, once after every single write, and says which invariant a step has broken.
//
// The invariants, by number (messages bear it):
//
//  1. Copies of a partition held (in an assignment, or in a revocation in force) never exceed one holder per copy index;
//     no member holds two copies of one partition; nothing that is held disappears before it is free. For processes, which
//     act on what they last read: under Exclusive never two at work on one copy within one life of a group; under both
//     policies no store that checks tokens accepts a stale holder.
//  2. The generation never decreases and is spent only by a completed round, whose recorded reasons are true.
//  3. A token is strictly greater than that of the holder it follows, also across deletion and re-creation.
//  4. A static member that returns in time with the same offer changes no generation: a return is never a reason.
//  5. Stable means that every copy is held by a member that may hold it, or that FullyAssigned says why not.
//  6. Leader mode: the leader is a member of the generation.
//  7. When nothing changes any more and time passes, the group comes to rest as Stable or Down.
//  8. A stale incarnation changes nothing: what has gone does not come back, and every change raises the revision.
//
// One Referee follows one group name through all its lives. It remembers what the objects forget: the last token of a
// copy, the generations spent, the incarnations that a name has had. Clone makes it cheap to try several futures.
package referee
