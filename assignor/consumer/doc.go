// Package consumer translates between an assignor and the bytes that Kafka's clients exchange under the protocol type
// "consumer": a member's Subscription (versions 0 to 3) becomes an [assignor.Member], and a result becomes each member's
// Assignment (version 0). A leader that has the bytes of all members computes with it what they wait for:
//
//	members, err := consumer.Members(subscriptions) // by member name
//	in := assignor.Input{Topics: topics, Members: members}
//	result, err := assignor.Sticky(in)
//	answers := consumer.Assignments(in, result) // by member name
//
// The bytes are read and written by franz-go's kmsg, which is made from Kafka's own description of the protocol.
package consumer
