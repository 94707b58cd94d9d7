package presence

import (
	"fmt"
	"hash/fnv"
	"regexp"
	"strconv"
	"strings"
)

const (
	// maxObjectName is the API server's limit for the name of an object.
	maxObjectName = 253
	// maxMemberName is the API's limit for a static member's name.
	maxMemberName = 249
	// uidPrefix is how much of a pod's UID stands in the name of a dynamic member's object.
	uidPrefix = 8
)

var unsafeInName = regexp.MustCompile(`[^a-z0-9.-]`)

// StaticObjectName is the name of the GroupMember that bears a static name: "<group>.<member name>" as far as the API
// server takes that, else made lower-case, safe and at most 253 characters long, with a hash that keeps it unique.
func StaticObjectName(group, memberName string) string {
	return safeName(group + "." + memberName)
}

// DynamicObjectName is the name of the GroupMember of a pod that joins without a name of its own:
// "<group>.<pod>-<first 8 of its UID>", made safe like StaticObjectName.
func DynamicObjectName(group, pod, uid string) string {
	return safeName(group + "." + pod + "-" + uid[:min(uidPrefix, len(uid))])
}

func safeName(wanted string) string {
	// A name is a row of labels between dots; each begins and ends with a letter or a digit.
	var labels []string
	for label := range strings.SplitSeq(unsafeInName.ReplaceAllString(strings.ToLower(wanted), "-"), ".") {
		if label = strings.Trim(label, "-"); label != "" {
			labels = append(labels, label)
		}
	}
	safe := strings.Join(labels, ".")
	if safe == wanted && len(safe) <= maxObjectName {
		return safe
	}
	return withHash(safe, wanted, maxObjectName)
}

// withHash appends a hash of the original to what became of it, within the limit.
func withHash(safe, original string, limit int) string {
	hash := fnv.New32a()
	hash.Write([]byte(original))
	suffix := fmt.Sprintf("-%08x", hash.Sum32())
	return strings.TrimRight(safe[:min(len(safe), limit-len(suffix))], "-.") + suffix
}

// memberName is the static name that a pod bears: its own.
func memberName(pod string) string {
	if len(pod) <= maxMemberName {
		return pod
	}
	return withHash(pod, pod, maxMemberName)
}

// ordinalOf is the number at the end of the name of a StatefulSet's pod.
func ordinalOf(set, pod string) (int32, bool) {
	digits, found := strings.CutPrefix(pod, set+"-")
	if !found || digits == "" || digits[0] == '+' || digits[0] == '-' {
		return 0, false
	}
	ordinal, err := strconv.ParseInt(digits, 10, 32)
	return int32(ordinal), err == nil
}
