package controllers

import (
	"errors"
	"flag"
	"fmt"
	"time"

	"github.com/rollcall-dev/rollcall/coordinator"
	"github.com/rollcall-dev/rollcall/presence"
)

// Options of the manager; each has a flag.
type Options struct {
	// LeaderElect: only the elected of several managers writes.
	LeaderElect bool
	// LeaderElectNamespace holds the lease; empty means the namespace that the manager's pod runs in.
	LeaderElectNamespace string
	// LeaseDuration is how long others wait for a renewal before they take over.
	LeaseDuration time.Duration
	// RenewDeadline is how long the leader tries to renew before it gives up and ends.
	RenewDeadline time.Duration
	// RetryPeriod is the time between two tries.
	RetryPeriod time.Duration

	// MetricsAddress serves metrics; "0" serves none.
	MetricsAddress string
	// MetricsSecure serves them over TLS, to those whom the API server authenticates and authorizes.
	MetricsSecure bool
	// MetricsCertDir holds tls.crt and tls.key; empty means a self-signed certificate.
	MetricsCertDir string
	// ProbeAddress serves /healthz and /readyz; "0" serves none.
	ProbeAddress string

	// PprofAddress serves profiles of the running program, to whoever reaches it; "0", the default, serves none.
	PprofAddress string

	// SessionMin and SessionMax bound session timeouts, inclusive.
	SessionMin, SessionMax time.Duration
	// StaticMembership: names are used; without it everyone is dynamic.
	StaticMembership bool
	// ForcedRebalance: the annotation rollcall.dev/rebalance is acted on.
	ForcedRebalance bool

	// Concurrency is how many groups, workloads and pods are decided at once, each.
	Concurrency int
	// InFlight is how many writes of one batch are in flight at once.
	InFlight int
	// QPS bounds requests to the API server per second; 0 or less leaves that to the server's fair queuing.
	QPS float64
}

// DefaultOptions are what the flags default to.
func DefaultOptions() Options {
	return Options{
		LeaderElect:      true,
		LeaseDuration:    15 * time.Second,
		RenewDeadline:    10 * time.Second,
		RetryPeriod:      2 * time.Second,
		MetricsAddress:   ":8443",
		MetricsSecure:    true,
		ProbeAddress:     ":8081",
		PprofAddress:     "0",
		SessionMin:       6 * time.Second,
		SessionMax:       30 * time.Minute,
		StaticMembership: true,
		ForcedRebalance:  true,
		Concurrency:      8,
		InFlight:         DefaultConcurrency,
	}
}

// AddFlags binds the options to flags, with their present values as defaults.
func (o *Options) AddFlags(flags *flag.FlagSet) {
	flags.BoolVar(&o.LeaderElect, "leader-elect", o.LeaderElect, "Elect a leader among several managers; without it only one manager may run.")
	flags.StringVar(&o.LeaderElectNamespace, "leader-elect-namespace", o.LeaderElectNamespace, "Namespace of the leader's lease; empty means the pod's own.")
	flags.DurationVar(&o.LeaseDuration, "leader-elect-lease-duration", o.LeaseDuration, "How long others wait for a renewal before they take over.")
	flags.DurationVar(&o.RenewDeadline, "leader-elect-renew-deadline", o.RenewDeadline, "How long the leader tries to renew before it ends.")
	flags.DurationVar(&o.RetryPeriod, "leader-elect-retry-period", o.RetryPeriod, "Time between two tries to take or renew the lease.")
	flags.StringVar(&o.MetricsAddress, "metrics-bind-address", o.MetricsAddress, "Address of the metrics endpoint; 0 serves none.")
	flags.BoolVar(&o.MetricsSecure, "metrics-secure", o.MetricsSecure, "Serve metrics over TLS, to those whom the API server authenticates and authorizes.")
	flags.StringVar(&o.MetricsCertDir, "metrics-cert-dir", o.MetricsCertDir, "Directory with tls.crt and tls.key for metrics; empty means a self-signed certificate.")
	flags.StringVar(&o.ProbeAddress, "health-probe-bind-address", o.ProbeAddress, "Address of /healthz and /readyz; 0 serves none.")
	flags.StringVar(&o.PprofAddress, "pprof-bind-address", o.PprofAddress, "Address that serves profiles of the running program, without authentication: one on loopback; 0 serves none.")
	flags.DurationVar(&o.SessionMin, "session-timeout-min", o.SessionMin, "Least session timeout that a group or member may ask for, inclusive.")
	flags.DurationVar(&o.SessionMax, "session-timeout-max", o.SessionMax, "Greatest session timeout that a group or member may ask for, inclusive.")
	flags.BoolVar(&o.StaticMembership, "static-membership", o.StaticMembership, "Know members by their names; without it names are ignored and everyone is dynamic.")
	flags.BoolVar(&o.ForcedRebalance, "forced-rebalance", o.ForcedRebalance, "Act on the annotation rollcall.dev/rebalance.")
	flags.IntVar(&o.Concurrency, "concurrency", o.Concurrency, "How many groups, workloads and pods are decided at once, each.")
	flags.IntVar(&o.InFlight, "writes-in-flight", o.InFlight, "How many writes of one group are in flight at once.")
	flags.Float64Var(&o.QPS, "kube-api-qps", o.QPS, "Bound on requests to the API server per second; 0 leaves that to the server's fair queuing.")
}

// Validate says what is wrong with the options.
func (o *Options) Validate() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	check(o.SessionMin > 0, "--session-timeout-min must be above 0, is %s", o.SessionMin)
	check(o.SessionMax >= o.SessionMin, "--session-timeout-max (%s) must be at least --session-timeout-min (%s)", o.SessionMax, o.SessionMin)
	check(o.Concurrency > 0, "--concurrency must be above 0, is %d", o.Concurrency)
	check(o.InFlight > 0, "--writes-in-flight must be above 0, is %d", o.InFlight)
	if o.LeaderElect {
		check(o.LeaseDuration >= time.Second+leaseMargin && o.LeaseDuration%time.Second == 0,
			"--leader-elect-lease-duration must be in whole seconds, at least %s, is %s", time.Second+leaseMargin, o.LeaseDuration)
		check(o.LeaseDuration > o.RenewDeadline, "--leader-elect-lease-duration (%s) must be above --leader-elect-renew-deadline (%s)", o.LeaseDuration, o.RenewDeadline)
		check(float64(o.RenewDeadline) > 1.2*float64(o.RetryPeriod) && o.RetryPeriod > 0,
			"--leader-elect-renew-deadline (%s) must be above 1.2 times --leader-elect-retry-period (%s)", o.RenewDeadline, o.RetryPeriod)
	}
	return errors.Join(errs...)
}

func (o *Options) coordinatorConfig() coordinator.Config {
	return coordinator.Config{
		SessionMin: o.SessionMin, SessionMax: o.SessionMax, NoForcedRebalance: !o.ForcedRebalance, ServeSelfRegistered: true,
		NoStaticMembership: !o.StaticMembership,
	}
}

func (o *Options) presenceConfig() presence.Config {
	return presence.Config{NoStaticMembership: !o.StaticMembership, SessionMin: o.SessionMin, SessionMax: o.SessionMax}
}
