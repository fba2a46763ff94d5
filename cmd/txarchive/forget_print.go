package main

import (
	"fmt"
	"strings"

	"github.com/txarchive/txarchive/internal/prune/gc"
	"github.com/txarchive/txarchive/internal/terminal"
)

const forgetShown = 50

// print says where the pattern occurs, never the text that matches.
func (w *forgetJob) print() {
	a := w.app
	if a.Quiet {
		return
	}
	for i, m := range w.found {
		if i == forgetShown {
			a.Line("... and %s", terminal.Plural(len(w.found)-i, "more place", "more places"))
			break
		}
		fmt.Fprintln(a.Out, terminal.OneLine(matchText(m)))
	}
	if len(w.runs) > 0 {
		a.Line("%s affected: %s", terminal.Plural(len(w.runs), "run", "runs"), strings.Join(w.runs[:min(len(w.runs), 20)], " "))
	}
}

func matchText(m gc.Match) string {
	times := terminal.Plural(m.Count, "time", "times")
	text := ""
	switch m.Where {
	case gc.InOriginal:
		text = fmt.Sprintf("%s/%s version %d, %s", m.Source, m.Path, m.Version, times)
		if m.Inner != "" {
			text += " inside its " + strings.SplitN(m.Inner, ":", 2)[0]
		}
	case gc.InName:
		text = fmt.Sprintf("%s/%s version %d, in its name", m.Source, m.Path, m.Version)
	case gc.InFact:
		text = fmt.Sprintf("%s: %s", terminal.Plural(m.Count, "fact", "facts"), m.Fact)
	default:
		text = fmt.Sprintf("file %s, %s", m.File, times)
	}
	if m.Waiting {
		text += ", removed by the next gc"
	}
	return text
}

func (w *forgetJob) printApplied() {
	a := w.app
	a.Line("%s redacted, %s dropped, %s removed", terminal.Plural(w.applied.Redacted, "original", "originals"), terminal.Count(w.applied.Dropped),
		terminal.Plural(w.applied.Facts, "fact", "facts"))
	a.Line("%s rewritten, index %s", terminal.Plural(w.gc.Rewritten, "pack", "packs"), map[bool]string{true: "rebuilt", false: "purged"}[w.rebuilt])
	if w.aside > 0 {
		a.Line("%s removed from quarantine", terminal.Plural(w.aside, "damaged pack", "damaged packs"))
	}
	for _, m := range w.left {
		fmt.Fprintln(a.Out, a.Style().Red("still present: "+terminal.OneLine(matchText(m))))
	}
	if len(w.left) == 0 {
		fmt.Fprintln(a.Out, a.Style().Green("Every byte of the archive was searched: nothing is left."))
	}
	w.noteOwn()
	if w.unread > 0 {
		a.Note("not searched: unreadable parts of %s; those in quarantine can be removed by hand", terminal.Plural(w.unread, "damaged pack", "damaged packs"))
	}
	a.Note("not searched: sources, which are never changed; backups (txarchive backup DIR --keep-last 1 removes what they hold of it); copies of the archive; restored and exported files; indexes of other machines")
}

// noteOwn says that the program itself uses the text.
func (w *forgetJob) noteOwn() {
	if w.ownMatches > 0 {
		w.app.Note("not counted: %s in what the program itself writes, such as README.txt, names of columns and keys of manifests", terminal.Plural(w.ownMatches, "time", "times"))
	}
}

type forgetPlace struct {
	Where   string  `json:"where"`
	Source  *string `json:"source"`
	Path    *string `json:"path"`
	Version *int    `json:"version"`
	Inner   *string `json:"inner"`
	Fact    *string `json:"fact"`
	File    *string `json:"file"`
	Count   int64   `json:"count"`
	Action  string  `json:"action"`
	Waiting bool    `json:"waiting"`
}

func forgetPlaces(found []gc.Match) []forgetPlace {
	all := []forgetPlace{}
	for _, m := range found {
		p := forgetPlace{Where: m.Where, Count: m.Count, Action: m.Action, Waiting: m.Waiting}
		switch m.Where {
		case gc.InFact:
			p.Fact = &m.Fact
		case gc.InFile:
			p.File = &m.File
		default:
			p.Source, p.Path, p.Version = &m.Source, &m.Path, &m.Version
			if m.Inner != "" {
				p.Inner = &m.Inner
			}
		}
		all = append(all, p)
	}
	return all
}

func (w *forgetJob) report(o forgetOptions) any {
	return struct {
		Applied      bool          `json:"applied"`
		Places       []forgetPlace `json:"places"`
		Runs         []string      `json:"run_ids"`
		Redacted     int64         `json:"redacted"`
		Dropped      int64         `json:"dropped"`
		Facts        int64         `json:"facts"`
		Packs        int64         `json:"packs_rewritten"`
		IndexRebuilt bool          `json:"index_rebuilt"`
		Quarantined  int64         `json:"quarantined_removed"`
		Unread       int64         `json:"packs_unread"`
		Own          int64         `json:"own_text"`
		Left         []forgetPlace `json:"left"`
		NotReached   []string      `json:"not_reached"`
	}{o.apply && len(w.found) > 0, forgetPlaces(w.found), append([]string{}, w.runs...), w.applied.Redacted, w.applied.Dropped, w.applied.Facts,
		w.gc.Rewritten, w.rebuilt, w.aside, w.unread, w.ownMatches, forgetPlaces(w.left), []string{"sources", "backups", "copies of the archive, restored and exported files", "indexes of other machines"}}
}
