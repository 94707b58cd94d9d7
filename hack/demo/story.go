package main

import "time"

const (
	// shortSession replaces the sample's session timeout of 45 s before the last step: there it is what one waits for.
	shortSession = 10 * time.Second
	// writesPerPod is what a rolled pod may cost.
	writesPerPod = 4
	// afterLastStop is how soon after the last pod's stop its partitions are with others.
	afterLastStop = 3 * time.Second
)

// tell is the whole story. A step that fails ends it: what follows is then left out.
func (s *story) tell() {
	s.join()
	s.roll()
	s.scaleUp()
	s.scaleDown()
	s.loseANode()
	s.history()
	s.summary()
}

func (s *story) join() {
	s.step("six pods join")
	s.say("A ConsumerGroup says what is shared out: here 24 partitions. A StatefulSet's pods take a share of it because " +
		"of one annotation, rollcall.dev/group: orders. The sample is in config/samples; hack/demo/sample only makes " +
		"its simulated pods take 1 s to start and 2 s to stop.")
	s.act("apply", "-k", "hack/demo/sample")
	s.await("six members hold their share", s.settled(6))
	s.show("get", "cg,gm")
	s.say("Each pod finds its share in an annotation of its own, which the sample shows it as a file. The token fences " +
		"these partitions: a store refuses a smaller one than it has seen.")
	s.show("get", "pod", "worker-0", "-o", `jsonpath={.metadata.annotations.assignment\.rollcall\.dev/orders}{"\n"}`)
	s.expect("generations", s.generations(), 1)
	s.expect("partitions that moved", s.moved(), 0)
	s.expectEach("partitions held by each member", s.shares(), 4)
	s.done()
}

func (s *story) roll() {
	s.step("rolling restart")
	s.say("A pod of a StatefulSet is known by its name. While it is being replaced its partitions wait for it " +
		"(replacementTimeout: 5 min unless set). Its successor takes them over, with a greater token.")
	s.act("rollout", "restart", "statefulset/worker")
	s.await("a pod is on its way out", s.terminating(1))
	s.show("get", "cg,pods")
	s.wait("rollout", "status", "statefulset/worker")
	s.await("every member is its new pod", s.replaced(6))
	s.show("get", "cg,gm")
	s.expect("generations", s.generations(), 0)
	s.expect("partitions that moved", s.moved(), 0)
	s.expectAtMost("writes by Rollcall for one pod", s.writesForOnePod(), writesPerPod)
	s.expect("writes by Rollcall to the group", s.writesToGroup(), 0)
	s.done()
}

func (s *story) scaleUp() {
	s.step("scale 6 to 8")
	s.say("Two pods more are entitled to 3 partitions each, so 6 must move and no more. Their old owners cannot say " +
		"that they have stopped, so they are told, and given revocationGracePeriod (10 s) from that moment. Until then " +
		"nobody else gets them.")
	s.act("scale", "statefulset/worker", "--replicas=8")
	s.await("generation 2 is decided", s.decided(2))
	s.show("get", "cg,gm")
	s.await("eight members hold their share", s.settled(8))
	s.show("get", "cg,gm")
	s.expect("generations", s.generations(), 1)
	s.expect("partitions that moved", s.moved(), 6)
	s.expectEach("partitions held by each member", s.shares(), 3)
	s.done()
}

func (s *story) scaleDown() {
	s.step("scale 8 to 6")
	s.say("A pod that goes works to its end: what it holds is with others right after it has stopped, and never before. " +
		"No timeout is waited for; the shortest in this group is 10 s.")
	s.act("scale", "statefulset/worker", "--replicas=6")
	s.await("the two leave", s.leaving("worker-6", "worker-7"))
	s.show("get", "cg,gm")
	s.await("six members hold their share", s.settled(6))
	s.show("get", "cg,gm")
	s.expect("generations", s.generations(), 1)
	s.expect("partitions that moved", s.moved(), 6)
	s.expect("of these, moved before their owner had stopped", s.early(podStopped), 0)
	s.expectWithin("last partition handed over after the last stop", s.handedOver(podStopped), afterLastStop)
	s.done()
}

func (s *story) loseANode() {
	s.step("a node is lost")
	node, workers := s.lonelyNode()
	held := s.heldBy(workers)
	s.say("Only now somebody is really away. Nobody can know what runs on a silent node, so its members keep what they " +
		"hold for sessionTimeout. The sample has 45 s; the demo shortens it to 10 s. On " + node + " runs " +
		join(workers) + ".")
	s.prepare("patch", "cg/orders", "--type=merge", "-p", `{"spec":{"sessionTimeout":"`+shortSession.String()+`"}}`)
	s.loseNode(node)
	s.await("its member is known to be away", s.away(workers))
	s.show("get", "nodes")
	s.show("get", "cg,gm")
	s.await("the others hold its partitions", s.settled(6-len(workers)))
	s.show("get", "cg,gm")
	s.expect("generations", s.generations(), 1)
	s.expect("partitions that moved", s.moved(), held)
	s.expect("of these, moved before the session had ended", s.early(declaredDead), 0)
	s.expectAtLeast("time from its absence to its removal", s.patience(workers), shortSession)
	s.expectWithin("last partition handed over after the end of the session", s.handedOver(declaredDead), afterLastStop)
	s.done()
}

// history shows where the reasons are kept.
func (s *story) history() {
	s.chapter("why")
	s.say("Every generation is one object, its plan, and the newest ten are kept. The group says why the last one came " +
		"about, and events tell of the others.")
	s.show("get", "controllerrevisions", "-l", "rollcall.dev/group=orders")
	s.show("get", "cg/orders", "-o", "custom-columns=GENERATION:.status.lastRebalance.generation,"+
		"MOVED:.status.lastRebalance.moved,REASON:.status.lastRebalance.reason")
	s.show("get", "events", "--field-selector", "reason=Rebalanced", "--sort-by=.metadata.creationTimestamp",
		"-o", "custom-columns=EVENT:.reason,OF:.involvedObject.name,MESSAGE:.message")
}
