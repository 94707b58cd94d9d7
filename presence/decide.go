package presence

// Decide says which GroupMembers the workload's pods are, and what is to be written about them.
func Decide(_ Snapshot) Decision { return Decision{} }
