// Package assignor decides which member of a group holds which partition.
//
// It is pure: no clock, no randomness, no input or output, nothing but the standard library. The same input, its topics,
// members and ownership entries in whatever order, gives the same result: ties are settled by the order of names.
//
// There are three assignors: [Sticky], [Range] and [RoundRobin]. All take an [Input] and give a [Result]. An input that
// makes no sense (a name given twice, a negative number, a coPartition set of unequal topics) gets an error that names
// what is wrong; previous ownership that makes no sense is left out and reported in [Result.Ignored].
//
// # What is shared out
//
// A topic has partitions, and of each partition as many copies as it has replicas. A copy goes to one member; two copies
// of a partition never go to the same one. The load of a member is the sum of the weights of its copies. Topics of a
// coPartition set are handed out together: copy c of partition i of all of them goes to the same member.
//
// A member may take a copy if it subscribes to the topic (of a set: to all topics) and its capacity is above 0. A member
// that is away keeps what it owns, may lose it to make loads even like any other, and is given nothing else. Of a set
// it keeps partition i only if it owns it, under the same copy index, of all topics of the set.
//
// Pinned copies stay with their owner, whatever its subscription and capacity. The rest of a set follows the pin, if the
// pin's owner may take it. Where it may not, or where the topics of a set have pins at different members, the copies that
// are not pinned go to one of the pins' owners that may take them, or have no target.
//
// # The goals of Sticky
//
// In this order; no goal is given up for one that comes after it.
//
//  1. Every copy that anyone may take has a target. Where there are fewer members than replicas, each has one copy.
//  2. The rules above.
//  3. ZoneSpread: the copies of each partition are in as many zones as possible.
//  4. Loads are even: the sum of load²/capacity over all members is as small as can be. This is to say that the variance
//     of load/capacity is, each member counted as often as its capacity. With equal weights, capacities and subscriptions
//     no two loads differ by more than 1.
//  5. As few copies as possible are taken from one member for another ([Result.Moved]). Who keeps a copy of a partition
//     keeps its copy index. When replicas shrink, the highest indexes go.
//  6. Each topic is divided evenly: the sum of count²/capacity over topics and members is small.
//  7. ZonePrefer: as many copies as possible are in their partition's home zone.
//
// Since goals 4 and 5 together are a shortest way from what is held to the best that there is, a result that is carried
// out in part and given back as what is held leads to no more moves in all than the first result had: another run goes on,
// it does not start anew. A result carried out in whole leads to none.
//
// # What is exact
//
// With slots of equal weight (a slot is what goes to one member together: a copy, or that of all topics of a set) goals 1
// to 5 are reached exactly: with unequal subscriptions and capacities, replicas, pins, members away and in zones too.
// Tests compare this with a twin that tries everything. Goals 6 and 7 are improved by exchanges of two slots as long as one
// helps, in large groups up to a bound of work.
//
// With different weights goal 4 alone is as hard as packing. Goals 1 to 3 are exact still; loads are then such that no
// chain of moves of slots of one weight, no exchange of two slots, and in small groups no relay of two slots over three
// members makes them more even. Measured against the twin on small inputs at most 3 in 100 are less even than possible,
// by at most a fifth of the sum above, and at most 8 in 100 have more moves than needed, mostly one. That a result
// carried out in part leads to no more moves in all holds there for 98 in 100 results of random ownership.
//
// The same restriction applies to replicas of a set when the topics of one copy are with different members, as they are
// when a set has just been declared: then goal 5 is nearly reached, and all others are.
//
// # How it works
//
// Names become numbers first, and everything after that works on flat arrays by number.
//
// If all who take anything subscribe to the same topics and all slots weigh the same, each member's share is known
// beforehand: who holds more sheds the difference and no more, and what is free is dealt to those who have less. The whole
// takes a few passes over the slots. With ZoneSpread and as many zones as replicas the same is done zone by zone.
//
// Else everybody keeps what it may, what is free is placed where loads are least, and the assignment is then improved
// goal by goal, each step leaving what those before it have reached. Loads are made even by single moves as far as these
// go (see topper), then along chains of members, each giving a slot to the next (see leveler): if no chain helps, no other
// distribution is better. Moves are saved by rounds of members, each giving a slot to the next (see retainer): if no round
// saves any, no fewer are possible. Every step improves the assignment by the order of the goals, so it comes to an end.
//
// # Range and RoundRobin
//
// These give what Kafka's classic assignors of these names give for the same input, members being in the order of their
// names. What Kafka's do not know (replicas, sets, capacity 0, members away, pins) is added as simply as can be, with the
// same hard rules; weights, other capacities and zones do not matter to them.
//
// # Kafka's bytes
//
// Package consumer, below this one, reads what Kafka's clients say when they join, and writes what they wait for.
package assignor
