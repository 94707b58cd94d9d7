package main

import "github.com/rollcall-dev/rollcall/assignor"

// quality is a figure for what an input asks for beside an even load.
type quality struct {
	name string
	of   func(in *assignor.Input, target assignment) float64
}

var (
	atHome     = quality{"% in the home zone", shareAtHome}
	doubles    = quality{"second copies on a member", secondCopies}
	zonesShort = quality{"copies that share a zone", copiesSharingZone}
	variance   = quality{"variance of the load", loadVariance}
	alignment  = quality{"% of pairs on one member", shareAligned}
)

func shareAtHome(in *assignor.Input, target assignment) float64 {
	home, all := 0, 0
	target.each(func(t, _, p int, m int32) {
		all++
		if z := in.Topics[t].Zones; m >= 0 && in.Members[m].Zone == z[p%len(z)] {
			home++
		}
	})
	return percent(home, all)
}

func percent(n, of int) float64 { return 100 * float64(n) / float64(of) }

// secondCopies counts the copies whose member has another copy of the same partition.
func secondCopies(in *assignor.Input, target assignment) float64 {
	return repeated(target, func(m int32) string { return in.Members[m].Name })
}

// copiesSharingZone counts the copies in whose zone there is another copy of the same partition. There are as many zones
// as replicas.
func copiesSharingZone(in *assignor.Input, target assignment) float64 {
	return repeated(target, func(m int32) string { return in.Members[m].Zone })
}

// repeated counts the copies of each partition less the different places of these.
func repeated(target assignment, place func(m int32) string) float64 {
	n := 0
	for t := range target {
		for p := range target[t][0] {
			seen := map[string]bool{}
			for c := range target[t] {
				m := target[t][c][p]
				if m < 0 {
					continue
				}
				if seen[place(m)] {
					n++
				}
				seen[place(m)] = true
			}
		}
	}
	return float64(n)
}

func loadVariance(in *assignor.Input, target assignment) float64 {
	loads := loadsOf(in, target)
	sum, squares := 0.0, 0.0
	for _, l := range loads {
		sum += float64(l)
		squares += float64(l) * float64(l)
	}
	n := float64(len(loads))
	return squares/n - sum/n*sum/n
}

// shareAligned is the share of the partitions of a pair of topics that have both copies on one member.
func shareAligned(_ *assignor.Input, target assignment) float64 {
	aligned, all := 0, 0
	for t := 0; t+1 < len(target); t += 2 {
		for p, m := range target[t][0] {
			all++
			if m >= 0 && m == target[t+1][0][p] {
				aligned++
			}
		}
	}
	return percent(aligned, all)
}
