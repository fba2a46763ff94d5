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

// execStart is a command line as systemd.service(5) reads it. In the path of the program variables are not looked
// for, and quotes, backslashes and control characters are refused; a shell starts such a program.
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

// systemdQuote writes one argument: quoted, since a space or a semicolon would end it; with what the parts of systemd
// that read it take for something else written twice or escaped.
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
