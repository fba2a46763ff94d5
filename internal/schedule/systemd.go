package schedule

import (
	"fmt"
	"strings"
	"time"
)

func (j *Job) service() string {
	return "# " + j.mark() + `
[Unit]
Description=Nightly job of txarchive

[Service]
Type=oneshot
ExecStart=` + j.execStart() + `
Nice=10
IOSchedulingClass=idle
TimeoutStartSec=infinity
`
}

func (j *Job) timer() string {
	text := "# " + j.mark() + fmt.Sprintf(`
[Unit]
Description=Nightly job of txarchive

[Timer]
OnCalendar=*-*-* %02d:%02d:00
Persistent=true
`, j.Hour, j.Minute)
	if j.Jitter > 0 {
		text += fmt.Sprintf("RandomizedDelaySec=%d\n", int64(j.Jitter/time.Second))
	}
	return text + "\n[Install]\nWantedBy=timers.target\n"
}

// execStart returns the command line as systemd.service(5) parses it. In the path of the program systemd does not expand
// variables, and refuses quotes, backslashes and control characters; a program with such a path is started by a shell.
func (j *Job) execStart() string {
	program, args := systemdQuote(j.Command[0], false), j.Command[1:]
	if strings.ContainsFunc(j.Command[0], func(r rune) bool { return r < ' ' || strings.ContainsRune("\"'\\\x7f", r) }) {
		program, args = `/bin/sh -c "exec \"$$0\" \"$$@\""`, j.Command
	}
	line := []string{program}
	for _, arg := range args {
		line = append(line, systemdQuote(arg, true))
	}
	return strings.Join(line, " ")
}

// systemdQuote quotes one argument, since a space or a semicolon would end it, and doubles or escapes the characters that
// systemd would interpret.
func systemdQuote(arg string, variables bool) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(arg) {
		switch c := arg[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '%', c == '$' && variables:
			b.WriteByte(c)
			b.WriteByte(c)
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
