package assignor

import (
	"fmt"
	"testing"
)

// benchCase changes a plain input into a harder one.
var benchCases = map[string]func(*Input){
	"two subscriptions": func(in *Input) {
		var half []string
		for i := range in.Topics {
			if i%2 == 0 {
				half = append(half, in.Topics[i].Name)
			}
		}
		for i := range in.Members {
			if i%2 == 0 {
				in.Members[i].Topics = half
			}
		}
	},
	"mixed subscriptions": func(in *Input) {
		for i := range in.Members {
			for j := range in.Topics {
				if (i*7+j*13)%5 != 0 {
					in.Members[i].Topics = append(in.Members[i].Topics, in.Topics[j].Name)
				}
			}
		}
	},
	"replicas": func(in *Input) {
		for i := range in.Topics {
			in.Topics[i].Replicas = 3
			in.Topics[i].Partitions = max(in.Topics[i].Partitions/3, 1)
		}
	},
	"spread": func(in *Input) {
		in.ZonePolicy = ZoneSpread
		for i := range in.Topics {
			in.Topics[i].Replicas = 3
			in.Topics[i].Partitions = max(in.Topics[i].Partitions/3, 1)
		}
		for i := range in.Members {
			in.Members[i].Zone = fmt.Sprintf("zone-%d", i%3)
		}
	},
	"prefer": func(in *Input) {
		in.ZonePolicy = ZonePrefer
		for i := range in.Topics {
			in.Topics[i].Zones = []string{"zone-0", "zone-1", "zone-2"}
		}
		for i := range in.Members {
			in.Members[i].Zone = fmt.Sprintf("zone-%d", i%3)
		}
	},
	"weights": func(in *Input) {
		for i := range in.Topics {
			in.Topics[i].Weight = int64(1 + i%5)
		}
	},
	"capacities": func(in *Input) {
		for i := range in.Members {
			in.Members[i].Capacity = int64(1 + i%3)
		}
	},
	"sets": func(in *Input) {
		for i := range in.Topics {
			in.Topics[i].CoPartition = fmt.Sprintf("set-%d", i/2)
		}
	},
	"some away": func(in *Input) {
		for i := range in.Members {
			in.Members[i].Away = i%10 == 0
		}
	},
}

func BenchmarkGeneral(b *testing.B) {
	for _, size := range []struct{ members, partitions int }{{100, 1000}, {1000, 10000}, {2000, 100000}} {
		for name, change := range benchCases {
			fresh := benchInput(size.members, size.partitions, 100)
			change(&fresh)
			r, err := Sticky(fresh)
			if err != nil {
				b.Fatal(err)
			}
			held := holding(fresh, r)
			leave := held
			leave.Members = held.Members[1:]
			join := held
			more := held.Members[len(held.Members)-1]
			more.Name, more.Owned = "new", nil
			join.Members = append(append([]Member(nil), held.Members...), more)
			for _, c := range []struct {
				name string
				in   Input
			}{{"fresh", fresh}, {"leave", leave}, {"join", join}, {"steady", held}} {
				b.Run(fmt.Sprintf("%s/%dx%d/%s", name, size.members, size.partitions, c.name), func(b *testing.B) {
					b.ReportAllocs()
					moved := 0
					for b.Loop() {
						r, err := Sticky(c.in)
						if err != nil {
							b.Fatal(err)
						}
						moved = r.Moved
					}
					b.ReportMetric(float64(moved), "moved")
				})
			}
		}
	}
}
