package schedule

import (
	"fmt"
	"strings"
)

// CatchUp is the argument that makes a job do nothing if the last one was less than 20 hours ago. cron does not run jobs that
// were missed while the machine was asleep, so it starts the job every hour from its time on.
const CatchUp = "--unless-within=20h"

// cronEscapes escapes what cron interprets before the shell does: a bare % ends the command, and a backslash before % or another
// backslash is removed.
var cronEscapes = strings.NewReplacer(`\\`, `\\\\`, `\%`, `\\\%`, "%", `\%`)

// crontab returns the block of lines for a crontab. cron has no jitter.
func (j *Job) crontab() (string, error) {
	words := make([]string, 0, len(j.Command)+1)
	for _, arg := range append(j.Command[:len(j.Command):len(j.Command)], CatchUp) {
		if strings.ContainsAny(arg, "\n\r") {
			return "", fmt.Errorf("%q has a line break, which a crontab cannot have: %w", arg, ErrUnusable)
		}
		words = append(words, cronEscapes.Replace(shellQuote(arg)))
	}
	hours := fmt.Sprintf("%d-23", j.Hour)
	if j.Hour == 23 {
		hours = "23"
	}
	return fmt.Sprintf("%s\n# %s\n%d %s * * * %s\n%s\n", j.blockStart(), j.mark(), j.Minute, hours, strings.Join(words, " "), j.blockEnd()), nil
}

func (j *Job) blockStart() string { return "# >>> " + j.Name + " >>>" }
func (j *Job) blockEnd() string   { return "# <<< " + j.Name + " <<<" }

// shellQuote quotes one word for any POSIX shell.
func shellQuote(word string) string {
	if word != "" && strings.Trim(word, unquotedBytes) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

const unquotedBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@"

// splitCrontab splits a crontab into the text before our block, the block, and the text after it. found is false if there is
// no block. It returns an error if the block has no end, occurs twice, or is not ours.
func (j *Job) splitCrontab(crontab string) (before, block, after string, found bool, err error) {
	lines := strings.SplitAfter(crontab, "\n")
	start, end := -1, -1
	for i, line := range lines {
		switch strings.TrimRight(line, "\r\n") {
		case j.blockStart():
			if start >= 0 {
				return "", "", "", false, fmt.Errorf("the crontab has two blocks %q: %w", j.blockStart(), ErrForeign)
			}
			start = i
		case j.blockEnd():
			if start >= 0 && end < 0 {
				end = i + 1
			}
		}
	}
	if start < 0 {
		return crontab, "", "", false, nil
	}
	if end < 0 {
		return "", "", "", false, fmt.Errorf("the crontab has %q without its end: %w", j.blockStart(), ErrForeign)
	}
	block = strings.Join(lines[start:end], "")
	if _, _, ours := Marked(block); !ours {
		return "", "", "", false, fmt.Errorf("the block %q of the crontab: %w", j.blockStart(), ErrForeign)
	}
	return strings.Join(lines[:start], ""), block, strings.Join(lines[end:], ""), true, nil
}
