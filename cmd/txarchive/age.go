package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/dustin/go-humanize"
)

// ageValue is a flag for a length of time that also knows days and weeks: 30d, 2w, 12h, 90m.
type ageValue time.Duration

func (v *ageValue) Type() string { return "age" }

func (v *ageValue) String() string {
	if v == nil || *v == 0 {
		return ""
	}
	const day = 24 * time.Hour
	if d := time.Duration(*v); d%day == 0 {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	return time.Duration(*v).String()
}

func (v *ageValue) Set(s string) error {
	unit := map[byte]time.Duration{'d': 24 * time.Hour, 'w': 7 * 24 * time.Hour}
	if n := len(s); n > 1 && unit[s[n-1]] > 0 {
		days, err := strconv.ParseUint(s[:n-1], 10, 15)
		if err != nil {
			return fmt.Errorf("%q is no length of time: 30d, 2w or 12h", s)
		}
		*v = ageValue(time.Duration(days) * unit[s[n-1]])
		return nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return fmt.Errorf("%q is no length of time: 30d, 2w or 12h", s)
	}
	*v = ageValue(d)
	return nil
}

// sizeValue is a flag for a number of bytes: 50GB, 512MiB, 1000.
type sizeValue int64

func (v *sizeValue) Type() string { return "size" }

func (v *sizeValue) String() string {
	if v == nil || *v == 0 {
		return ""
	}
	return strconv.FormatInt(int64(*v), 10)
}

func (v *sizeValue) Set(s string) error {
	n, err := humanize.ParseBytes(s)
	if err != nil || n > 1<<62 {
		return fmt.Errorf("%q is no size: 50GB or 512MiB", s)
	}
	*v = sizeValue(n)
	return nil
}
