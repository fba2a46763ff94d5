package main

import (
	"strconv"
	"time"

	"github.com/txarchive/txarchive/internal/policy"
)

// Both kinds of values parse what they print, zero included: the command line of a scheduled job is made from them.

// ageValue is a flag for a duration that also accepts days and weeks: 30d, 2w, 12h, 90m, and 500ms as Go does.
type ageValue time.Duration

func (v *ageValue) Type() string { return "age" }

func (v *ageValue) String() string {
	if v == nil || *v == 0 {
		return "0"
	}
	d := time.Duration(*v)
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}} {
		if d%u.unit == 0 {
			return strconv.FormatInt(int64(d/u.unit), 10) + u.name
		}
	}
	return d.String()
}

func (v *ageValue) Set(s string) error {
	d, err := policy.ParseDuration(s)
	if err != nil {
		if fine, bad := time.ParseDuration(s); bad == nil && fine >= 0 {
			d, err = fine, nil
		}
	}
	if err == nil {
		*v = ageValue(d)
	}
	return err
}

// sizeValue is a flag for a number of bytes: 50GB, 512MiB, 1000.
type sizeValue int64

func (v *sizeValue) Type() string { return "size" }

func (v *sizeValue) String() string {
	if v == nil {
		return "0"
	}
	return strconv.FormatInt(int64(*v), 10)
}

func (v *sizeValue) Set(s string) error {
	n, err := policy.ParseBytes(s)
	if err == nil {
		*v = sizeValue(n)
	}
	return err
}
