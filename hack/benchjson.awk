# Turns the output of `go test -bench` into one JSON object a line; everything else goes to stderr.
/^pkg: / { pkg = $2; next }

/^Benchmark/ && NF >= 4 {
	printf "{\"package\":\"%s\",\"benchmark\":\"%s\",\"runs\":%s", pkg, $1, $2
	for (i = 3; i < NF; i += 2) printf ",\"%s\":%s", $(i + 1), $i
	print "}"
	fflush()
	next
}

/^(goos|goarch|cpu|PASS|ok|\?)/ { next }

{ print > "/dev/stderr" }
