// Package sqlshell is an interactive shell for SQL: it reads statements over several lines, completes names, keeps a history, and has a
// few commands that begin with a dot. It runs no statement itself and knows nothing of how rows are printed.
package sqlshell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/peterh/liner"

	"github.com/txarchive/txarchive/internal/terminal"
)

// LineReader reads lines that people type. Prompt returns io.EOF at the end, ErrAborted for Ctrl-C.
type LineReader interface {
	Prompt(prompt string) (string, error)
	AppendHistory(line string)
}

// ErrAborted says that the line was abandoned with Ctrl-C.
var ErrAborted = liner.ErrPromptAborted

// Shell is a conversation with somebody at a terminal. For Command alone, Lines, History, Query, Note and Fail may be nil.
type Shell struct {
	Lines   LineReader
	Words   *Words
	History *History

	Out       io.Writer                                                           // for the answers of commands
	Width     func() int                                                          // of Out, in columns; 0 is any
	Query     func(ctx context.Context, statement string) (rows int64, err error) // runs a statement and prints its rows
	SetFormat func(name string) error                                             // how Query prints from now on
	Note      func(format string, args ...any)                                    // prints a message
	Fail      func(error)                                                         // prints an error
}

// Error is a command that the shell does not understand, and what to do about it.
type Error struct{ Message, Hint string }

func (e *Error) Error() string { return e.Message }

const help = `  Type a SELECT or another statement that reads, over one or more lines, and
  end it with ;
  .views             list the views
  .schema [VIEW]     columns of all views or of one; docs/sql.md describes them
  .format NAME       table, csv, json, ndjson or markdown
  .help              print this help
  .quit              leave, like Ctrl-D
  Tab completes views, columns and functions; Ctrl-C stops a statement; the
  arrow keys recall earlier input, and Ctrl-R searches it.`

// NewEditor returns a LineReader on the terminal, with editing and completion. It must be closed.
func NewEditor(words *Words) *liner.State {
	editor := liner.NewLiner()
	editor.SetCtrlCAborts(true)
	editor.SetMultiLineMode(true)
	editor.SetTabCompletionStyle(liner.TabPrints)
	editor.SetWordCompleter(func(s string, at int) (string, []string, string) {
		runes := []rune(s)
		at = min(at, len(runes))
		head, completions := words.Complete(string(runes[:at]))
		return head, completions, string(runes[at:])
	})
	return editor
}

// Run reads statements and commands, and runs them, until .quit or the end of input. Ctrl-C stops a statement, not the shell.
func (s *Shell) Run(ctx context.Context) error {
	statement := ""
	for {
		prompt := "sql> "
		if statement != "" {
			prompt = "...> "
		}
		typed, err := s.Lines.Prompt(prompt)
		switch {
		case errors.Is(err, ErrAborted):
			statement = ""
			continue
		case errors.Is(err, io.EOF):
			fmt.Fprintln(s.Out)
			return nil
		case err != nil:
			return fmt.Errorf("read a line: %w", err)
		}
		if statement == "" && strings.TrimSpace(typed) == "" {
			continue
		}
		if command := commandOf(typed); statement == "" && command != "" {
			s.remember(command)
			quit, err := s.Command(command)
			if err != nil {
				s.Fail(err)
			}
			if quit {
				return nil
			}
			continue
		}
		statement = strings.TrimPrefix(statement+"\n"+typed, "\n")
		if !complete(statement) {
			continue
		}
		s.remember(statement)
		s.run(ctx, statement)
		statement = ""
	}
}

// commandOf returns the command that was typed, "" for none. No statement begins with one of the words that other shells know without a dot.
func commandOf(typed string) string {
	typed = strings.TrimSpace(typed)
	switch strings.ToLower(strings.TrimSuffix(typed, ";")) {
	case "quit", "exit", "help":
		return "." + typed
	}
	if strings.HasPrefix(typed, ".") {
		return typed
	}
	return ""
}

// remember adds a statement to the history: as one line, unless it has a comment or a line break that may be in a literal.
func (s *Shell) remember(statement string) {
	lines := []string{strings.Join(strings.Fields(statement), " ")}
	if strings.Contains(statement, "--") || strings.ContainsAny(statement, "'\"`[") && strings.Contains(statement, "\n") {
		lines = strings.Split(statement, "\n")
	}
	for _, l := range lines {
		if l = strings.TrimSpace(l); l != "" {
			s.Lines.AppendHistory(l)
			s.History.Add(l)
		}
	}
}

// Command runs a command that begins with a dot. quit reports that the shell should end.
func (s *Shell) Command(typed string) (quit bool, err error) {
	name, rest, _ := strings.Cut(typed, " ")
	rest = strings.Trim(strings.TrimSpace(rest), ";")
	switch strings.ToLower(strings.TrimSuffix(name, ";")) {
	case ".quit", ".exit", ".q":
		return true, nil
	case ".help", ".h", ".?":
		fmt.Fprintln(s.Out, help)
	case ".views", ".tables":
		fmt.Fprintln(s.Out, s.Words.listViews())
	case ".schema":
		text, ok := s.Words.schema(rest, s.Width())
		if !ok {
			return false, &Error{fmt.Sprintf("unknown view %q", rest), ".views lists them"}
		}
		fmt.Fprintln(s.Out, text)
	case ".format", ".mode":
		return false, s.SetFormat(rest)
	default:
		return false, &Error{fmt.Sprintf("unknown command %q", name), ".help lists them"}
	}
	return false, nil
}

// run runs one statement. Ctrl-C stops it.
func (s *Shell) run(ctx context.Context, statement string) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	began := time.Now()
	rows, err := s.Query(ctx, statement)
	switch {
	case ctx.Err() != nil:
		s.Note("stopped")
	case err != nil:
		s.Fail(err)
	default:
		s.Note("%s, %s", terminal.Plural(rows, "row", "rows"), time.Since(began).Round(time.Millisecond))
	}
}

// complete reports whether a statement ends: with a semicolon outside of literals, quoted names and comments.
func complete(statement string) bool {
	ended := false
	for i := 0; i < len(statement); i++ {
		switch c := statement[i]; {
		case c == '\'' || c == '"' || c == '`' || c == '[':
			end := c
			if c == '[' {
				end = ']'
			}
			n := strings.IndexByte(statement[i+1:], end)
			if n < 0 {
				return false
			}
			i += n + 1
			ended = false
		case strings.HasPrefix(statement[i:], "--"):
			n := strings.IndexByte(statement[i:], '\n')
			if n < 0 {
				return ended
			}
			i += n
		case strings.HasPrefix(statement[i:], "/*"):
			n := strings.Index(statement[i+2:], "*/")
			if n < 0 {
				return false
			}
			i += n + 3
		case c == ';':
			ended = true
		case c != ' ' && c != '\t' && c != '\n' && c != '\r':
			ended = false
		}
	}
	return ended
}
