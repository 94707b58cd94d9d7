package assignor

// heapify orders a slice so that nothing comes before what stands at its first place.
func heapify[T any](heap []T, before func(a, b T) bool) {
	for i := len(heap)/2 - 1; i >= 0; i-- {
		sink(heap, i, before)
	}
}

// sink restores the order of a heap after what stands at place i may have to come later.
func sink[T any](heap []T, i int, before func(a, b T) bool) {
	for {
		first := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(heap); child++ {
			if before(heap[child], heap[first]) {
				first = child
			}
		}
		if first == i {
			return
		}
		heap[i], heap[first] = heap[first], heap[i]
		i = first
	}
}

// pop takes the first away.
func pop[T any](heap []T, before func(a, b T) bool) []T {
	heap[0] = heap[len(heap)-1]
	heap = heap[:len(heap)-1]
	sink(heap, 0, before)
	return heap
}
