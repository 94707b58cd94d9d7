package coordinator

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// Plan is one generation: who is in it, and who gets what. It is stored as a ControllerRevision, and creating that
// object is the commit of a round: exactly one coordinator can create a group's next generation. A plan never changes.
type Plan struct {
	// Revision is the stored object.
	Revision *appsv1.ControllerRevision
	// Content is what it says; nil where only its name and UID are known.
	Content *PlanContent
}

// Generation of the plan, as its object says it.
func (p *Plan) Generation() int64 { return p.Revision.Revision }

// PlanContent is what a plan says.
type PlanContent struct {
	Generation int64
	Reasons    []Cause
	// StartTime of the round.
	StartTime time.Time
	// Moved is the number of copies that the plan takes from one member for another.
	Moved int64
	// Term of the coordinator that made it.
	Term string
	// Inputs is the hash of the group's topics, assignor and zonePolicy.
	Inputs string
	// Forced is the token of rollcall.dev/rebalance at that moment.
	Forced  string
	Members []PlanMember
	// Protocol that was chosen, and the GroupMember that leads (Leader mode, in place of Target).
	Protocol, Leader string
	// Target[topic][copy][partition] is a position in Members, or -1.
	Target map[string][][]int32
	// Short are positions of listed members that were away and got less than their share.
	Short []int32

	positions map[string]int32
	shares    []int32
}

// PlanMember is a member that a plan lists.
type PlanMember struct {
	// Object is the GroupMember's name, UID the first eight characters of its UID.
	Object string `json:"object"`
	UID    string `json:"uid"`
	// Name is what people call it.
	Name string `json:"name,omitempty"`
	// Incarnation, Offer and Rest as they were at the commit.
	Incarnation string `json:"incarnation"`
	Offer       string `json:"offer"`
	Rest        string `json:"rest,omitempty"`
}

// Cause is why a round was opened, with the names it concerns.
type Cause struct {
	Reason v1alpha1.RebalanceReason `json:"reason"`
	Names  []string                 `json:"names,omitempty"`
}

// nobody stands in a target for a copy that no member is given.
const nobody = -1

// storedPlan is a PlanContent as it is stored.
type storedPlan struct {
	Version    int                 `json:"version"`
	Generation int64               `json:"generation"`
	Reasons    []Cause             `json:"reasons"`
	StartTime  metav1.MicroTime    `json:"startTime"`
	Moved      int64               `json:"moved"`
	Term       string              `json:"term"`
	Inputs     string              `json:"inputs"`
	Forced     string              `json:"forced,omitempty"`
	Members    []PlanMember        `json:"members"`
	Protocol   string              `json:"protocol,omitempty"`
	Leader     string              `json:"leader,omitempty"`
	Target     map[string][]string `json:"target,omitempty"`
	Short      []int32             `json:"short,omitempty"`
}

const planVersion = 1

// ParsePlan reads the content of a stored plan.
func ParsePlan(revision *appsv1.ControllerRevision) (*PlanContent, error) {
	var stored storedPlan
	if err := json.Unmarshal(revision.Data.Raw, &stored); err != nil {
		return nil, fmt.Errorf("plan %s/%s: %w", revision.Namespace, revision.Name, err)
	}
	if stored.Version != planVersion || stored.Generation != revision.Revision {
		return nil, fmt.Errorf("plan %s/%s: version %d of generation %d is not version %d of generation %d",
			revision.Namespace, revision.Name, stored.Version, stored.Generation, planVersion, revision.Revision)
	}
	content := &PlanContent{
		Generation: stored.Generation, Reasons: stored.Reasons, StartTime: stored.StartTime.Time, Moved: stored.Moved,
		Term: stored.Term, Inputs: stored.Inputs, Forced: stored.Forced, Members: stored.Members, Short: stored.Short,
		Protocol: stored.Protocol, Leader: stored.Leader, Target: make(map[string][][]int32, len(stored.Target)),
	}
	for topic, copies := range stored.Target {
		for _, text := range copies {
			row, err := parseRuns(text, len(stored.Members))
			if err != nil {
				return nil, fmt.Errorf("plan %s/%s: topic %s: %w", revision.Namespace, revision.Name, topic, err)
			}
			content.Target[topic] = append(content.Target[topic], row)
		}
	}
	for i := range content.Members {
		if m := &content.Members[i]; m.Name == "" {
			m.Name = strings.TrimPrefix(m.Object, revision.Labels[v1alpha1.GroupLabel]+".")
		}
	}
	content.index()
	return content, nil
}

