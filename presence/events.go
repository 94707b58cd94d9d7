package presence

import (
	"slices"
	"strings"
)

// Reasons of events.
const (
	reasonGroupNotFound       = "GroupNotFound"
	reasonInvalidGroupName    = "InvalidGroupName"
	reasonInvalidMembership   = "InvalidMembership"
	reasonStaticNotSupported  = "StaticNotSupported"
	reasonStaticMembershipOff = "StaticMembershipOff"
	reasonInvalidTopics       = "InvalidTopics"
	reasonInvalidCapacity     = "InvalidCapacity"
	reasonInvalidAcknowledges = "InvalidAcknowledges"
	reasonNameTaken           = "NameTaken"
	reasonMisplacedAnnotation = "MisplacedAnnotation"
)

// warn reports something that a person should put right; subject tells it from others of the same reason.
func (v *view) warn(about Object, reason, subject, message string) {
	v.report(Event{About: about, Warning: true, Reason: reason, Message: message}, subject)
}

// note reports something that a person may want to know.
func (v *view) note(about Object, reason, subject, message string) {
	v.report(Event{About: about, Reason: reason, Message: message}, subject)
}

// report takes each event once: a pod's annotation may be read for several groups.
func (v *view) report(event Event, subject string) {
	event.Key = strings.Join([]string{event.Reason, string(event.About.GetUID()), event.About.GetName(), subject}, "/")
	if !slices.ContainsFunc(v.events, func(other Event) bool { return other.Key == event.Key }) {
		v.events = append(v.events, event)
	}
}
