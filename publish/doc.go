// Package publish brings a member's assignment to its pod, and speaks for members that cannot.
//
// A process in a pod need not know Kubernetes' API. Its assignment comes to it as a JSON document in an annotation of its pod,
// "assignment.rollcall.dev/<group>", which the downward API shows as a file or an environment variable. Such a process
// cannot say that it has stopped what was taken from it. So it is given time, from the moment when its pod was told, and
// then its word is given for it.
//
// # Interface
//
// [Decide] is a function of a [Snapshot]: one pod, the members that it is (one a group) with their groups, and the time. It
// returns a [Decision]: annotations to set or to remove, acknowledgements to write into members' specs, events, and when to ask
// again though nothing has happened. It keeps nothing between calls; after the writes the caller asks again.
//
// # The document
//
// It is written to the pod that is the incarnation in status.memberID, when the pod's spec refers to the annotation by the
// downward API (to this one or to all, in a volume, a projected volume or an environment), or when the pod bears the label
// rollcall.dev/inject. It says what the member holds, what it will be given (pending) and what was taken from it and is not
// known to be stopped (revoking), each with the partition count of the topic; the order of its keys and entries is fixed. A
// member that no plan has ever taken in has no document. When the member is gone, or was made again and not taken in yet,
// the document goes.
//
// A document is written when it says something else than the one in the pod, be it only another partition count, and never
// otherwise. The documents of a pod together have at most [MaxDocuments] bytes. When they would have more, the longest
// are written without their lists, marked truncated; the decision names their groups and an event says where to look.
//
// # Acknowledgement
//
// Under the policy Available, for members whose acknowledgement is None, and only while the present memberID has a revocation
// newer than what it has acknowledged:
//
//   - A document that tells of a revocation for the first time notes in its last key, published, the member object's UID, the
//     revision and the instant. A later document keeps that note: a second revocation does not restart the wait for the
//     first. Notes of another UID do not count, since a member that was made again counts its revisions anew.
//   - When the grace has passed since a note, its revision is acknowledged. The note stands in the pod before it counts, so
//     a crash, a lost write or a conflict can only lengthen the wait.
//   - A pod that reads no document is not told anything: its grace runs from the revocation.
//
// A note that has been acknowledged leaves the document together with the next change. Under Exclusive nothing is acknowledged:
// that time has passed proves nothing. A pod that has stopped is neither told nor spoken for: its stop itself ends
// what was revoked.
package publish
