package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/nightly"
	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/schedule"
)

func runScheduleRemove(ctx context.Context, a *app, o *scheduleOptions) error {
	in := a.installer()
	j, err := a.scheduledJob(nil, o)
	if err != nil {
		return err
	}
	kind, err := o.installed(ctx, in, j, a.Now())
	if err == nil {
		err = in.Remove(ctx, j, kind)
	}
	if err == nil {
		a.Note("The nightly job is no longer scheduled. What was archived is kept.")
	}
	return err
}

// scheduleReport is what schedule status prints.
type scheduleReport struct {
	Scheduled bool              `json:"scheduled"`
	With      *string           `json:"with"`
	Paths     []string          `json:"paths"`
	Next      printer.Timestamp `json:"next"` // not before
	Last      printer.Timestamp `json:"last"` // that finished
	LastOK    *bool             `json:"last_ok"`
}

func runScheduleStatus(ctx context.Context, a *app, o *scheduleOptions) error {
	r, err := a.scheduleState(ctx, o)
	if err != nil {
		return err
	}
	if a.JSON {
		err = a.PrintJSON(r)
	} else if !a.Quiet {
		a.printSchedule(r)
	}
	if err == nil && !r.Scheduled {
		return failure.NotFound("nothing is scheduled", "txarchive schedule install")
	}
	return err
}

// scheduleState finds out what is scheduled for this archive.
func (a *app) scheduleState(ctx context.Context, o *scheduleOptions) (*scheduleReport, error) {
	r := &scheduleReport{Paths: []string{}}
	dir, err := a.dir()
	if err != nil {
		return nil, err
	}
	if state, err := nightly.Load(dir); err == nil && state.Last != nil {
		r.Last, r.LastOK = printer.Stamp(state.Last.Finished), &state.Last.OK
	}
	in := a.installer()
	j, err := a.scheduledJob(nil, &scheduleOptions{})
	if err != nil {
		return nil, err
	}
	for _, k := range schedule.Kinds() {
		if o.with != "" && o.with != string(k) {
			continue
		}
		s, err := in.Status(ctx, j, k, a.Now().In(time.Local)) // timers use local time, whatever --utc shows
		if errors.Is(err, schedule.ErrForeign) {
			return nil, err
		}
		if err == nil {
			r.Scheduled, r.With, r.Next = true, new(string(k)), printer.Stamp(s.Next)
			for _, p := range s.Paths {
				if p == "" {
					p = "crontab"
				}
				r.Paths = append(r.Paths, p)
			}
			break
		}
	}
	return r, nil
}

func (a *app) printSchedule(r *scheduleReport) {
	if r.Scheduled {
		a.Line("next run %s, by %s: %s", a.FormatClock(r.Next.Time), *r.With, strings.Join(r.Paths, ", "))
	}
	if r.LastOK == nil {
		fmt.Fprintln(a.Out, "the nightly job has not run yet")
		return
	}
	how := "succeeded"
	if !*r.LastOK {
		how = "had problems: txarchive status"
	}
	a.Line("last ran %s, %s", a.FormatClock(r.Last.Time), how)
}

func runScheduleShow(ctx context.Context, a *app, o *scheduleOptions) error {
	in := a.installer()
	j, err := a.scheduledJob(nil, &scheduleOptions{})
	if err != nil {
		return err
	}
	kind, err := o.installed(ctx, in, j, a.Now())
	if err != nil {
		return err
	}
	files, err := in.Read(ctx, j, kind)
	if err != nil {
		return err
	}
	return a.printUnits(in.Paths(j, kind), files)
}
