// Package failure has the errors that end a command: with what a person can do about it, and an exit code that scripts rely on.
//
// Errors of the other rooms say what happened. Which codes and hints they have is in a table beside the commands; a room that talks to
// people itself returns these.
package failure

import "errors"

// The exit codes. Scripts rely on them: they are only ever added to.
const (
	ExitFine        = 0
	ExitUnexpected  = 1
	ExitUsage       = 2
	ExitProblems    = 3
	ExitNotFound    = 4
	ExitCorrupt     = 5
	ExitLimit       = 6
	ExitPartial     = 7
	ExitRefused     = 8
	ExitNoArchive   = 10
	ExitLocked      = 11
	ExitTooNew      = 12
	ExitInterrupted = 130
)

// Error is an error with its exit code and a hint about what to do, which may be "".
type Error struct {
	Code int
	Text string
	Hint string
	Err  error // the cause, for errors.Is and errors.As; may be nil
}

func (e *Error) Error() string { return e.Text }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Usage returns the error for a wrong flag, argument or combination of them.
func Usage(text, hint string) error { return &Error{Code: ExitUsage, Text: text, Hint: hint} }

// Problems returns the error of a command that has finished, with problems in some files.
func Problems(text, hint string) error { return &Error{Code: ExitProblems, Text: text, Hint: hint} }

// NotFound returns the error for a thing that does not exist.
func NotFound(text, hint string) error { return &Error{Code: ExitNotFound, Text: text, Hint: hint} }

// IsNotFound reports whether err comes from NotFound.
func IsNotFound(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code == ExitNotFound
}

// Corrupt returns the error for damage.
func Corrupt(text, hint string) error { return &Error{Code: ExitCorrupt, Text: text, Hint: hint} }

// LimitCrossed returns the error for a limit that was set by a flag and is exceeded.
func LimitCrossed(text, hint string) error { return &Error{Code: ExitLimit, Text: text, Hint: hint} }

// Partial returns the error for a result that is not complete.
func Partial(text, hint string) error { return &Error{Code: ExitPartial, Text: text, Hint: hint} }

// Refused returns the error for something that is not done because it might destroy what somebody wants to keep.
func Refused(text, hint string) error { return &Error{Code: ExitRefused, Text: text, Hint: hint} }
