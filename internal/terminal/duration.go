package terminal

import (
	"fmt"
	"time"
)

// Ago formats how long ago something was, in one unit: "5m ago"; "5m from now" if a clock was wrong.
func Ago(d time.Duration) string {
	switch {
	case d <= -time.Minute:
		return Duration(-d) + " from now"
	case d < time.Minute:
		return "just now"
	}
	return Duration(d) + " ago"
}

// Duration formats a length of time in one unit, rounded down: "45s", "12m", "71h", "3d".
func Duration(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int64(d/time.Second))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int64(d/time.Minute))
	case d < 72*time.Hour:
		return fmt.Sprintf("%dh", int64(d/time.Hour))
	}
	return fmt.Sprintf("%dd", int64(d/(24*time.Hour)))
}
