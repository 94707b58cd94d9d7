package controllers

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/coordinator"
	"github.com/rollcall-dev/rollcall/presence"
	"github.com/rollcall-dev/rollcall/publish"
)

// Field managers of the three sides.
const (
	ownerWorkload    client.FieldOwner = "rollcall-workload"
	ownerCoordinator client.FieldOwner = "rollcall-coordinator"
	ownerPublish     client.FieldOwner = "rollcall-publish"
)

// gracePeriod is how long a stopping manager waits for reconciles under way before it gives its lease up.
const gracePeriod = 20 * time.Second

// Scheme knows all types that the manager reads and writes.
func Scheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	return scheme
}

// NewManager builds the manager with its three controllers; Start runs it. After Start has returned the process must end
// at once, since another may lead then.
func NewManager(ctx context.Context, kubeconfig *rest.Config, o Options, log logr.Logger) (manager.Manager, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	identity := newIdentity()
	unguarded := rest.CopyConfig(kubeconfig)
	unguarded.QPS, unguarded.Burst = float32(o.QPS), int(2*o.QPS)
	if o.QPS <= 0 {
		unguarded.QPS = -1
	}
	contact := NewContact(clock.RealClock{})
	unguarded.Wrap(contact.Listen)
	options := managerOptions(unguarded, o, log)
	guarded := rest.CopyConfig(unguarded)
	if o.LeaderElect {
		lease := NewLease(clock.RealClock{}, o.LeaseDuration)
		lock, err := newLock(unguarded, o, identity)
		if err != nil {
			return nil, fmt.Errorf("leader election: %w", err)
		}
		options.LeaderElectionResourceLockInterface = lease.Lock(lock)
		guarded.Wrap(lease.Guard)
	}
	mgr, err := manager.New(guarded, options)
	if err != nil {
		return nil, err
	}
	return mgr, addControllers(ctx, mgr, o, identity, contact)
}

func managerOptions(unguarded *rest.Config, o Options, log logr.Logger) manager.Options {
	grace := gracePeriod
	return manager.Options{
		Scheme:                        Scheme(),
		Cache:                         cacheOptions(),
		Logger:                        log,
		LeaderElection:                o.LeaderElect,
		LeaderElectionID:              leaseName,
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &o.LeaseDuration,
		RenewDeadline:                 &o.RenewDeadline,
		RetryPeriod:                   &o.RetryPeriod,
		GracefulShutdownTimeout:       &grace,
		// A process has one manager; a test's process has several.
		Controller:             config.Controller{SkipNameValidation: ptr.To(true)},
		HealthProbeBindAddress: o.ProbeAddress,
		PprofBindAddress:       o.PprofAddress,
		Metrics:                metricsOptions(unguarded, o),
	}
}

// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create

// metricsOptions ask the API server who may read metrics. Those questions are POSTs, yet they change nothing and are asked
// by managers that do not lead, too: they do not pass the guard.
func metricsOptions(unguarded *rest.Config, o Options) metricsserver.Options {
	options := metricsserver.Options{BindAddress: o.MetricsAddress, SecureServing: o.MetricsSecure, CertDir: o.MetricsCertDir}
	if o.MetricsSecure {
		options.FilterProvider = func(*rest.Config, *http.Client) (metricsserver.Filter, error) {
			httpClient, err := rest.HTTPClientFor(unguarded)
			if err != nil {
				return nil, err
			}
			return filters.WithAuthenticationAndAuthorization(unguarded, httpClient)
		}
	}
	return options
}

// hands is what the three reconcilers share.
type hands struct {
	mgr     manager.Manager
	options Options
	memory  *Memory
	term    *Term
	reader  *reader
	loader  *Loader
	// sessions of the members that have Leases.
	sessions *Sessions
	clock    clock.Clock
}

