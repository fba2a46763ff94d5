// Package openai writes conversations in the format of the chat completions API of OpenAI: one line of JSON each, {"messages": [...]}.
// Reasoning, lifecycle and other events have no place in it.
package openai

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/search"
	"github.com/txarchive/txarchive/internal/terminal"
	"github.com/txarchive/txarchive/internal/toolcall"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Writer writes conversations. What an assistant says and calls before the next result is one message.
type Writer struct {
	W       io.Writer
	Raw     func(context.Context, index.Place) ([]byte, error) // reads the original bytes of a call
	LeftOut map[transcript.Kind]int64                          // counts the pieces that the format has no place for, by kind

	comma   string
	open    *chatMessage  // the message of the assistant that is being collected
	results []chatMessage // results of its calls
}

// Write writes one conversation. The text of every piece must have been read: a piece with an error ends it.
func (c *Writer) Write(ctx context.Context, view *search.View) error {
	c.comma, c.open, c.results = "", nil, nil
	fmt.Fprint(c.W, `{"messages":[`)
	for t, err := range view.Turns {
		for i := 0; err == nil && i < len(t.Pieces); i++ {
			err = c.piece(ctx, &t.Pieces[i])
		}
		if err != nil {
			return err
		}
	}
	if err := c.flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(c.W, "]}")
	return err
}

// chatMessage is a message. Content is null if only tools are called.
type chatMessage struct {
	Role       string     `json:"role"`
	Content    *string    `json:"content"`
	ToolCalls  []chatCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type chatCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"` // JSON
	} `json:"function"`
}

// piece adds one part of an event.
func (c *Writer) piece(ctx context.Context, p *search.Piece) error {
	if p.Err != nil {
		return p.Err
	}
	switch {
	case p.Kind == transcript.KindToolCall:
		return c.call(ctx, p)
	case p.Kind == transcript.KindMessage && chatRole(p.Role) == "assistant":
		if c.open != nil && len(c.open.ToolCalls) > 0 {
			if err := c.flush(); err != nil {
				return err
			}
		}
		if c.open == nil {
			c.open = &chatMessage{Role: "assistant"}
		}
		text := p.Text
		if c.open.Content != nil {
			text = *c.open.Content + "\n\n" + text
		}
		c.open.Content = &text
		return nil
	case p.Kind == transcript.KindMessage, p.Kind == transcript.KindSystem:
		role := chatRole(p.Role)
		if p.Kind == transcript.KindSystem {
			role = "system"
		}
		if err := c.flush(); err != nil {
			return err
		}
		return c.message(chatMessage{Role: role, Content: &p.Text})
	}
	c.LeftOut[p.Kind]++ // a result that gets here has no call
	return nil
}

// callID returns the id of a call: that of the original, else ours.
func callID(p *search.Piece) string {
	if strings.TrimSpace(p.Call) != "" {
		return p.Call
	}
	return p.ID
}

// call adds a call to the message of the assistant, and its result to those that follow the message.
func (c *Writer) call(ctx context.Context, p *search.Piece) error {
	if c.open == nil {
		c.open = &chatMessage{Role: "assistant"}
	}
	call := chatCall{ID: callID(p), Type: "function"}
	raw, err := c.Raw(ctx, p.Place)
	if err != nil {
		return err
	}
	call.Function.Name, call.Function.Arguments = p.Tool, callArguments(raw, p)
	c.open.ToolCalls = append(c.open.ToolCalls, call)
	if p.Result != nil {
		if p.Result.Err != nil {
			return p.Result.Err
		}
		given := toolcall.WithoutName(p.Result.Text, p.Tool)
		c.results = append(c.results, chatMessage{Role: "tool", Content: &given, ToolCallID: call.ID})
	}
	return nil
}

// flush writes the message of the assistant and the results of its calls.
func (c *Writer) flush() error {
	if c.open == nil {
		return nil
	}
	all := append([]chatMessage{*c.open}, c.results...)
	c.open, c.results = nil, nil
	for _, m := range all {
		if err := c.message(m); err != nil {
			return err
		}
	}
	return nil
}

func (c *Writer) message(m chatMessage) error {
	s, err := terminal.EncodeJSON(m)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(c.W, c.comma+s)
	c.comma = ","
	return err
}

// chatRole returns the role of a message in the terms of OpenAI.
func chatRole(role string) string {
	switch role {
	case "system", "developer":
		return "system"
	case "assistant", "model", "agent":
		return "assistant"
	}
	return "user"
}

// callArguments returns the input of a call as JSON: the object of the original if it has one, else its text.
func callArguments(raw []byte, p *search.Piece) string {
	call := toolcall.Parse(raw, p.Tool, p.Text)
	if input := call.JSON(); input != nil {
		return string(input)
	}
	text := strings.TrimSpace(call.Rest)
	if text == "" {
		return "{}"
	}
	s, err := terminal.EncodeJSON(map[string]string{"input": text})
	if err != nil { // a map of strings can always be encoded
		return "{}"
	}
	return s
}
