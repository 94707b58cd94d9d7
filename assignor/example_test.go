package assignor_test

import (
	"fmt"

	"github.com/rollcall-dev/rollcall/assignor"
)

// A third member joins two that share six partitions: each of them gives one, and nothing else moves.
func ExampleSticky() {
	in := assignor.Input{
		Topics: []assignor.Topic{{Name: "orders", Partitions: 6}},
		Members: []assignor.Member{
			{Name: "a", Capacity: 1, Owned: []assignor.Ownership{{Topic: "orders", Partitions: []int32{0, 2, 4}}}},
			{Name: "b", Capacity: 1, Owned: []assignor.Ownership{{Topic: "orders", Partitions: []int32{1, 3, 5}}}},
			{Name: "c", Capacity: 1},
		},
	}
	result, err := assignor.Sticky(in)
	if err != nil {
		fmt.Println(err)
		return
	}
	for partition, member := range result.Target[0][0] {
		fmt.Println("partition", partition, "goes to", in.Members[member].Name)
	}
	fmt.Println(result.Moved, "moved")
	// Output:
	// partition 0 goes to a
	// partition 1 goes to b
	// partition 2 goes to a
	// partition 3 goes to b
	// partition 4 goes to c
	// partition 5 goes to c
	// 2 moved
}

// Two copies of each partition, in different zones, of two topics that go together; one member can carry twice as much.
func ExampleSticky_zones() {
	in := assignor.Input{
		ZonePolicy: assignor.ZoneSpread,
		Topics: []assignor.Topic{
			{Name: "orders", Partitions: 3, Replicas: 2, CoPartition: "shop"},
			{Name: "payments", Partitions: 3, Replicas: 2, CoPartition: "shop"},
		},
		Members: []assignor.Member{
			{Name: "big", Zone: "east", Capacity: 2}, {Name: "small-1", Zone: "west", Capacity: 1}, {Name: "small-2", Zone: "west", Capacity: 1},
		},
	}
	result, err := assignor.Sticky(in)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range in.Members {
		fmt.Println(in.Members[i].Name, "carries", result.Loads[i])
	}
	// Output:
	// big carries 6
	// small-1 carries 4
	// small-2 carries 2
}

// A topic that nobody subscribes to is no error: the result says so.
func ExampleResult_unplaced() {
	result, err := assignor.Range(assignor.Input{
		Topics:  []assignor.Topic{{Name: "orders", Partitions: 2}, {Name: "audit", Partitions: 3}},
		Members: []assignor.Member{{Name: "a", Capacity: 1, Topics: []string{"orders"}}},
	})
	fmt.Println(result.Unplaced, err)
	// Output:
	// [{audit 0 0 2 NoSubscriber}] <nil>
}
