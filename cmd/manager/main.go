// Command manager runs Rollcall's controllers.
package main

import (
	"flag"
	"os"

	"sigs.k8s.io/controller-runtime/pkg/client/config"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager/signals"

	"github.com/rollcall-dev/rollcall/controllers"
)

func main() {
	options := controllers.DefaultOptions()
	options.AddFlags(flag.CommandLine)
	logging := zap.Options{}
	logging.BindFlags(flag.CommandLine)
	flag.Parse()
	logf.SetLogger(zap.New(zap.UseFlagOptions(&logging)))

	// The lease is given up when the manager has stopped, so the process must end without further ado.
	if err := run(options); err != nil {
		logf.Log.Error(err, "The manager ends")
		os.Exit(1)
	}
}

func run(options controllers.Options) error {
	ctx := signals.SetupSignalHandler()
	kubeconfig, err := config.GetConfig()
	if err != nil {
		return err
	}
	mgr, err := controllers.NewManager(ctx, kubeconfig, options, logf.Log)
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}
