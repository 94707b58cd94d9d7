package explore

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

var whole = flag.Bool("whole", false, "walk everything, without a bound on time")

func TestScratch(t *testing.T) {
	all := []happening{leaves, silent, dies, backAgain, restarts, scaledAway, wantedAgain, removed, joins}
	grp := []happening{forced, grows, shrinks, groupGoes, groupComes, planGoes}
	seen := map[string]int{}
	nev, nf := 1, 1
	fmt.Sscan(os.Getenv("EV"), &nev)
	fmt.Sscan(os.Getenv("NF"), &nf)
	total := 0
	for _, k := range []kind{registered, agent, reader} {
		if f := os.Getenv("KIND"); f != "" && f != k.String() {
			continue
		}
		for _, policy := range []v1alpha1.HandoverPolicy{v1alpha1.HandoverAvailable, v1alpha1.HandoverExclusive} {
			s := &setup{policy: policy, kinds: map[string]kind{"a": k, "b": k, "c": k}, initial: []string{"a", "b"}, partitions: 2, ties: true}
			w, err := s.begin()
			if err != nil {
				t.Errorf("%v %v: %v\n%v", k, policy, err, w)
				continue
			}
			s.vocabulary = nil
			for _, what := range all {
				for _, who := range []string{"a", "b", "c"} {
					s.vocabulary = append(s.vocabulary, event{what, who})
				}
			}
			for _, what := range grp {
				s.vocabulary = append(s.vocabulary, event{what, ""})
			}
			for _, e := range s.vocabulary {
				if e.who == "b" && e.what != restarts {
					continue
				}
				s.events, s.script, s.faults = nev, []event{e}, nf
				begin := time.Now()
				r := exhaust(w, 3000000, time.Now().Add(60*time.Second))
				if r.states < 3 {
					continue
				}
				total += r.states
				fmt.Println(k, policy, e, ":", r, time.Since(begin).Round(time.Millisecond))
				if r.violation != nil {
					sh := shortest(w, 300000)
					v := r.violation
					if sh.violation != nil {
						v = sh.violation
					}
					msg := v.err.Error()
					key := msg[:min(len(msg), 60)]
					seen[key]++
					if seen[key] <= 2 {
						fmt.Println(v)
					} else {
						fmt.Println("   same:", msg)
					}
				}
			}
		}
	}
	fmt.Println("total", total, seen)
}
