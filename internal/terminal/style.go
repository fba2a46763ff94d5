package terminal

// Style colors text with ANSI escape sequences where it is enabled. The zero value leaves text as it is.
type Style struct{ Enabled bool }

// paint puts s between the SGR sequence of code and a reset.
func (st Style) paint(s, code string) string {
	if !st.Enabled || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// The styles of headings and secondary text, the colors, and what was searched for.

func (st Style) Bold(s string) string      { return st.paint(s, "1") }
func (st Style) Dim(s string) string       { return st.paint(s, "2") }
func (st Style) Red(s string) string       { return st.paint(s, "31") }
func (st Style) Green(s string) string     { return st.paint(s, "32") }
func (st Style) Yellow(s string) string    { return st.paint(s, "33") }
func (st Style) Cyan(s string) string      { return st.paint(s, "36") }
func (st Style) Highlight(s string) string { return st.paint(s, "1;31") }
