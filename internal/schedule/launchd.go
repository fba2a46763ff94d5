package schedule

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// label returns the label of the launchd job.
func (j *Job) label() string { return "com.github.txarchive." + j.Name }

// plist returns the property list of a launchd agent. launchd runs a job that was missed while the machine was asleep, and has no
// jitter.
func (j *Job) plist() (string, error) {
	var args strings.Builder
	for _, arg := range j.Command {
		if strings.ContainsFunc(arg, func(r rune) bool { return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xfffe || r == 0xffff }) {
			return "", fmt.Errorf("%q has characters that a property list cannot have: %w", arg, ErrUnusable)
		}
		args.WriteString("\t\t<string>")
		if err := xml.EscapeText(&args, []byte(arg)); err != nil {
			return "", err
		}
		args.WriteString("</string>\n")
	}
	return fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?>
<!-- %s -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>%s</string>
	<key>ProgramArguments</key>
	<array>
%s	</array>
	<key>StartCalendarInterval</key>
	<dict>
		<key>Hour</key>
		<integer>%d</integer>
		<key>Minute</key>
		<integer>%d</integer>
	</dict>
	<key>ProcessType</key>
	<string>Background</string>
	<key>LowPriorityIO</key>
	<true/>
	<key>Nice</key>
	<integer>10</integer>
</dict>
</plist>
`, j.mark(), j.label(), args.String(), j.Hour, j.Minute), nil
}
