package assignor

// saver saves moves where weights differ: it brings a slot back to a member that has had it, against one or two other
// slots which that member has not had, if loads are as good or better after it. (Slots of one weight are retain's work.)
type saver struct {
	*state
}

// saveWidth bounds the slots of one member that are looked at as a return.
const saveWidth = 32

// save makes such exchanges as long as there are any. It says whether it made one.
func (st *state) save() bool {
	sv := &saver{st}
	saved := false
	for _, s := range st.loose() {
		if m := st.assign[s]; st.kept(s, m) > 0 {
			continue
		}
		for _, owner := range st.ownersOf(s) {
			if st.allowed(s, owner) && sv.bringBack(s, owner) {
				saved = true
				break
			}
		}
	}
	return saved
}

// loose lists the slots that are with a member that has not had them and can move.
func (st *state) loose() []int32 {
	var loose []int32
	for s, m := range st.assign {
		if m >= 0 && st.kept(int32(s), m) == 0 && (st.fixed == nil || !st.fixed[s]) {
			loose = append(loose, int32(s))
		}
	}
	return loose
}

// ownersOf lists who has had a copy of the partition of s and may take it, except who has s now.
func (st *state) ownersOf(s int32) []int32 {
	g := &st.p.groups[st.groupOf[s]]
	first, step, end := st.partition(s)
	var owners []int32
	for j := range int32(len(g.topics)) {
		for i := first; i < end; i += step {
			m := st.p.held[g.copies+j*g.parts*g.replicas+i-g.slot]
			if m >= 0 && m != st.assign[s] && st.kinds[st.kindOf[s]].may.has(m) && !contains(owners, m) {
				owners = append(owners, m)
			}
		}
	}
	return owners
}

// bringBack gives s back to its owner against what the owner has gained.
func (sv *saver) bringBack(s, owner int32) bool {
	x := sv.assign[s]
	returns := sv.gained(owner, x)
	for i, a := range returns {
		if sv.asGood(owner, x, sv.weightOf(a)-sv.weightOf(s)) {
			sv.put(s, owner)
			sv.put(a, x)
			return true
		}
		for _, b := range returns[:i] {
			if !sv.samePartition(a, b) && sv.asGood(owner, x, sv.weightOf(a)+sv.weightOf(b)-sv.weightOf(s)) {
				sv.put(s, owner)
				sv.put(a, x)
				sv.put(b, x)
				return true
			}
		}
	}
	return false
}

// gained lists the slots that m has not had before and that could go to x.
func (sv *saver) gained(m, x int32) []int32 {
	var list []int32
	for k := range sv.kinds {
		s, _ := sv.lists(m, int32(k))
		for ; s >= 0 && len(list) < saveWidth; s = sv.next[s] {
			if sv.allowed(s, x) {
				list = append(list, s)
			}
		}
	}
	return list
}

func (st *state) weightOf(s int32) int64 { return st.kinds[st.kindOf[s]].weight }

func (st *state) samePartition(a, b int32) bool {
	x, _, _ := st.partition(a)
	y, _, _ := st.partition(b)
	return x == y
}

// asGood says whether loads are no less even when weight, which may be negative, goes from one member to another.
func (st *state) asGood(from, to int32, weight int64) bool {
	if weight < 0 {
		from, to, weight = to, from, -weight
	}
	return weight == 0 ||
		compareShares(loss(st.load[from], weight), st.p.capacity[from], gain(st.load[to], weight), st.p.capacity[to]) >= 0
}
