package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/txarchive/txarchive/internal/policy"
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
	d, err := policy.ParseDuration(s)
	if err != nil {
		return fmt.Errorf("%w: write 30d, 2w or 12h", err)
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
	n, err := policy.ParseBytes(s)
	if err != nil {
		return fmt.Errorf("%w: write 50GB or 512MiB", err)
	}
	*v = sizeValue(n)
	return nil
}
