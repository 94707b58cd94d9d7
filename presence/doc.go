// Package presence says what the condition of a workload's pods means for the membership of its groups.
package presence
