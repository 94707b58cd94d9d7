package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/controllers"
	"github.com/rollcall-dev/rollcall/test/cluster/audit"
)

// bareGroup is the group whose objects the bare writes go to.
const bareGroup = "bare"

// bareRun issues the writes that a manager issued once more, without any thought, to objects like those.
type bareRun struct {
	*field
	// like is where the manager wrote.
	like *field
	// newest is the newest plan there.
	newest  appsv1.ControllerRevision
	mu      sync.Mutex
	objects map[string]client.Object // by kind and name of the object that the manager wrote
}

// issueBare issues writes like these and returns how long that took, from the first to the last, by the API server's clock.
// What follows on something else there waits for it here, too; what went side by side goes side by side.
func (f *field) issueBare(writes audit.Writes) time.Duration {
	f.t.Helper()
	run := &bareRun{field: newField(f.t), like: f, objects: map[string]client.Object{}}
	run.prepare(writes)
	run.calmDown()
	mark := run.mark()
	for _, batch := range batches(writes) {
		var flights errgroup.Group
		flights.SetLimit(controllers.DefaultConcurrency)
		for _, write := range batch {
			flights.Go(func() error { return run.issue(write) })
		}
		if err := flights.Wait(); err != nil {
			f.t.Fatalf("issue bare writes: %v", err)
		}
	}
	issued := run.allWrites(mark).Where(func(w audit.Write) bool { return w.User != suite.installed.user })
	if len(issued) != len(writes) {
		f.t.Errorf("%d bare writes were to be issued, and were\n%s", len(writes), issued)
	}
	return span(issued)
}

// batches are the writes that went side by side: those of one kind to different objects, one right after another.
func batches(writes audit.Writes) []audit.Writes {
	var all []audit.Writes
	seen := map[string]bool{}
	for i, write := range writes {
		if i == 0 || audit.PerKind(write) != audit.PerKind(writes[i-1]) || seen[audit.PerObject(write)] {
			all, seen = append(all, nil), map[string]bool{}
		}
		all[len(all)-1] = append(all[len(all)-1], write)
		seen[audit.PerObject(write)] = true
	}
	return all
}

// prepare makes an object for each that was written, as large as that one is.
func (r *bareRun) prepare(writes audit.Writes) {
	r.t.Helper()
	r.readPlans()
	created := map[string]bool{}
	for _, write := range writes {
		key := audit.PerObject(write)
		created[key] = created[key] || write.Verb == "create"
		if _, known := r.objects[key]; known || created[key] {
			continue
		}
		r.objects[key] = r.prepareOne(write)
	}
}

func (r *bareRun) prepareOne(write audit.Write) client.Object {
	r.t.Helper()
	switch {
	case audit.To(memberResource)(write):
		return r.member(write.Name)
	case audit.To(groupResource)(write):
		group := &v1alpha1.ConsumerGroup{}
		r.read(write.Name, group)
		copied := fieldGroup(bareGroup, 1)
		copied.Spec = group.Spec
		copied.Spec.Paused = true
		r.create(copied)
		r.await("the bare group is seen", func(ctx context.Context) (bool, error) {
			err := suite.client.Get(ctx, client.ObjectKeyFromObject(copied), copied)
			return copied.Status.ObservedGeneration == copied.Generation, err
		})
		return copied
	default:
		plan := r.plan()
		r.create(plan)
		return plan
	}
}

// member makes a member like one of the manager's, or like any where that is gone, of a group that does not exist: nobody
// looks at it.
func (r *bareRun) member(name string) client.Object {
	r.t.Helper()
	like := &v1alpha1.GroupMember{}
	if !r.found(name, like) {
		r.read(groupName+"."+setName+"-0", like)
	}
	member := r.emptyMember(name)
	r.create(member)
	like.Status.DeepCopyInto(&member.Status)
	if err := suite.client.Status().Update(r.t.Context(), member); err != nil {
		r.t.Fatalf("write the status of a bare member: %v", err)
	}
	return member
}

func (r *bareRun) emptyMember(name string) *v1alpha1.GroupMember {
	member := &v1alpha1.GroupMember{Spec: v1alpha1.GroupMemberSpec{
		Group: bareGroup + "-members", MemberName: name, Incarnation: "bare", Acknowledgement: v1alpha1.AcknowledgeExplicit,
	}}
	member.Name, member.Namespace, member.Finalizers = name, r.namespace, []string{"bench.rollcall.dev/held"}
	return member
}

func (r *bareRun) readPlans() {
	r.t.Helper()
	list := &appsv1.ControllerRevisionList{}
	if err := suite.client.List(r.t.Context(), list, client.InNamespace(r.like.namespace), client.HasLabels{v1alpha1.GroupLabel}); err != nil {
		r.t.Fatalf("list the plans: %v", err)
	}
	for _, plan := range list.Items {
		if plan.Revision > r.newest.Revision {
			r.newest = plan
		}
	}
}

// plan is one as large as the newest.
func (r *bareRun) plan() *appsv1.ControllerRevision {
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{GenerateName: bareGroup + "-", Namespace: r.namespace},
		Data:       r.newest.Data, Revision: r.newest.Revision,
	}
}

func (r *bareRun) found(name string, object client.Object) bool {
	r.t.Helper()
	err := suite.client.Get(r.t.Context(), client.ObjectKey{Namespace: r.like.namespace, Name: name}, object)
	if client.IgnoreNotFound(err) != nil {
		r.t.Fatal(err)
	}
	return err == nil
}

func (r *bareRun) read(name string, object client.Object) {
	r.t.Helper()
	if !r.found(name, object) {
		r.t.Fatalf("%s is not there", name)
	}
}

// issue sends one write of the same verb to the object that stands for the one that was written.
func (r *bareRun) issue(write audit.Write) error {
	ctx := r.t.Context()
	object := r.standsFor(write)
	switch {
	case write.Verb == "create":
		return suite.client.Create(ctx, object)
	case write.Verb == "delete":
		err := suite.client.Delete(ctx, object)
		object.SetDeletionTimestamp(ptr.To(metav1.Now()))
		return err
	case write.Subresource == "status":
		return suite.client.Status().Patch(ctx, object, statusPatch(object))
	case object.GetDeletionTimestamp() != nil:
		return suite.client.Patch(ctx, object, mergePatch(`{"metadata":{"finalizers":null}}`))
	default:
		return suite.client.Patch(ctx, object, mergePatch(`{"metadata":{"annotations":{"at":"`+write.Time.String()+`"}}}`))
	}
}

func (r *bareRun) standsFor(write audit.Write) client.Object {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := audit.PerObject(write)
	switch {
	case write.Verb != "create":
	case audit.To(memberResource)(write):
		r.objects[key] = r.emptyMember(write.Name)
	default:
		r.objects[key] = r.plan()
	}
	return r.objects[key]
}

// statusPatch changes a status, and sends again what takes the most room in it.
func statusPatch(object client.Object) client.Patch {
	member, ok := object.(*v1alpha1.GroupMember)
	if !ok {
		return mergePatch(fmt.Sprintf(`{"status":{"tokenBase":%d}}`, time.Now().UnixNano()/int64(10*time.Millisecond)))
	}
	assignment, err := json.Marshal(member.Status.Assignment)
	if err != nil {
		panic(err) // It was read from JSON.
	}
	return mergePatch(fmt.Sprintf(`{"metadata":{"resourceVersion":%q},"status":{"state":"Active","revision":%d,"assignment":%s}}`,
		member.ResourceVersion, member.Status.Revision+1, assignment))
}

func mergePatch(text string) client.Patch { return client.RawPatch(types.MergePatchType, []byte(text)) }
