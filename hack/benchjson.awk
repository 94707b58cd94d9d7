# Turns the output of `go test -bench` into JSON, one figure a line; everything else goes to stderr.
/^pkg: / { pkg = $2; next }

/^Benchmark/ && NF >= 4 {
	name = $1
	sub(/^Benchmark/, "", name)
	sub(/-[0-9]+$/, "", name)
	for (i = 3; i < NF; i += 2)
		printf "{\"package\":\"%s\",\"benchmark\":\"%s\",\"figure\":\"%s\",\"value\":%s,\"runs\":%s}\n", pkg, name, $(i + 1), $i, $2
	fflush()
	next
}

/^(goos|goarch|cpu|PASS|ok|\?)/ { next }

{ print > "/dev/stderr" }