func addControllers(ctx context.Context, mgr manager.Manager, o Options, identity string, contact *Contact) error {
	if err := addIndexes(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	h := &hands{mgr: mgr, options: o, term: NewTerm(termID(identity)), clock: clock.RealClock{}}
	h.memory = NewMemory(h.clock)
	mgr.GetLogger().Info("A start of the manager", "term", termID(identity), "options", fmt.Sprintf("%+v", o))
	h.reader = &reader{cache: mgr.GetClient(), memory: h.memory}
	h.sessions = NewSessions(h.clock, contact, mgr.GetClient())
	h.loader = NewLoader(mgr.GetAPIReader(), mgr.GetClient(), mgr.GetScheme(), mgr.GetLogger().WithName("loader"), loadedKinds()...)
	if err := h.memory.follow(ctx, mgr.GetCache()); err != nil {
		return err
	}
	if _, err := mgr.GetCache().GetInformer(ctx, replicaSetMetadata()); err != nil {
		return err
	}
	if err := mgr.Add(h.loader); err != nil {
		return err
	}
	if err := mgr.Add(h.prober(contact)); err != nil {
		return err
	}
	if err := h.addReconcilers(); err != nil {
		return err
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	return mgr.AddReadyzCheck("initialized", h.loader.Ready)
}

// termID is the unique part of the process's identity, short enough for an annotation that people read.
func termID(identity string) string { return identity[len(identity)-12:] }

// loadedKinds are all kinds that decisions rest on, with the selectors of the cache.
func loadedKinds() []loadedKind {
	return []loadedKind{
		{object: &v1alpha1.ConsumerGroup{}},
		{object: &v1alpha1.GroupMember{}},
		{object: &appsv1.ControllerRevision{}, selector: groupLabelled()},
		{object: &coordinationv1.Lease{}, selector: groupLabelled()},
		{object: &appsv1.StatefulSet{}},
		{object: &appsv1.Deployment{}},
		{object: replicaSetMetadata()},
		{object: &corev1.Node{}},
		{object: &corev1.Pod{}},
	}
}

func (h *hands) addReconcilers() error {
	workloads := &WorkloadDriver{Executor: h.executor(ownerWorkload), Decide: presence.Decide}
	workloadSourceOf := func(key WorkloadKey) *workloadSource {
		return &workloadSource{reader: h.reader, key: key, store: h.store(ownerWorkload), clock: h.clock, config: h.options.presenceConfig()}
	}
	groups := &Driver{Executor: h.executor(ownerCoordinator), Decide: coordinator.Decide}
	library := &planLibrary{store: h.store(ownerCoordinator), memory: h.memory}
	groupSourceOf := func(key types.NamespacedName) *groupSource {
		return &groupSource{
			reader: h.reader, group: key, store: h.store(ownerCoordinator), library: library, clock: h.clock,
			config: h.options.coordinatorConfig(), workloadConfig: h.options.presenceConfig(), term: h.term,
			presence: &livePresence{workloads: workloads, source: workloadSourceOf},
			sessions: h.sessions,
		}
	}
	publishing := &PublishDriver{Executor: h.executor(ownerPublish), Decide: publish.Decide}
	reconcilers := []interface {
		setup(mgr manager.Manager, concurrency int) error
	}{
		&workloadReconciler{reader: h.reader, driver: workloads, source: workloadSourceOf, loader: h.loader, clock: h.clock},
		&groupReconciler{reader: h.reader, driver: groups, source: groupSourceOf, loader: h.loader, sessions: h.sessions, clock: h.clock},
		&publishReconciler{reader: h.reader, driver: publishing, loader: h.loader, clock: h.clock},
	}
	for _, r := range reconcilers {
		if err := r.setup(h.mgr, h.options.Concurrency); err != nil {
			return fmt.Errorf("%T: %w", r, err)
		}
	}
	return nil
}

// prober asks about the leader's Lease, or about one that need not be there.
func (h *hands) prober(contact *Contact) *prober {
	about := types.NamespacedName{Namespace: metav1.NamespaceDefault, Name: leaseName}
	if namespace, err := leaseNamespace(h.options); err == nil {
		about.Namespace = namespace
	}
	return &prober{contact: contact, sessions: h.sessions, live: h.mgr.GetAPIReader(), about: about}
}

func (h *hands) store(owner client.FieldOwner) Store {
	return &ClientStore{Writer: h.mgr.GetClient(), Status: h.mgr.GetClient(), Live: h.mgr.GetAPIReader(), Owner: owner}
}

func (h *hands) executor(owner client.FieldOwner) *Executor {
	return &Executor{
		Store:       h.store(owner),
		Memory:      h.memory,
		Events:      Recorder(h.mgr.GetEventRecorder(string(owner))),
		Concurrency: h.options.InFlight,
		Term:        h.term,
	}
}
