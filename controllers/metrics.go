package controllers

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var (
	initialized = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "rollcall_initialized",
		Help: "1 once this process leads and its cache holds everything that was there when it began to.",
	})
	writesTotal = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "rollcall_writes_total",
		Help: "Writes sent to the API server, by verb, kind and outcome (applied, overtaken, refused, unknown, not_sent).",
	}, []string{"verb", "kind", "outcome"})
)

func init() { metrics.Registry.MustRegister(initialized, writesTotal) }

// outcomeOf names how a write ended.
func outcomeOf(err error) string {
	switch {
	case err == nil:
		return "applied"
	case IsOvertaken(err):
		return "overtaken"
	case IsUnknownOutcome(err):
		return "unknown"
	case notSent(err):
		return "not_sent"
	default:
		return "refused"
	}
}
