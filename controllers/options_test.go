package controllers

import (
	"flag"
	"io"
	"strings"
	"testing"

	"github.com/go-logr/logr"
)

func TestOptions(t *testing.T) {
	tests := []struct {
		args, problem string
	}{
		{"", ""},
		{"--session-timeout-min=1s --session-timeout-max=1s --leader-elect=false --static-membership=false", ""},
		{"--session-timeout-min=0s", "--session-timeout-min must be above 0"},
		{"--session-timeout-min=1h", "--session-timeout-max (30m0s) must be at least --session-timeout-min (1h0m0s)"},
		{"--concurrency=0", "--concurrency must be above 0"},
		{"--writes-in-flight=0", "--writes-in-flight must be above 0"},
		{"--leader-elect-lease-duration=2s", "--leader-elect-lease-duration must be in whole seconds, at least 3s"},
		{"--leader-elect-lease-duration=15500ms", "must be in whole seconds"},
		{"--leader-elect-renew-deadline=15s", "must be above --leader-elect-renew-deadline (15s)"},
		{"--leader-elect-retry-period=9s", "must be above 1.2 times --leader-elect-retry-period (9s)"},
	}
	for _, test := range tests {
		t.Run(test.args, func(t *testing.T) {
			options := DefaultOptions()
			flags := flag.NewFlagSet("manager", flag.ContinueOnError)
			flags.SetOutput(io.Discard)
			options.AddFlags(flags)
			if err := flags.Parse(strings.Fields(test.args)); err != nil {
				t.Fatal(err)
			}
			err := options.Validate()
			if test.problem == "" && err != nil || test.problem != "" && (err == nil || !strings.Contains(err.Error(), test.problem)) {
				t.Errorf("got %v, want %q", err, test.problem)
			}
		})
	}
}

// Profiles tell of what is in memory, and nobody is asked who he is: they are served only where somebody wants them.
func TestProfilesAreNotServedUnlessAskedFor(t *testing.T) {
	options := DefaultOptions()
	options.AddFlags(flag.NewFlagSet("manager", flag.ContinueOnError))
	if at := managerOptions(nil, options, logr.Discard()).PprofBindAddress; at != "0" {
		t.Errorf("profiles are served at %q by default", at)
	}
}

func TestFlagsReachTheDecisions(t *testing.T) {
	options := DefaultOptions()
	options.StaticMembership, options.ForcedRebalance = false, false
	group, workload := options.coordinatorConfig(), options.presenceConfig()
	if !group.NoForcedRebalance || group.SessionMax != options.SessionMax || !group.ServeSelfRegistered || !group.NoStaticMembership {
		t.Errorf("coordinator: %+v", group)
	}
	if !workload.NoStaticMembership || workload.SessionMin != options.SessionMin {
		t.Errorf("presence: %+v", workload)
	}
}
