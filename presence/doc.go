// Package presence says what the condition of a workload's pods means for the membership of its groups.
//
// A StatefulSet or Deployment is made part of a ConsumerGroup by an annotation. From then on each of its pods is a
// GroupMember, and this package writes the workload's side of that object: who the member is (its name, the pod that bears
// it now, where that runs), what it can take (topics and capacity), who acknowledges for it, and its presence. The
// coordinator reads presence as Kafka's coordinator reads heartbeats; unlike a heartbeat it says why somebody is away.
//
// # Interface
//
// [Decide] is a function of a [Snapshot]: one workload with its pods, their nodes, the groups and the stored members, and the
// time. It returns a [Decision]: members to create, to update and to delete, what has to be read live before anything
// is written, events, and when to ask again though nothing has happened. It keeps nothing between calls. The little that the
// objects do not hold is handed in and out as [Sights].
//
//   - Need comes first: a member is written Leaving only when its workload was read live, and deleted only when its group was.
//     Both cannot be taken back, and a cache may be behind. An absence NotReady begins only when the pod's node was read live:
//     a lost node's pods lose their readiness with it, and the reason of an absence stays.
//   - Events stand: one is returned by every decision as long as its cause is there, under a Key that stays the same. The
//     caller sends those whose key was not among the ones before.
//   - A decision that has been carried out is followed by an empty one.
//
// # Who is whose member
//
// A static member is a name that pods bear one after the other: its object is "<group>.<pod>", and its incarnation follows the
// pod object, from the pod's creation on. A dynamic member is one pod: its object's name has a part of the pod's UID, and
// it leaves with it. StatefulSets have static members unless they are annotated otherwise or the manager knows none;
// Deployments have dynamic ones. What a running pod is, it stays: another kind of membership begins with the next
// pod. A member's object is made when its pod is present for the first time.
//
// Objects of other workloads, and of processes that registered themselves, are never touched. Where one bears the name of a pod,
// the pod has no member and an event says so. An object that is being deleted takes no next pod; when it is gone, and the
// pod is wanted, a new one is made.
//
// # What a pod's condition means
//
// The first that fits counts.
//
//  1. The name is no longer wanted: Leaving. PodGoing, when the ordinal is out of range, or the pod is being deleted and nobody
//     will bear its name after it; Withdrawn, when the annotation was changed. A StatefulSet that is absent, or being deleted,
//     wants every pod that is not being deleted itself: it may be on its way back.
//  2. Its node is lost, that is unheard of or without a Node object: Away, NodeLost. A node that reports itself not ready is
//     not lost.
//  3. It has stopped, or is gone: Away. Replacing, when it was deleted while its node was Ready, so that its successor
//     can be expected; Gone otherwise. Only a terminal phase, or the end of the object, proves that a pod has stopped.
//  4. It is being deleted, and its name is wanted: Present, Terminating, whatever was seen of it before. It works until it
//     has stopped. No member is made for a pod that is on its way out already.
//  5. Not all of its containers have run yet, and none has failed: Away, for the reason for which the pod before ended.
//  6. It is Ready: Present.
//  7. All containers run and were never restarted, and it was not Ready since: Present, Starting, without limit. Its readiness
//     may depend on what it is assigned; a start that hangs is for the liveness probe.
//  8. All containers have run for a session timeout since their last restart, and it was not Ready since: Present, Starting.
//  9. Away. NotReady, when all containers run and readiness was lost; Crashing otherwise.
//
// A pod that has failed and whose node is lost is NodeLost: that comes first.
//
// # Since when
//
// An absence begins when it is first seen, and keeps its instant and its reason, which chooses the timeout, until the member is
// Present again. Two things change it. The first restart of the pod that came as a replacement begins an absence of its own;
// and a node that is lost later counts where its session ends before the wait that has begun. Leaving keeps its instant too,
// but for a node that is lost or found again, and its reason follows what is seen.
//
// # Few writes
//
// A static pod that is replaced costs two writes of its member: one when the next pod is there, one when it is present. The stop
// is held back for two seconds for that, except where somebody may wait for it: the member is Leaving, being deleted, or has
// revocations. Another reason to be Present, or the node of a pod that does not run, is not written by itself. A changed
// capacity waits while its StatefulSet replaces pods, so that all of them change in one round; topics count with the pod
// that brings them.
//
// # What cannot be read
//
// A value that is wrong never stops anything. A capacity out of bounds counts as the nearest bound, one that is no number as
// what the member had, or 1. A bad topic name stays in the subscription, where it matches nothing: an empty list would
// be all topics. Of more than 400 topics the first 400 count. A kind of membership that does not exist is the default of the kind of
// workload, and anything but "true" means that the process does not acknowledge. Each is a Warning event.
package presence
