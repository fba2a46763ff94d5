package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/search"
	"github.com/txarchive/txarchive/internal/transcript"
)

// chatMessage is a message as the chat interface of OpenAI takes it. Content is null when only tools are called.
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

// chat writes a conversation as messages. What an assistant says and calls until a result comes is one message.
type chat struct {
	v       *viewer
	ctx     context.Context
	out     io.Writer
	comma   string
	open    *chatMessage  // of the assistant
	results []chatMessage // of its calls
	left    map[string]int64
}

// openai prints conversations, each as one line of JSON: {"messages": [...]}. Reasoning, lifecycle and other things
// that this layout has no place for are left out, and counted on standard error.
func (v *viewer) openai(ctx context.Context, views iter.Seq2[*search.View, error]) error {
	left := map[string]int64{}
	for view, err := range views {
		if err != nil {
			return err
		}
		c := &chat{v: v, ctx: ctx, out: v.a.out, left: left}
		fmt.Fprint(c.out, `{"messages":[`)
		for t, err := range view.Turns {
			for i := 0; err == nil && i < len(t.Pieces); i++ {
				err = c.piece(&t.Pieces[i])
			}
			if err != nil {
				return err
			}
		}
		if err := c.flush(); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(c.out, "]}"); err != nil {
			return err
		}
	}
	if len(left) > 0 {
		var parts []string
		for _, kind := range slices.Sorted(maps.Keys(left)) {
			parts = append(parts, number(left[kind])+" "+strings.ReplaceAll(kind, "_", " "))
		}
		v.a.note("left out, because the format has no place for it: %s", strings.Join(parts, ", "))
	}
	return nil
}

func (c *chat) piece(p *search.Piece) error {
	if p.Err != nil {
		return p.Err
	}
	switch {
	case p.Kind == transcript.KindToolCall:
		return c.call(p)
	case p.Kind == transcript.KindMessage && chatRole(p.Role) == "assistant":
		if c.open != nil && len(c.open.ToolCalls) > 0 {
			if err := c.flush(); err != nil {
				return err
			}
		}
		if c.open == nil {
			c.open = &chatMessage{Role: "assistant"}
		}
		said := p.Text
		if c.open.Content != nil {
			said = *c.open.Content + "\n\n" + said
		}
		c.open.Content = &said
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
	c.left[string(p.Kind)]++ // a result here is one without a call
	return nil
}

func (c *chat) call(p *search.Piece) error {
	if c.open == nil {
		c.open = &chatMessage{Role: "assistant"}
	}
	call := chatCall{ID: firstOf(p.Call, p.ID), Type: "function"}
	raw, err := c.v.store.Raw(c.ctx, p.Place)
	if err != nil {
		return err
	}
	call.Function.Name, call.Function.Arguments = p.Tool, callArguments(raw, p)
	c.open.ToolCalls = append(c.open.ToolCalls, call)
	if p.Result != nil {
		if p.Result.Err != nil {
			return p.Result.Err
		}
		given := strings.TrimPrefix(p.Result.Text, p.Tool+"\n") // some formats say it before the result
		c.results = append(c.results, chatMessage{Role: "tool", Content: &given, ToolCallID: call.ID})
	}
	return nil
}

// flush writes what the assistant has said and called, and what came of it.
func (c *chat) flush() error {
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

func (c *chat) message(m chatMessage) error {
	_, err := fmt.Fprint(c.out, c.comma+encode(m))
	c.comma = ","
	return err
}

// chatRole is the role of a message in the words of OpenAI.
func chatRole(role string) string {
	switch role {
	case "system", "developer":
		return "system"
	case "assistant", "model", "agent":
		return "assistant"
	}
	return "user"
}

// inputKeys are what producers call the input of a tool.
var inputKeys = []string{"input", "arguments", "args", "tool_input", "parameters", "params"}

// callArguments is the input of a call as JSON: as the original has it where that says it as an object, else its text.
func callArguments(raw []byte, p *search.Piece) string {
	if found := inputOf(raw, 4); found != nil {
		return string(found)
	}
	said := strings.TrimSpace(strings.TrimPrefix(p.Text, p.Tool))
	if json.Valid([]byte(said)) && strings.HasPrefix(said, "{") {
		return said
	}
	return encode(map[string]string{"input": said})
}

// inputOf finds the input of a call in the JSON of its event, in objects at most so deep; nil when there is none.
func inputOf(raw []byte, deep int) []byte {
	var object map[string]json.RawMessage
	if deep == 0 || json.Unmarshal(raw, &object) != nil {
		return nil
	}
	for _, key := range inputKeys {
		var written string
		value := bytes.TrimSpace(object[key])
		if json.Unmarshal(value, &written) == nil { // as OpenAI itself has it: JSON in a string
			value = []byte(written)
		}
		var compact bytes.Buffer
		if bytes.HasPrefix(value, []byte("{")) && json.Compact(&compact, value) == nil {
			return compact.Bytes()
		}
	}
	for _, key := range []string{"function", "call", "tool_call", "toolCall", "payload", "data", "item", "part", "state", "message"} {
		if found := inputOf(object[key], deep-1); found != nil {
			return found
		}
	}
	return nil
}
