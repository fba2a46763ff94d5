package main

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

	"github.com/txarchive/txarchive/internal/archive"
)

// prompter reads lines that people type: io.EOF at the end, liner.ErrPromptAborted for Ctrl-C.
type prompter interface {
	Prompt(prompt string) (string, error)
	AppendHistory(line string)
}

// shell is `txarchive sql` on a terminal.
type shell struct {
	a       *app
	o       sqlOptions
	params  map[string]any
	store   *archive.Archive
	lines   prompter
	words   *sqlDictionary
	history *history
}

const shellHelp = `  Type a statement that reads and end it with ; (it may go over several lines).
  .views             what can be asked
  .schema [VIEW]     columns of all views or of one; docs/sql.md says what they mean
  .format NAME       table, csv, json, ndjson or markdown
  .help              this
  .quit              leave, as Ctrl-D does
  Tab completes views, columns and functions; Ctrl-C stops a statement; the arrows bring back what was typed.`

// runShell asks for statements until there are no more.
func runShell(ctx context.Context, a *app, o sqlOptions, params map[string]any) error {
	store, err := a.read(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	words, err := sqlWords(ctx, store.Index())
	if err != nil {
		return err
	}
	editor := liner.NewLiner()
	defer editor.Close()
	editor.SetCtrlCAborts(true)
	editor.SetMultiLineMode(true)
	editor.SetTabCompletionStyle(liner.TabPrints)
	editor.SetWordCompleter(func(s string, at int) (string, []string, string) {
		runes := []rune(s)
		at = min(at, len(runes))
		head, some := words.complete(string(runes[:at]))
		return head, some, string(runes[at:])
	})
	o.spare = true // of several statements not each has all
	s := &shell{a: a, o: o, params: params, store: store, lines: editor, words: words, history: a.openHistory("sql_history")}
	if _, err := editor.ReadHistory(strings.NewReader(s.history.text())); err != nil {
		a.note("the history cannot be read: %v", err)
	}
	a.note("The archive is %s. Type .help for help, .quit to leave.", a.shown(store.Dir()))
	// Ctrl-C ends a statement here, not the program.
	return s.loop(context.WithoutCancel(ctx))
}

// loop reads statements and commands and runs them.
func (s *shell) loop(ctx context.Context) error {
	statement := ""
	for {
		prompt := "sql> "
		if statement != "" {
			prompt = "...> "
		}
		typed, err := s.lines.Prompt(prompt)
		switch {
		case errors.Is(err, liner.ErrPromptAborted):
			statement = ""
			continue
		case errors.Is(err, io.EOF):
			fmt.Fprintln(s.a.out)
			return nil
		case err != nil:
			return fmt.Errorf("read a line: %w", err)
		}
		if statement == "" && strings.TrimSpace(typed) == "" {
			continue
		}
		if command := strings.TrimSpace(typed); statement == "" && strings.HasPrefix(command, ".") {
			s.remember(command)
			quit, err := s.command(command)
			if err != nil {
				s.complain(err)
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

// remember keeps what was typed, as one line where that means the same.
func (s *shell) remember(statement string) {
	lines := []string{strings.Join(strings.Fields(statement), " ")}
	if strings.Contains(statement, "--") || strings.ContainsAny(statement, "'\"`[") && strings.Contains(statement, "\n") {
		lines = strings.Split(statement, "\n")
	}
	for _, l := range lines {
		if l = strings.TrimSpace(l); l != "" {
			s.lines.AppendHistory(l)
			s.history.add(l)
		}
	}
}

// command runs a command of the shell; quit says that it was the last.
func (s *shell) command(typed string) (quit bool, err error) {
	name, rest, _ := strings.Cut(typed, " ")
	rest = strings.Trim(strings.TrimSpace(rest), ";")
	switch strings.TrimSuffix(name, ";") {
	case ".quit", ".exit", ".q":
		return true, nil
	case ".help", ".h", ".?":
		fmt.Fprintln(s.a.out, shellHelp)
	case ".views", ".tables":
		fmt.Fprintln(s.a.out, s.words.listViews())
	case ".schema":
		text, ok := s.words.schema(rest, s.a.width())
		if !ok {
			return false, usage(fmt.Sprintf("there is no view %q", rest), ".views lists them")
		}
		fmt.Fprintln(s.a.out, text)
	case ".format", ".mode":
		if _, err := newRowWriter(s.a, rest); err != nil {
			return false, err
		}
		s.o.format = rest
	default:
		return false, usage(fmt.Sprintf("there is no command %q", name), ".help lists them")
	}
	return false, nil
}

// run answers one statement. Ctrl-C stops it.
func (s *shell) run(ctx context.Context, statement string) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	began := time.Now()
	rows, err := s.a.answer(ctx, s.store, s.o, statement, s.params)
	switch {
	case ctx.Err() != nil:
		s.a.note("stopped")
	case err != nil:
		s.complain(err)
	default:
		s.a.note("%s, %s", plural(rows, "row", "rows"), time.Since(began).Round(time.Millisecond))
	}
}

// complain says what is wrong and goes on.
func (s *shell) complain(err error) { s.a.exit(context.Background(), err) }

// complete says whether a statement ends: with a semicolon that stands in no text and no comment.
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
