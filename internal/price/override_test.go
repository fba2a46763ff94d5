package price

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestReadOverrides(t *testing.T) {
	for _, c := range []struct{ in, want, err string }{
		{"model,from,input,output,note\nours,2026-10-01,0.5,2,contract\n", "ours|2026-10-01|input=500000 output=2000000|contract", ""},
		{"\ufeffModel, Output , INPUT,cache_read,output.batch,input@200000\na/b,15,3,0.3,,6\n", "a/b||input=3000000 output=15000000 cache_read=300000 input@200000=6000000|", ""},
		{"model,input,output\na,1,2\n\nb,3,4\n", "a||input=1000000 output=2000000|;b||input=3000000 output=4000000|", ""},
		{"", "", "the file is empty"},
		{"input,output\n1,2\n", "", "line 1: no column model"},
		{"model,input,output\na,1,2\nb,1,\n", "", "line 3: override of b: input and output prices are needed"},
		{"model,input,output,from\na,1,2,soon\n", "", `line 2: override of a: valid-from "soon" is not YYYY-MM-DD`},
		{"model,input,output,tokens\na,1,2,3\n", "", `line 2: unknown class "tokens"`},
		{"model,input,output\na,-1,2\n", "", `line 2: price "-1": want a plain decimal`},
		{"model,input,output\na,1\n", "", "wrong number of fields"},
	} {
		all, err := ReadOverrides(strings.NewReader(c.in))
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) || all != nil {
				t.Errorf("%q: %v, want %s", c.in, err, c.err)
			}
			continue
		}
		var got []string
		for _, o := range all {
			var rates []string
			for _, r := range o.Rates {
				rates = append(rates, fmt.Sprintf("%s=%d", r.rateName(), r.Pico))
			}
			got = append(got, fmt.Sprintf("%s|%s|%s|%s", o.Model, o.From, strings.Join(rates, " "), o.Note))
		}
		if text := strings.Join(got, ";"); err != nil || text != c.want {
			t.Errorf("%q: %s, %v; want %s", c.in, text, err, c.want)
		}
	}
}

// Books are the same when they give the same prices, and say so without parsing anything.
func TestBookID(t *testing.T) {
	text := textOf(t, Table{Date: "2026-09-01", Entries: []Entry{row("new", 1, 1)}})
	more, err := Default().Add(text)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Default().Add(text)
	if err != nil {
		t.Fatal(err)
	}
	o := []Override{{Model: "m", Rates: []Rate{{Input, Standard, 0, 1}, {Output, Standard, 0, 1}}}}
	ids := map[string]string{}
	for name, b := range map[string]*Book{"shipped": Default(), "table": more, "override": Default().With(o), "both": more.With(o)} {
		if other := ids[b.ID()]; other != "" {
			t.Errorf("%s and %s have one id", name, other)
		}
		ids[b.ID()] = name
	}
	if more.ID() != again.ID() || more.With(o).ID() != again.With(o).ID() {
		t.Error("two books of the same tables have two ids")
	}
	if _, err := Default().Add("# txarchive prices 2\n"); !errors.Is(err, ErrTable) {
		t.Errorf("a table of tomorrow: %v", err)
	}
	if m, ok := more.Resolve("new", "", time.Date(2026, 9, 2, 0, 0, 0, 0, time.UTC)); !ok || m.TableDate != "2026-09-01" || m.Stale {
		t.Errorf("the added table is not used: %+v", m)
	}
}

// The day that is shown of an override is its own, whatever began since.
func TestOverrideKeepsItsDay(t *testing.T) {
	rates := []Rate{{Input, Standard, 0, 1}, {Output, Standard, 0, 1}}
	b := book(t).With([]Override{{Model: "a", From: "2026-01-01", Rates: rates}, {Model: "b", From: "2026-03-01", Rates: rates}})
	if m, _ := b.Resolve("a", "", time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)); m.TableDate != "2026-01-01" || !m.Override {
		t.Errorf("%+v", m)
	}
}
