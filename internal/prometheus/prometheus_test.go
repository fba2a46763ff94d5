package prometheus_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/prometheus"
	"github.com/txarchive/txarchive/internal/prometheus/prometheustest"
)

func TestText(t *testing.T) {
	var s prometheus.Set
	s.Count("a_bytes", "Bytes of a,\nwith \\ in its help.", 1<<40, prometheus.Label{Name: "source", Value: "x"})
	s.Flag("b", "B.", true)
	s.Count("a_bytes", "Bytes of a.", 2, prometheus.Label{Name: "source", Value: "odd \" \\ \n } ,é\xff"}, prometheus.Label{Name: "z", Value: ""})
	s.Time("c_seconds", "C.", time.Unix(1795237988, 5e8))
	s.Time("d_seconds", "Not known.", time.Time{})
	s.Gauge("e", "E.", math.Inf(1))
	var b strings.Builder
	if _, err := s.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	const want = `# HELP a_bytes Bytes of a,\nwith \\ in its help.
# TYPE a_bytes gauge
a_bytes{source="x"} 1.099511627776e+12
a_bytes{source="odd \" \\ \n } ,é` + "\ufffd" + `",z=""} 2
# HELP b B.
# TYPE b gauge
b 1
# HELP c_seconds C.
# TYPE c_seconds gauge
c_seconds 1.7952379885e+09
# HELP e E.
# TYPE e gauge
e +Inf
`
	if b.String() != want {
		t.Errorf("wrote\n%s\nwant\n%s", b.String(), want)
	}
	all, err := prometheustest.Parse(b.String())
	if err != nil || len(all) != 5 || all[1].Labels["source"] != "odd \" \\ \n } ,é\ufffd" || all[1].Value != 2 || all[3].Value != 1795237988.5 {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestParse refuses what Prometheus refuses.
func TestParse(t *testing.T) {
	const head = "# HELP a A.\n# TYPE a gauge\n"
	if _, err := prometheustest.Parse(head + "a 1\n"); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{
		head + "a 1", head + "a\n", head + "a x\n", head + "b 1\n", "a 1\n", head + "a 1\na 1\n", head + "a{b=\"1\n\"} 1\n", head + `a{b="\t"} 1` + "\n",
		head + `a{b="1} 1` + "\n", head + `a{0="1"} 1` + "\n", head + `a{b="1",b="2"} 1` + "\n", head + head, "# HELP 0 A.\n", "# HELP a A.\n# TYPE a count\na 1\n",
		head + "a 1\n\xff\n", head + "a  1\n", head + "a{} 1\n",
	} {
		if _, err := prometheustest.Parse(bad); err == nil {
			t.Errorf("takes %q", bad)
		}
	}
}
