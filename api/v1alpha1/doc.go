// Package v1alpha1 is the API of Rollcall: ConsumerGroup says what is shared out, GroupMember is one process that
// takes a share.
//
// The objects are the whole state of the system. A GroupMember's spec belongs to the member's side (the workload
// controller, or the process itself), its status to the coordinator alone. Instants that rules depend on are
// MicroTime by the operator's clock; a condition's lastTransitionTime has whole seconds and no rule uses it.
//
// The package imports apimachinery alone, so that any client can import it.
//
// +kubebuilder:object:generate=true
// +groupName=rollcall.dev
// +kubebuilder:ac:generate=true
// +kubebuilder:ac:output:package="applyconfiguration"
package v1alpha1
