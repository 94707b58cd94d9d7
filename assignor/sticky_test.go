package assignor

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
)

// owns is a member of capacity 1 that owns partitions of a topic's copy 0 ("t1") or another ("t1/1").
func owns(name string, owned map[string][]int32) Member {
	m := Member{Name: name, Capacity: 1}
	for topic, partitions := range owned {
		o := Ownership{Topic: topic, Partitions: partitions, Token: 1}
		if i := slices.Index([]byte(topic), '/'); i >= 0 {
			o.Topic, o.Copy = topic[:i], int32(topic[i+1]-'0')
		}
		m.Owned = append(m.Owned, o)
	}
	return m
}

func (m Member) subscribed(topics ...string) Member { m.Topics = topics; return m }
func (m Member) withCapacity(c int64) Member        { m.Capacity = c; return m }
func (m Member) in(zone string) Member              { m.Zone = zone; return m }
func (m Member) nowAway() Member                    { m.Away = true; return m }
func (m Member) allPinned() Member                  { m.Pinned = m.Owned; return m }

// shares writes a target as "a: t1:0 t1:1/1 b: ..." with members by name.
func shares(in Input, target [][][]int32) string {
	lists := make([]string, len(in.Members)+1)
	for t := range target {
		for p := range in.Topics[t].Partitions {
			for c := range target[t] {
				copyIndex := ""
				if len(target[t]) > 1 {
					copyIndex = fmt.Sprintf("/%d", c)
				}
				m := target[t][c][p]
				if m < 0 {
					m = int32(len(in.Members))
				}
				lists[m] += fmt.Sprintf(" %s:%d%s", in.Topics[t].Name, p, copyIndex)
			}
		}
	}
	text := ""
	for m, list := range lists {
		if m < len(in.Members) {
			text += in.Members[m].Name + ":" + list + "; "
		} else if list != "" {
			text += "none:" + list
		}
	}
	return text
}

