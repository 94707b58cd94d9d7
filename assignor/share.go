package assignor

import (
	"cmp"
	"math/bits"
)

// The load goal: the sum over all members of load²/capacity is as small as can be, which is to say that the variance of
// load/capacity, each member counted as often as its capacity, is. Adding weight w to a member with load l raises the
// sum by w*(2l+w)/capacity, taking it away lowers it by w*(2l-w)/capacity: the two numbers below, without the factor w.

// gain is what one more unit of weight w would cost a member.
func gain(load, w int64) int64 { return 2*load + w }

// loss is what a unit of weight w costs the member that has it.
func loss(load, w int64) int64 { return 2*load - w }

// compareShares compares the fractions a/c and b/d; c and d are positive, a and b at least -2^61.
func compareShares(a, c, b, d int64) int {
	if c == d {
		return cmp.Compare(a, b)
	}
	if a < 0 || b < 0 {
		if a >= 0 || b >= 0 {
			return cmp.Compare(a, b)
		}
		return -compareProducts(uint64(-a), uint64(d), uint64(-b), uint64(c))
	}
	return compareProducts(uint64(a), uint64(d), uint64(b), uint64(c))
}

// compareProducts compares a*b with c*d.
func compareProducts(a, b, c, d uint64) int {
	ah, al := bits.Mul64(a, b)
	ch, cl := bits.Mul64(c, d)
	if ah != ch {
		return cmp.Compare(ah, ch)
	}
	return cmp.Compare(al, cl)
}
