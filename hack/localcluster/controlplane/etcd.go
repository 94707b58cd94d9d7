package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func runEtcd() int {
	etcdmain.Main(os.Args) // exits by itself on failure
	return 0
}