func TestSticky(t *testing.T) {
	t1, t2, t3 := Topic{Name: "t1", Partitions: 1}, Topic{Name: "t2", Partitions: 1}, Topic{Name: "t3", Partitions: 1}
	sized := func(name string, partitions, replicas int32) Topic {
		return Topic{Name: name, Partitions: partitions, Replicas: replicas}
	}
	set := func(name string) Topic { return Topic{Name: name, Partitions: 2, CoPartition: "set"} }
	tests := []struct {
		name   string
		in     Input
		shares string
		moved  int
		short  []int
	}{{
		name:   "a member alone gets what it subscribes to",
		in:     Input{Topics: []Topic{t1, t2, t3}, Members: []Member{owns("a", nil).subscribed("t1", "t3")}},
		shares: "a: t1:0 t3:0; none: t2:0",
	}, {
		name: "nothing moves if no move makes loads more even",
		in: Input{Topics: []Topic{t1, t2, t3}, Members: []Member{
			owns("a", map[string][]int32{"t1": {0}, "t3": {0}}).subscribed("t1", "t3"), owns("b", nil).subscribed("t2", "t3"),
		}},
		shares: "a: t1:0 t3:0; b: t2:0; ",
	}, {
		name: "what a member no longer subscribes to goes to who does",
		in: Input{Topics: []Topic{t1, t2, t3}, Members: []Member{
			owns("a", map[string][]int32{"t1": {0}, "t3": {0}}).subscribed("t1"), owns("b", map[string][]int32{"t2": {0}}).subscribed("t2", "t3"),
		}},
		shares: "a: t1:0; b: t2:0 t3:0; ", moved: 1,
	}, {
		name:   "each topic is divided evenly",
		in:     Input{Topics: []Topic{sized("t1", 4, 1), sized("t2", 4, 1)}, Members: []Member{owns("a", nil), owns("b", nil)}},
		shares: "a: t1:0 t1:2 t2:0 t2:2; b: t1:1 t1:3 t2:1 t2:3; ",
	}, {
		name: "a parked member gives all it has",
		in: Input{Topics: []Topic{sized("t1", 2, 1)}, Members: []Member{
			owns("a", map[string][]int32{"t1": {0}}).withCapacity(0), owns("b", map[string][]int32{"t1": {1}}), owns("c", nil),
		}},
		shares: "a:; b: t1:1; c: t1:0; ", moved: 1,
	}, {
		name:   "loads are in proportion to capacity",
		in:     Input{Topics: []Topic{sized("t1", 8, 1)}, Members: []Member{owns("a", nil).withCapacity(3), owns("b", nil)}},
		shares: "a: t1:0 t1:2 t1:3 t1:4 t1:6 t1:7; b: t1:1 t1:5; ",
	}, {
		name: "an away member keeps its share, gets nothing, and is short when it returns to less than that",
		in: Input{Topics: []Topic{sized("t1", 6, 1)}, Members: []Member{
			owns("a", map[string][]int32{"t1": {0, 1}}), owns("b", map[string][]int32{"t1": {2, 3}}).nowAway(),
		}},
		shares: "a: t1:0 t1:1 t1:4 t1:5; b: t1:2 t1:3; ", short: []int{1},
	}, {
		name: "an away member that has its share is not short",
		in: Input{Topics: []Topic{sized("t1", 4, 1)}, Members: []Member{
			owns("a", map[string][]int32{"t1": {0, 1}}), owns("b", map[string][]int32{"t1": {2, 3}}).nowAway(),
		}},
		shares: "a: t1:0 t1:1; b: t1:2 t1:3; ",
	}, {
		name: "from an away member is taken like from any",
		in: Input{Topics: []Topic{sized("t1", 4, 1)}, Members: []Member{
			owns("a", map[string][]int32{"t1": {0, 1, 2, 3}}).nowAway(), owns("b", nil),
		}},
		shares: "a: t1:0 t1:1; b: t1:2 t1:3; ", moved: 2,
	}, {
		name: "what nobody present may take stays with who is away",
		in: Input{Topics: []Topic{sized("t1", 2, 1), t2}, Members: []Member{
			owns("a", map[string][]int32{"t1": {0}}).nowAway(),
		}},
		shares: "a: t1:0; none: t1:1 t2:0", short: []int{0},
	}, {
		name:   "with fewer members than replicas the lowest copies are placed",
		in:     Input{Topics: []Topic{sized("t1", 2, 3)}, Members: []Member{owns("a", nil), owns("b", nil)}},
		shares: "a: t1:0/0 t1:1/1; b: t1:0/1 t1:1/0; none: t1:0/2 t1:1/2",
	}, {
		name: "a copy index stays with its holder when the number of replicas shrinks",
		in: Input{Topics: []Topic{sized("t1", 1, 2)}, Members: []Member{
			owns("a", map[string][]int32{"t1/2": {0}}), owns("b", map[string][]int32{"t1/1": {0}}), owns("c", map[string][]int32{"t1": {0}}),
		}},
		shares: "a:; b: t1:0/1; c: t1:0/0; ",
	}, {
		name: "a leaver's copy goes to the only member that has none, under the same index",
		in: Input{Topics: []Topic{sized("t1", 2, 2)}, Members: []Member{
			owns("a", map[string][]int32{"t1/1": {0, 1}}), owns("c", nil),
		}},
		shares: "a: t1:0/1 t1:1/1; c: t1:0/0 t1:1/0; ",
	}, {
		name: "copies of a partition are in different zones even if loads suffer",
		in: Input{ZonePolicy: ZoneSpread, Topics: []Topic{sized("t1", 2, 2)}, Members: []Member{
			owns("a", nil).in("east"), owns("b", nil).in("east"), owns("c", nil).in("west"),
		}},
		shares: "a: t1:0/0; b: t1:1/0; c: t1:0/1 t1:1/1; ",
	}, {
		name: "of as even loads the home zone is chosen",
		in: Input{
			ZonePolicy: ZonePrefer, Topics: []Topic{{Name: "t1", Partitions: 4, Zones: []string{"west", "east"}}},
			Members: []Member{owns("a", nil).in("east"), owns("b", nil).in("west")},
		},
		shares: "a: t1:1 t1:3; b: t1:0 t1:2; ",
	}, {
		name: "nothing moves home",
		in: Input{
			ZonePolicy: ZonePrefer, Topics: []Topic{{Name: "t1", Partitions: 2, Zones: []string{"west", "east"}}},
			Members: []Member{owns("a", map[string][]int32{"t1": {0}}).in("east"), owns("b", map[string][]int32{"t1": {1}}).in("west")},
		},
		shares: "a: t1:0; b: t1:1; ",
	}, {
		name: "pinned copies stay with a parked member that does not subscribe",
		in: Input{Topics: []Topic{sized("t1", 2, 1), t2}, Members: []Member{
			owns("a", map[string][]int32{"t1": {0, 1}}).subscribed("t2").withCapacity(0).allPinned(), owns("b", nil),
		}},
		shares: "a: t1:0 t1:1; b: t2:0; ",
	}, {
		name: "partition i of a set goes to one member that subscribes to the whole set",
		in: Input{Topics: []Topic{set("t1"), set("t2")}, Members: []Member{
			owns("a", nil), owns("b", map[string][]int32{"t1": {0, 1}}).subscribed("t1"), owns("c", nil),
		}},
		shares: "a: t1:0 t2:0; b:; c: t1:1 t2:1; ", moved: 2,
	}, {
		name: "a new topic of a set joins those that have the set",
		in: Input{Topics: []Topic{set("t1"), set("t2")}, Members: []Member{
			owns("a", map[string][]int32{"t1": {1}}), owns("b", map[string][]int32{"t1": {0}}),
		}},
		shares: "a: t1:1 t2:1; b: t1:0 t2:0; ",
	}, {
		name: "an away member keeps of a set only what it has whole",
		in: Input{Topics: []Topic{set("t1"), set("t2")}, Members: []Member{
			owns("a", map[string][]int32{"t1": {0, 1}, "t2": {1}}).nowAway(), owns("b", nil),
		}},
		shares: "a: t1:1 t2:1; b: t1:0 t2:0; ", moved: 1,
	}, {
		name: "the rest of a set's partition follows the pin",
		in: Input{Topics: []Topic{set("t1"), set("t2")}, Members: []Member{
			owns("a", map[string][]int32{"t1": {0, 1}}).allPinned(), owns("b", nil),
		}},
		shares: "a: t1:0 t1:1 t2:0 t2:1; b:; ",
	}, {
		name: "what can not follow the pin has no target",
		in: Input{Topics: []Topic{set("t1"), set("t2")}, Members: []Member{
			owns("a", map[string][]int32{"t1": {0}}).subscribed("t1").allPinned(), owns("b", nil),
		}},
		shares: "a: t1:0; b: t1:1 t2:1; none: t2:0",
	}, {
		name: "the heavy topic is weighed",
		in: Input{
			Topics:  []Topic{{Name: "t1", Partitions: 1, Weight: 3}, {Name: "t2", Partitions: 3}},
			Members: []Member{owns("a", nil), owns("b", nil)},
		},
		shares: "a: t1:0; b: t2:0 t2:1 t2:2; ",
	}, {
		name: "each partition is weighed",
		in: Input{
			Topics:  []Topic{{Name: "t1", Partitions: 4, Weights: []int64{1, 2, 6, 3}}},
			Members: []Member{owns("a", nil), owns("b", nil)},
		},
		shares: "a: t1:2; b: t1:0 t1:1 t1:3; ",
	}, {
		name:   "without members nothing has a target",
		in:     Input{Topics: []Topic{t1}},
		shares: "none: t1:0",
	}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := Sticky(tt.in)
			if err != nil {
				t.Fatal(err)
			}
			if got := shares(tt.in, r.Target); got != tt.shares {
				t.Errorf("got  %s\nwant %s", got, tt.shares)
			}
			if r.Moved != tt.moved {
				t.Errorf("moved %d, want %d", r.Moved, tt.moved)
			}
			if !slices.Equal(r.Short, tt.short) {
				t.Errorf("short %v, want %v", r.Short, tt.short)
			}
		})
	}
}