// index fills what is derived from the content once.
func (c *PlanContent) index() {
	c.positions = make(map[string]int32, len(c.Members))
	for i := range c.Members {
		c.positions[c.Members[i].Object] = int32(i)
	}
	c.shares = make([]int32, len(c.Members))
	for _, copies := range c.Target {
		for _, row := range copies {
			for _, position := range row {
				if position >= 0 {
					c.shares[position]++
				}
			}
		}
	}
}

// position of the listed object, or nobody: the object must be the same one, not only bear its name.
func (c *PlanContent) position(m *v1alpha1.GroupMember) int32 {
	i, ok := c.positions[m.Name]
	if !ok || c.Members[i].UID != shortUID(string(m.UID)) {
		return nobody
	}
	return i
}

// at returns who the plan gives a copy to, or nobody.
func (c *PlanContent) at(topic string, copy, partition int32) int32 {
	copies := c.Target[topic]
	if int(copy) >= len(copies) || int(partition) >= len(copies[copy]) {
		return nobody
	}
	return copies[copy][partition]
}

// leaderName is what people call the leader.
func (c *PlanContent) leaderName() string {
	if i, listed := c.positions[c.Leader]; listed {
		return c.Members[i].Name
	}
	return c.Leader
}

// newRevision makes the object that stores a plan.
func newRevision(group *v1alpha1.ConsumerGroup, content *PlanContent) (*appsv1.ControllerRevision, error) {
	stored := storedPlan{
		Version: planVersion, Generation: content.Generation, Reasons: content.Reasons,
		StartTime: metav1.NewMicroTime(content.StartTime), Moved: content.Moved, Term: content.Term,
		Inputs: content.Inputs, Forced: content.Forced, Protocol: content.Protocol, Leader: content.Leader, Members: slices.Clone(content.Members), Short: content.Short,
		Target: make(map[string][]string, len(content.Target)),
	}
	for i := range stored.Members {
		// The usual name can be read off the object's.
		if m := &stored.Members[i]; m.Object == group.Name+"."+m.Name {
			m.Name = ""
		}
	}
	for topic, copies := range content.Target {
		for _, row := range copies {
			stored.Target[topic] = append(stored.Target[topic], formatRuns(row))
		}
	}
	raw, err := json.Marshal(stored)
	if err != nil {
		return nil, fmt.Errorf("plan of generation %d of group %s/%s: %w", content.Generation, group.Namespace, group.Name, err)
	}
	return &appsv1.ControllerRevision{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ControllerRevision"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: group.Namespace,
			Name:      PlanName(group, content.Generation),
			Labels:    map[string]string{v1alpha1.GroupLabel: group.Name},
			// A controller owner, or a StatefulSet whose selector matches would adopt it.
			OwnerReferences: []metav1.OwnerReference{ownerReference(group)},
		},
		Data:     runtime.RawExtension{Raw: raw},
		Revision: content.Generation,
	}, nil
}

// PlanName is the name of the plan of a generation.
func PlanName(group *v1alpha1.ConsumerGroup, generation int64) string {
	return fmt.Sprintf("%s-%s-%d", group.Name, shortUID(string(group.UID)), generation)
}

func ownerReference(group *v1alpha1.ConsumerGroup) metav1.OwnerReference {
	return *metav1.NewControllerRef(group, v1alpha1.GroupVersion.WithKind("ConsumerGroup"))
}

func shortUID(uid string) string {
	if len(uid) > 8 {
		return uid[:8]
	}
	return uid
}
