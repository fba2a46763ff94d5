package report

import (
	"strings"
	"testing"
	"time"
)

func TestRowKeys(t *testing.T) {
	for text, want := range map[string]string{
		"model=":                    "model=NULL",
		"day=2026-11-20,model=a":    "day=2026-11-20 model=a",
		"tool=bash,edit,step=build": "tool=bash,edit step=build",
		"model=a=b":                 "model=a=b",
		"r7sk2":                     "",
		"c7:1=x":                    "",
	} {
		keys, err := rowKeys(text)
		var got []string
		for _, k := range keys {
			v := "NULL"
			if k.Value != nil {
				v = *k.Value
			}
			got = append(got, k.Name+"="+v)
		}
		if strings.Join(got, " ") != want || err != nil {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
}

func TestCostNumbers(t *testing.T) {
	for n, want := range map[int64]string{0: "$0.0000", 1: "$0.000000001", 1234500000: "$1.2345", -2500: "-$0.0000025", 12_000_000_000: "$12.0000"} {
		if got := usd(&n); got != want {
			t.Errorf("%d nano-USD: %s, want %s", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{50 * time.Hour: "gap of 2 days", 90 * time.Minute: "gap of 1h30m"} {
		if got := gapText(d); got != want {
			t.Errorf("%v: %s", d, got)
		}
	}
}
