package jsontext

import "testing"

func TestUnixTime(t *testing.T) {
	for in, want := range map[string]int64{"1760000003.2": 1760000003200000, "1760000000": 1760000000000000, "1.76e9": 1760000000000000,
		"1760000000.1234567": 1760000000123456, "0": 0, "-1.5": 0, `"1760000000"`: 0, "null": 0, "1e300": 0} {
		v, err := Parse([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		if got := v.UnixTime(); got.UnixMicro != want || got.Valid != (want > 0) {
			t.Errorf("%s: %+v, want %d", in, got, want)
		}
	}
}

func TestTimes(t *testing.T) {
	const second = 1760000000 * 1000000
	for in, want := range map[string][3]int64{ // by MilliTime, TimeOrMilli and TimeOrUnix
		"1760000000000":          {second, second, 0},
		"1760000000":             {second / 1000, second / 1000, second},
		`"2025-10-09T08:53:20Z"`: {0, second, second},
		`"1760000000000"`:        {},
		"1.5":                    {0, 0, 1500000},
		"null":                   {},
	} {
		v, err := Parse([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		if got := [3]int64{v.MilliTime().UnixMicro, v.TimeOrMilli().UnixMicro, v.TimeOrUnix().UnixMicro}; got != want {
			t.Errorf("%s: %d, want %d", in, got, want)
		}
	}
}

// TestFloat has numbers that do not fit, which are not infinite.
func TestFloat(t *testing.T) {
	for _, c := range []struct {
		json string
		want float64
		ok   bool
	}{{"1.5", 1.5, true}, {"-2e3", -2000, true}, {"1e-999", 0, true}, {"1e400", 0, false}, {"-1e999999999", 0, false}, {`"1"`, 0, false}, {"null", 0, false}} {
		v, err := Parse([]byte(c.json))
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := v.Float(); got != c.want || ok != c.ok {
			t.Errorf("%s: %v %v, want %v %v", c.json, got, ok, c.want, c.ok)
		}
	}
}
