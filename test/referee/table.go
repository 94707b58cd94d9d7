package referee

import "slices"

// table is a small map in the order of its keys, whose clones share its rows until one of them is changed.
type table[K comparable, V any] struct {
	compare func(a, b K) int
	rows    []row[K, V]
	shared  bool
}

type row[K comparable, V any] struct {
	key   K
	value V
}

func (t *table[K, V]) clone() table[K, V] {
	t.shared = true
	return *t
}

func (t *table[K, V]) find(key K) (int, bool) {
	return slices.BinarySearchFunc(t.rows, key, func(r row[K, V], key K) int { return t.compare(r.key, key) })
}

// get is the zero value for a key that is not there.
func (t *table[K, V]) get(key K) V {
	if i, ok := t.find(key); ok {
		return t.rows[i].value
	}
	var none V
	return none
}

func (t *table[K, V]) set(key K, value V) {
	if t.shared {
		t.rows, t.shared = slices.Clone(t.rows), false
	}
	i, ok := t.find(key)
	if !ok {
		t.rows = slices.Insert(t.rows, i, row[K, V]{key: key})
	}
	t.rows[i].value = value
}
