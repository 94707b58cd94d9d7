package assignor

// ZonePolicy says what the zones of members and topics mean to an assignor.
type ZonePolicy string

const (
	// ZoneIgnore pays no heed to zones. The empty policy means the same.
	ZoneIgnore ZonePolicy = "Ignore"
	// ZonePrefer gives a partition to a member of its home zone where nothing more important speaks against it.
	ZonePrefer ZonePolicy = "Prefer"
	// ZoneSpread puts the copies of a partition into as many different zones as there are members for.
	ZoneSpread ZonePolicy = "Spread"
)

// Topic is what is shared out: partitions 0 to Partitions-1, each of which Replicas members hold at once.
type Topic struct {
	// Name is unique in the input.
	Name string
	// Partitions is the number of partitions, 0 or more.
	Partitions int32
	// Replicas is how many members hold each partition; 0 counts as 1.
	Replicas int32
	// Weight is the load of one copy of one partition; 0 counts as 1.
	Weight int64
	// Weights, if given, is the load of a copy of each partition, in place of Weight; an entry of 0 counts as 1.
	Weights []int64
	// CoPartition, if not empty, names a set: partition i of all topics of the set goes to the same member.
	// All topics of a set have as many partitions and replicas.
	CoPartition string
	// Zones are the home zones: partition i is at home in Zones[i mod len(Zones)].
	Zones []string
}

// Ownership is a list of partitions of one copy index of a topic, with the fencing token they were granted under.
type Ownership struct {
	Topic      string
	Copy       int32
	Partitions []int32
	// Token decides between two members that claim the same copy: the greater one is right.
	Token int64
}

// Member is one that takes a share.
type Member struct {
	// Name is unique in the input.
	Name string
	// Topics is the subscription; empty means all topics. Names that the input does not have are ignored.
	Topics []string
	// Zone is where the member runs. Members without one count as being in one further zone.
	Zone string
	// Capacity is the relative share that the member can carry; 0 means parked: it takes nothing.
	Capacity int64
	// Owned is what the member holds now. What does not exist any more is ignored.
	Owned []Ownership
	// Pinned is the part of Owned that must stay, whatever subscription and capacity say. Tokens are ignored.
	Pinned []Ownership
	// Away members may lose what they own, and are given nothing that they do not own.
	Away bool
}

// Input is all that an assignor looks at. Its order, of topics, members and ownership entries, does not matter.
type Input struct {
	Topics     []Topic
	Members    []Member
	ZonePolicy ZonePolicy
}

// Result is an assignment and what there is to say about it.
type Result struct {
	// Target[t][c][p] is the index in Input.Members of the member that copy c of partition p of Input.Topics[t]
	// goes to, or -1.
	Target [][][]int32
	// Moved is the number of copies taken from one member for another: their valid previous owner is not their target.
	Moved int
	// Short has the indexes, ascending, of Away members to which the same assignor, run with this target as what is
	// held and nobody away, gives a greater load.
	Short []int
	// Unplaced has the copies without a target, in the order of Input.Topics, copy and partition.
	Unplaced []Unplaced
	// Loads is the load of each member of Input.Members.
	Loads []int64
	// Ignored says which parts of the previous ownership did not count, and why.
	Ignored []Ignored
}

// Unplaced is a run of partitions of one copy index of a topic that have no target for the same reason.
type Unplaced struct {
	Topic       string
	Copy        int32
	First, Last int32
	Reason      UnplacedReason
}

// UnplacedReason says why a copy has no target.
type UnplacedReason string

const (
	// NoMembers: the input has no member.
	NoMembers UnplacedReason = "NoMembers"
	// NoSubscriber: no member subscribes to the topic, or to all topics of its coPartition set.
	NoSubscriber UnplacedReason = "NoSubscriber"
	// AllParked: every subscriber has capacity 0.
	AllParked UnplacedReason = "AllParked"
	// AllAway: every subscriber with capacity is away, and none of them owns the copy (of all topics of its set).
	AllAway UnplacedReason = "AllAway"
	// NotEnoughMembers: every member that may take the copy has another copy of the partition.
	NotEnoughMembers UnplacedReason = "NotEnoughMembers"
	// PinnedElsewhere: the partition of the coPartition set is pinned to a member that may not take this topic's copy.
	PinnedElsewhere UnplacedReason = "PinnedElsewhere"
)

// Ignored counts the copies of a member's Owned or Pinned that did not count, for one reason.
type Ignored struct {
	// Member is an index in Input.Members.
	Member int
	Copies int
	Reason IgnoredReason
}

// IgnoredReason says why a claim of previous ownership did not count.
type IgnoredReason string

const (
	// UnknownTopic: the input has no such topic.
	UnknownTopic IgnoredReason = "UnknownTopic"
	// OutOfRange: the topic has no such partition or copy.
	OutOfRange IgnoredReason = "OutOfRange"
	// OwnedByOther: another member has a claim with a newer token.
	OwnedByOther IgnoredReason = "OwnedByOther"
	// SecondCopy: the member has a better claim to another copy of the same partition.
	SecondCopy IgnoredReason = "SecondCopy"
	// PinNotOwned: a pin of a copy that the member does not own.
	PinNotOwned IgnoredReason = "PinNotOwned"
)

// Assignor computes an assignment. It is a pure function: the same input, in whatever order, gives the same result.
type Assignor func(Input) (Result, error)

// ByName returns the assignor of that name: "sticky", "range" or "roundrobin".
func ByName(name string) (Assignor, bool) {
	switch name {
	case "sticky":
		return Sticky, true
	case "range":
		return Range, true
	case "roundrobin":
		return RoundRobin, true
	}
	return nil, false
}