func TestUnplacedReasons(t *testing.T) {
	tests := []struct {
		name string
		in   Input
		want []Unplaced
	}{{
		name: "no members", in: Input{Topics: []Topic{{Name: "t1", Partitions: 3}}},
		want: []Unplaced{{"t1", 0, 0, 2, NoMembers}},
	}, {
		name: "nobody subscribes",
		in:   Input{Topics: []Topic{{Name: "t1", Partitions: 3}}, Members: []Member{owns("a", nil).subscribed("t2")}},
		want: []Unplaced{{"t1", 0, 0, 2, NoSubscriber}},
	}, {
		name: "nobody subscribes to the whole set",
		in: Input{Topics: []Topic{{Name: "t1", Partitions: 1, CoPartition: "s"}, {Name: "t2", Partitions: 1, CoPartition: "s"}}, Members: []Member{
			owns("a", nil).subscribed("t2"), owns("b", nil).subscribed("t1"),
		}},
		want: []Unplaced{{"t1", 0, 0, 0, NoSubscriber}, {"t2", 0, 0, 0, NoSubscriber}},
	}, {
		name: "all parked",
		in:   Input{Topics: []Topic{{Name: "t1", Partitions: 3}}, Members: []Member{owns("a", nil).withCapacity(0)}},
		want: []Unplaced{{"t1", 0, 0, 2, AllParked}},
	}, {
		name: "all away",
		in:   Input{Topics: []Topic{{Name: "t1", Partitions: 4}}, Members: []Member{owns("a", map[string][]int32{"t1": {1}}).nowAway()}},
		want: []Unplaced{{"t1", 0, 0, 0, AllAway}, {"t1", 0, 2, 3, AllAway}},
	}, {
		name: "not enough members",
		in:   Input{Topics: []Topic{{Name: "t1", Partitions: 2, Replicas: 3}}, Members: []Member{owns("a", nil), owns("b", nil)}},
		want: []Unplaced{{"t1", 2, 0, 1, NotEnoughMembers}},
	}, {
		name: "pinned elsewhere",
		in: Input{Topics: []Topic{{Name: "t1", Partitions: 1, CoPartition: "s"}, {Name: "t2", Partitions: 1, CoPartition: "s"}}, Members: []Member{
			owns("a", map[string][]int32{"t1": {0}}).withCapacity(0).allPinned(), owns("b", nil),
		}},
		want: []Unplaced{{"t2", 0, 0, 0, PinnedElsewhere}},
	}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, name := range []string{"sticky", "range", "roundrobin"} {
				assign, _ := ByName(name)
				r, err := assign(tt.in)
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(r.Unplaced, tt.want) {
					t.Errorf("%s: got %v, want %v", name, r.Unplaced, tt.want)
				}
			}
		})
	}
}
