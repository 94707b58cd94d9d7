package explore

// keySet holds the keys of worlds, each in eight bytes: hundreds of millions fit into memory.
type keySet struct {
	slots []uint64
	n     int
	zero  bool
}

// add says whether the key is new.
func (s *keySet) add(key uint64) bool {
	if key == 0 {
		added := !s.zero
		s.zero = true
		return added
	}
	if s.n >= len(s.slots)/4*3 {
		s.grow()
	}
	return s.put(key)
}

func (s *keySet) put(key uint64) bool {
	mask := uint64(len(s.slots) - 1)
	for i := key & mask; ; i = (i + 1) & mask {
		switch s.slots[i] {
		case key:
			return false
		case 0:
			s.slots[i] = key
			s.n++
			return true
		}
	}
}

func (s *keySet) grow() {
	old := s.slots
	s.slots, s.n = make([]uint64, max(1<<12, 2*len(old))), 0
	for _, key := range old {
		if key != 0 {
			s.put(key)
		}
	}
}

func (s *keySet) len() int {
	if s.zero {
		return s.n + 1
	}
	return s.n
}
