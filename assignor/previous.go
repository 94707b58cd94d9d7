package assignor

// ignored is Ignored with the member's number.
type ignored struct {
	member int32
	copies int
	reason IgnoredReason
}

// ignore counts copies of a claim that does not count.
func (p *problem) ignore(m int32, copies int, reason IgnoredReason) {
	if copies == 0 {
		return
	}
	for i := len(p.ignored) - 1; i >= 0 && p.ignored[i].member == m; i-- {
		if p.ignored[i].reason == reason {
			p.ignored[i].copies += copies
			return
		}
	}
	p.ignored = append(p.ignored, ignored{member: m, copies: copies, reason: reason})
}

// readPrevious settles who owns what now. Claims seldom contradict each other, so tokens are read only if they do.
func (p *problem) readPrevious() {
	p.held = filled(p.nCopies, -1)
	settled := true
	p.eachClaim(true, func(m int32, partitions []int32, _ *Ownership, base int32) {
		for _, part := range partitions {
			settled = settled && p.held[base+part] < 0
			p.held[base+part] = m
		}
	})
	if !settled || p.secondCopies(nil) {
		p.settleByToken()
		p.eachClaim(false, func(m int32, partitions []int32, _ *Ownership, base int32) {
			p.ignoreLost(m, partitions, base)
		})
	}
	p.readPins()
}

// eachClaim calls f with each claim of each member, less the partitions that do not exist; with report these are noted.
// base is the number of the claim's copy of partition 0.
func (p *problem) eachClaim(report bool, f func(m int32, partitions []int32, o *Ownership, base int32)) {
	for m, i := range p.members {
		owned := p.in.Members[i].Owned
		for j := range owned {
			partitions, base, reason := p.existing(&owned[j])
			if report && reason != "" {
				p.ignore(int32(m), len(owned[j].Partitions)-len(partitions), reason)
			}
			f(int32(m), partitions, &owned[j], base)
		}
	}
}

// existing gives the partitions of a claim that exist, and why the others do not.
func (p *problem) existing(o *Ownership) (partitions []int32, base int32, reason IgnoredReason) {
	t, ok := p.number[o.Topic]
	if !ok {
		return nil, 0, UnknownTopic
	}
	g := &p.groups[p.groupOf[t]]
	if o.Copy < 0 || o.Copy >= g.replicas {
		return nil, 0, OutOfRange
	}
	base = p.copies[t] + o.Copy*g.parts
	for i, part := range o.Partitions {
		if part < 0 || part >= g.parts {
			return withinRange(o.Partitions, i, g.parts), base, OutOfRange
		}
	}
	return o.Partitions, base, ""
}

// withinRange copies the partitions below n; the first good ones are known.
func withinRange(partitions []int32, good int, n int32) []int32 {
	kept := append([]int32(nil), partitions[:good]...)
	for _, part := range partitions[good:] {
		if part >= 0 && part < n {
			kept = append(kept, part)
		}
	}
	return kept
}

// secondCopies says whether a member owns two copies of one partition. With tokens the lesser claim is struck out.
func (p *problem) secondCopies(token []int64) bool {
	found := false
	seen := make([]int32, len(p.members)) // member -> 1 + its copy of the partition looked at, or one of another partition
	for t := range p.topics {
		g := &p.groups[p.groupOf[t]]
		if g.replicas == 1 {
			continue
		}
		for part := range g.parts {
			first := p.copies[t] + part
			found = p.secondCopiesOf(first, g.parts, p.copies[t]+g.parts*g.replicas, seen, token) || found
		}
	}
	return found
}

// secondCopiesOf is secondCopies for the copies of one partition: from the first, in steps, to the end.
func (p *problem) secondCopiesOf(first, step, end int32, seen []int32, token []int64) bool {
	found := false
	for i := first; i < end; i += step {
		m := p.held[i]
		if m < 0 {
			continue
		}
		other := seen[m] - 1
		if other < first || other >= end || (other-first)%step != 0 {
			seen[m] = i + 1
			continue
		}
		found = true
		if token != nil && token[other] < token[i] {
			p.held[other], seen[m] = -1, i+1
		} else if token != nil {
			p.held[i] = -1
		}
	}
	return found
}

// settleByToken reads the claims again: of two members that claim a copy the one with the newer token owns it, of two
// with the same token the first by name; of two copies of one partition a member owns that with the newer token, of two
// with the same token the lower.
func (p *problem) settleByToken() {
	token := make([]int64, p.nCopies)
	for i := range p.held {
		p.held[i] = -1
	}
	p.eachClaim(false, func(m int32, partitions []int32, o *Ownership, base int32) {
		for _, part := range partitions {
			if p.held[base+part] < 0 || token[base+part] < o.Token {
				p.held[base+part], token[base+part] = m, o.Token
			}
		}
	})
	p.secondCopies(token)
}

// ignoreLost notes the partitions of a claim that the member does not own after all.
func (p *problem) ignoreLost(m int32, partitions []int32, base int32) {
	for _, part := range partitions {
		switch p.held[base+part] {
		case m:
		case -1:
			p.ignore(m, 1, SecondCopy)
		default:
			p.ignore(m, 1, OwnedByOther)
		}
	}
}

// readPins marks the copies that must stay where they are.
func (p *problem) readPins() {
	for m, i := range p.members {
		pins := p.in.Members[i].Pinned
		for j := range pins {
			if p.pinned == nil {
				p.pinned = make([]bool, p.nCopies)
			}
			partitions, base, reason := p.existing(&pins[j])
			if reason != "" {
				p.ignore(int32(m), len(pins[j].Partitions)-len(partitions), reason)
			}
			for _, part := range partitions {
				if p.held[base+part] != int32(m) {
					p.ignore(int32(m), 1, PinNotOwned)
					continue
				}
				p.pinned[base+part] = true
			}
		}
	}
}

func filled[N int | int32](n N, value int32) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = value
	}
	return s
}
