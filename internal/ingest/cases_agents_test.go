package ingest_test

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/source"
)

// caseTotals are the totals of a case of a format, counted by hand from the lines and the rules in docs/formats. Cost is
// in micro-USD; a total that is not given is 0.
type caseTotals struct {
	Runs, Conversations, Links, Problems                               int64
	User, Assistant, Reasoning, Calls, Results, System                 int64
	Requests, Input, Output, CacheRead, CacheWrite, CacheWrite1h, Cost int64
}

// casesOfAgents are the cases of the coding agents, each with its totals.
var casesOfAgents = map[string]caseTotals{
	"claude-code/fork-agent": {Runs: 1, Conversations: 2, Links: 1, User: 2, Assistant: 3, Calls: 2, Results: 2,
		Requests: 4, Input: 14, Output: 84, CacheRead: 330, CacheWrite: 160},
	"claude-code/fork": {Runs: 3, Conversations: 5, Links: 4, User: 6, Assistant: 6, Reasoning: 1, Calls: 3, Results: 3, System: 1,
		Requests: 7, Input: 37, Output: 244, CacheRead: 9200, CacheWrite: 2920, CacheWrite1h: 300},
	"claude-code/blocks": {Runs: 1, Conversations: 1, Links: 1, User: 3, Assistant: 4, Reasoning: 2, Calls: 7, Results: 6, System: 1,
		Requests: 3, Input: 3, Output: 6},
	"claude-code/crash": {Runs: 1, Conversations: 1, Links: 1, Problems: 2, User: 2, Assistant: 1,
		Requests: 1, Input: 4, Output: 6},
	"claude-code/crashed": {Runs: 1, Conversations: 1, Problems: 1, User: 1, Assistant: 1, Requests: 1, Input: 3, Output: 4},
	"claude-code/iflow": {Runs: 1, Conversations: 1, User: 1, Assistant: 2, Calls: 3, Results: 3, System: 1,
		Requests: 1, Input: 16472, Output: 224},
	"claude-code/layouts": {Runs: 5, Conversations: 8, Links: 4, Problems: 2, User: 9, Assistant: 2, Calls: 3, Results: 3,
		Requests: 5, Input: 5, Output: 5},
	"claude-code/lines": {Runs: 1, Conversations: 1, Problems: 4, User: 3, Assistant: 2, System: 6,
		Requests: 2, Input: 2, Output: 2},
	"claude-code/plans":  {Runs: 1, Conversations: 1, Problems: 1, User: 1, Calls: 1, Results: 1, Requests: 1, Input: 3, Output: 2},
	"claude-code/placed": {Runs: 3, Conversations: 4, Links: 1, User: 5, Assistant: 3, Requests: 2, Input: 7, Output: 4},
	"claude-code/qoder": {Runs: 2, Conversations: 2, Problems: 1, User: 4, Assistant: 5, Reasoning: 1, Calls: 2, Results: 2,
		Requests: 3, Input: 500, Output: 80, CacheRead: 1800, CacheWrite: 100},
	"claude-code/editor": {Runs: 2, Conversations: 3, Links: 1, Problems: 2, User: 3, Assistant: 5, Calls: 4, Results: 3, System: 1,
		Requests: 4, Input: 10898, Output: 1759, CacheRead: 30399},
	"claude-code/editor-transcript": {Runs: 1, Conversations: 1, Links: 2, User: 1, Assistant: 1, Calls: 1, Results: 1,
		Requests: 2, Input: 170, Output: 37, CacheRead: 400},
	"claude-code/stream": {Runs: 6, Conversations: 7, Links: 1, Problems: 3, User: 2, Assistant: 9, Reasoning: 1, Calls: 3, Results: 3, System: 1,
		Requests: 10, Input: 1271, Output: 784, CacheRead: 19880, CacheWrite: 1085, CacheWrite1h: 1085},
	"claude-code/usage": {Runs: 1, Conversations: 1, User: 1, Assistant: 18,
		Requests: 11, Input: 39012, Output: 39, CacheRead: 100, CacheWrite: 357, CacheWrite1h: 100, Cost: 12300},
	"codebuddy/session": {Runs: 1, Conversations: 3, Links: 2, User: 4, Assistant: 4, Reasoning: 1, Calls: 2, Results: 2, System: 4,
		Requests: 6, Input: 2500, Output: 159, CacheRead: 2800, CacheWrite: 500},
	"codebuddy/fork": {Runs: 2, Conversations: 2, Links: 1, User: 1, Assistant: 1, Reasoning: 1, Calls: 1, Results: 1, System: 2,
		Requests: 2, Input: 300, Output: 70, CacheRead: 1800},
	"codebuddy/workbuddy": {Runs: 2, Conversations: 2, User: 2, Assistant: 1, Calls: 1, Results: 1, Requests: 3, Input: 28453, Output: 30391, CacheRead: 9132},
	"codebuddy/renamed":   {Runs: 1, Conversations: 2, User: 2, Assistant: 2, Requests: 1, Input: 200, Output: 5, CacheRead: 100},
	"codebuddy/extension": {Runs: 1, Conversations: 1, Problems: 1, User: 1, Assistant: 2, Reasoning: 1, Calls: 2, Results: 2, System: 1,
		Input: 43042, Output: 3581, CacheRead: 189056},
	"codebuddy/broken": {Runs: 1, Conversations: 1, Problems: 3, User: 1, Calls: 1, Results: 1,
		Requests: 1},
	"antigravity/cli": {Runs: 1, Conversations: 1, User: 2, Assistant: 3, Reasoning: 1, Calls: 3, Results: 3, System: 2,
		Requests: 4, Input: 2400, Output: 177, CacheRead: 17000},
	"antigravity/ide":  {Runs: 2, Conversations: 2, User: 2, Assistant: 2, Reasoning: 1, Calls: 2, Results: 2, System: 2},
	"antigravity/back": {Runs: 2, Conversations: 2, User: 2, Calls: 4, Results: 4, Requests: 3, Input: 330, Output: 31},
	"antigravity/database": {Conversations: 1, Links: 1, Problems: 3, User: 1, Assistant: 3, Reasoning: 1, Calls: 2, Results: 4, System: 4, // the only run is a sub-agent's
		Requests: 6, Input: 1375, Output: 94, CacheRead: 17000},
	"antigravity/broken": {Runs: 1, Conversations: 1, Problems: 3, User: 1, Assistant: 1, Calls: 2, Results: 1, System: 1,
		Requests: 1, Output: 2},
	"codex/bare":   {Runs: 1, Conversations: 1, User: 1, Assistant: 1, Reasoning: 1, Calls: 1, Results: 1},
	"codex/beside": {Runs: 1, Conversations: 1, User: 1},
	"codex/broken": {Runs: 4, Conversations: 4, Problems: 5, User: 2},
	"codex/every-code": {Runs: 1, Conversations: 1, User: 1, Assistant: 1, Reasoning: 1, Calls: 1, Results: 1, System: 1,
		Requests: 2, Input: 1300, Output: 120, CacheRead: 900},
	"codex/everything": {Runs: 1, Conversations: 1, Links: 1, User: 3, Assistant: 2, Reasoning: 1, Calls: 10, Results: 7, System: 3,
		Requests: 5, Input: 2200, Output: 180, CacheRead: 1300, CacheWrite: 100},
	"codex/forks": {Runs: 4, Conversations: 6, Links: 6, User: 8, Assistant: 8, Calls: 2, Results: 2, System: 2,
		Requests: 10, Input: 13900, Output: 870, CacheRead: 16500},
	"codex/images":    {Runs: 1, Conversations: 1, User: 3, Assistant: 1, Reasoning: 1},
	"codex/late-head": {Runs: 2, Conversations: 2, Links: 1, User: 2, Requests: 2, Input: 130, Output: 15},
	"codex/migrated": {Runs: 0, Conversations: 2, Links: 2, User: 1, Assistant: 3,
		Requests: 3, Input: 600, Output: 100, CacheRead: 1200},
	"codex/memories": {},
	"codex/moved":    {Runs: 2, Conversations: 2, User: 3, Assistant: 2, Requests: 3, Input: 25, Output: 4, CacheRead: 10},
	"codex/streams": {Runs: 3, Conversations: 3, Links: 1, Problems: 3, Assistant: 5, Reasoning: 1, Calls: 9, Results: 7,
		Input: 680, Output: 83, CacheRead: 700, CacheWrite: 150},
	"codex/unnamed-turns": {Runs: 2, Conversations: 2, Links: 1, User: 2, Assistant: 3,
		Requests: 3, Input: 230, Output: 60, CacheRead: 110},
	"codex/whole":         {Runs: 3, Conversations: 3, Problems: 1, User: 4, Assistant: 2, Reasoning: 1, Calls: 3, Results: 3, System: 1},
	"gemini-cli/bare":     {Conversations: 4, Links: 4, Problems: 2, User: 3, Assistant: 3, Requests: 3, Input: 15, Output: 6},
	"gemini-cli/beside":   {Runs: 1, Conversations: 1, User: 1},
	"gemini-cli/document": {Runs: 2, Conversations: 2, User: 2, Assistant: 1, Requests: 1, Input: 7, Output: 3},
	"gemini-cli/log": {Runs: 2, Conversations: 2, Problems: 3, User: 5, Assistant: 3, Reasoning: 2, Calls: 5, Results: 4, System: 3,
		Requests: 4, Input: 722, Output: 101, CacheRead: 2300},
	"gemini-cli/migrated": {Runs: 1, Conversations: 1, User: 3, Assistant: 2, Reasoning: 1,
		Requests: 2, Input: 150, Output: 35, CacheRead: 150},
	"gemini-cli/prompts": {},
	"gemini-cli/rebuilt": {Runs: 1, Conversations: 1, User: 2, Assistant: 4, Reasoning: 4, Calls: 2, Results: 2, System: 5,
		Requests: 3, Input: 170, Output: 44, CacheRead: 140},
	"gemini-cli/replaced": {Runs: 1, Conversations: 1, Assistant: 1, System: 1, Requests: 1, Input: 5, Output: 7, CacheRead: 4},
	"gemini-cli/stream": {Runs: 4, Conversations: 4, Problems: 3, User: 3, Assistant: 5, Calls: 2, Results: 2, System: 1,
		Requests: 2, Input: 1870, Output: 294, CacheRead: 1110},
	"gemini-cli/stream-beside": {Runs: 1, Conversations: 1, User: 1, Assistant: 2, Calls: 1, Results: 1,
		Requests: 2, Input: 1300, Output: 200, CacheRead: 1000},
	"gemini-cli/subagent": {Runs: 1, Conversations: 3, Links: 1, User: 3, Assistant: 1, Calls: 1, Results: 1,
		Requests: 2, Input: 59, Output: 6},
	"gemini-cli/twice":        {Runs: 1, Conversations: 1, User: 1, Assistant: 2, Requests: 1, Input: 5, Output: 3, CacheRead: 2},
	"gemini-cli/unrecognised": {Problems: 4},
	"copilot-cli/broken":      {Runs: 3, Conversations: 3, Problems: 3, User: 1, Assistant: 1, Calls: 2, System: 1},
	"copilot-cli/early":       {},
	"copilot-cli/fork": {Runs: 2, Conversations: 3, Links: 2, User: 4, Assistant: 5, Reasoning: 1, Calls: 1, Results: 1,
		Requests: 4, Input: 390, Output: 20},
	"copilot-cli/inside":  {Runs: 4, Conversations: 4, Problems: 2, User: 2, Input: 7, Output: 2},
	"copilot-cli/layouts": {Runs: 1, Conversations: 1, User: 2, Assistant: 1, Requests: 1, Input: 7, Output: 2},
	"copilot-cli/newest":  {Runs: 1, Conversations: 1, User: 1, Assistant: 1, Reasoning: 1, Calls: 1, Results: 1},
	"copilot-cli/odd":     {Runs: 1, Conversations: 1, Problems: 1, Assistant: 1, Calls: 2, Results: 1, CacheRead: 20},
	"copilot-cli/stream": {Runs: 3, Conversations: 3, Problems: 4, User: 3, Assistant: 4, Reasoning: 1, Calls: 1, Results: 1,
		Requests: 4, Input: 110, Output: 38, CacheRead: 100, CacheWrite: 10},
	"copilot-cli/records":  {Runs: 3, Conversations: 3, User: 5, Assistant: 5, Requests: 8, Input: 1200, Output: 195, CacheRead: 2200, CacheWrite: 500},
	"copilot-cli/window":   {Runs: 1, Conversations: 2, Links: 1, User: 2},
	"copilot-cli/products": {Runs: 1, Conversations: 1, User: 1},
	"copilot-cli/session": {Runs: 1, Conversations: 1, User: 4, Assistant: 3, Reasoning: 1, Calls: 2, Results: 3, System: 2,
		Requests: 4, Input: 356, Output: 87, CacheRead: 604, CacheWrite: 100},
	"copilot-ide/xcode":   {Runs: 2, Conversations: 2, User: 5, Assistant: 6, Reasoning: 3, Calls: 7, Results: 5},
	"copilot-ide/eclipse": {Runs: 1, Conversations: 1, User: 2, Assistant: 4, Reasoning: 1, Calls: 5, Results: 4},
	"copilot-ide/broken":  {Runs: 3, Conversations: 3, Problems: 7, User: 2, Assistant: 13, Calls: 1, System: 1},
	"copilot-vscode/document": {Runs: 1, Conversations: 1, User: 3, Assistant: 4, Reasoning: 1, Calls: 7, Results: 7, System: 1,
		Requests: 3, Input: 4700, Output: 330},
	"copilot-vscode/log": {Runs: 1, Conversations: 1, Problems: 3, User: 2, Assistant: 3, Reasoning: 1, Calls: 1, Results: 1,
		Requests: 2, Input: 5400, Output: 50},
	"copilot-vscode/passages": {Runs: 1, Conversations: 1, User: 1, Assistant: 1},
	"copilot-vscode/export": {Runs: 5, Conversations: 5, User: 7, Assistant: 8, Calls: 5, Results: 5,
		Requests: 2, Input: 410, Output: 41},
	"copilot-vscode/odd":      {Runs: 1, Conversations: 1, User: 1},
	"copilot-vscode/migrated": {Runs: 1, Conversations: 1, User: 2, Assistant: 2, Input: 30, Output: 5},
	"copilot-vscode/old": {Runs: 3, Conversations: 3, User: 7, Assistant: 8, Reasoning: 1, Calls: 7, Results: 7,
		Requests: 2, Input: 900, Output: 8},
	"copilot-vscode/fork":        {Runs: 3, Conversations: 3, User: 4, Assistant: 4, Input: 1000, Output: 100},
	"copilot-vscode/sums":        {Runs: 1, Conversations: 1, User: 1, Assistant: 1, Input: 130, Output: 66, CacheRead: 900},
	"copilot-vscode/transcripts": {Runs: 3, Conversations: 3, User: 3, Assistant: 3, Reasoning: 2, Calls: 2, Results: 2},
	"copilot-vscode/debug": {Runs: 1, Conversations: 1, Problems: 2, User: 3, Assistant: 3,
		Requests: 6, Input: 7207, Output: 113, CacheRead: 900},
	"copilot-vscode/broken": {Runs: 3, Conversations: 3, Problems: 5, User: 3, Assistant: 2},
	"opencode/beside":       {Runs: 1, Conversations: 1, Calls: 1, Results: 1},
	"opencode/both":         {Runs: 1, Conversations: 1, Calls: 3, Results: 1, Requests: 1, Input: 3, Output: 5, CacheRead: 2, Cost: 250000},
	"opencode/cost":         {Requests: 1, Cost: 250000},
	"opencode/early":        {Runs: 1, Conversations: 1, User: 1},
	"opencode/elsewhere":    {},
	"opencode/export": {Runs: 2, Conversations: 2, Problems: 1, User: 2, Assistant: 1, Reasoning: 1, Calls: 1, Results: 1, System: 1,
		Requests: 3, Input: 39, Output: 78, CacheRead: 900, CacheWrite: 900, Cost: 34000},
	"opencode/zcode": {Runs: 1, Conversations: 2, Links: 1, User: 1, Assistant: 2, Reasoning: 1, Calls: 1, Results: 1, System: 1,
		Requests: 3, Input: 300, Output: 35, CacheRead: 2000, CacheWrite: 150},
	"opencode/rows": {Conversations: 1, Links: 1, Problems: 1, User: 1, Assistant: 1, Reasoning: 1, Calls: 1, Results: 1, System: 1,
		Requests: 2, Input: 8, Output: 32, CacheRead: 2602, CacheWrite: 1, Cost: 500000},
	"opencode/stream": {Runs: 4, Conversations: 4, Problems: 3, Assistant: 3, Reasoning: 1, Calls: 3, Results: 3,
		Requests: 4, Input: 115, Output: 80, CacheRead: 2250, CacheWrite: 150, Cost: 762500},
	"opencode/stream-beside": {Runs: 1, Conversations: 1, Assistant: 1, Reasoning: 1, Calls: 2, Results: 2,
		Requests: 2, Input: 107, Output: 70, CacheRead: 2250, CacheWrite: 150, Cost: 12500},
	"opencode/stream-second": {Runs: 1, Conversations: 1, Assistant: 1, Reasoning: 1, Calls: 1, Results: 1,
		Requests: 2, Input: 107, Output: 70, CacheRead: 2250, CacheWrite: 150, Cost: 12500},
	"opencode/synthetic": {Runs: 1, Conversations: 1, Assistant: 1, System: 1, Requests: 1, Input: 120, Output: 16},
	"opencode/tree": {Runs: 1, Conversations: 2, Links: 1, Problems: 2, User: 2, Assistant: 3, Reasoning: 1, Calls: 4, Results: 3, System: 2,
		Requests: 4, Input: 916, Output: 242, CacheRead: 2900, CacheWrite: 2500, Cost: 30000},
	"opencode/untitled": {Runs: 3, Conversations: 3, User: 6, System: 1},
	"cline/apart": {Runs: 3, Conversations: 3, User: 3, Assistant: 3, Calls: 1, System: 1,
		Requests: 3, Input: 1400, Output: 52, CacheRead: 1010, CacheWrite: 5, Cost: 22000},
	"cline/blank": {Runs: 1, Conversations: 1, User: 1, Assistant: 1, Calls: 1, Results: 1,
		Requests: 1, Input: 16, Output: 5, CacheRead: 10, CacheWrite: 4, Cost: 10000},
	"cline/nameless": {Runs: 1, Conversations: 1, User: 1, Assistant: 1},
	"cline/left":     {Runs: 2, Conversations: 2, User: 1, Requests: 1, Cost: 250000},
	"cline/roo": {Runs: 3, Conversations: 4, Links: 2, Problems: 1, User: 2, Assistant: 1, Calls: 1, System: 1,
		Requests: 4, Input: 160, Output: 67, CacheRead: 4400, CacheWrite: 1010, Cost: 27000},
	"cline/results": {Runs: 1, Conversations: 1, User: 1, Calls: 1, Results: 1},
	"cline/sidecar": {Runs: 1, Conversations: 2, Links: 1, User: 2, Assistant: 2, Calls: 1, Results: 1,
		Requests: 3, Input: 240, Output: 27, CacheRead: 10, Cost: 3000},
	"cline/prompts": {Runs: 1, Conversations: 1, Links: 1, User: 2, Assistant: 1, Calls: 1, Results: 1, System: 5,
		Requests: 2, Input: 320, Output: 50, CacheRead: 150, CacheWrite: 30, Cost: 5000},
	"cline/sdk": {Runs: 1, Conversations: 2, Links: 1, User: 2, Assistant: 4, Reasoning: 1, Calls: 2, Results: 1, System: 2,
		Requests: 3, Input: 143, Output: 35, CacheRead: 604, CacheWrite: 302, Cost: 4000},
	"cline/plan": {Runs: 1, Conversations: 1, User: 2, Results: 1, System: 6, Requests: 1, Input: 500, Output: 20, CacheRead: 400, Cost: 10000},
	"cline/task": {Runs: 1, Conversations: 1, User: 2, Assistant: 2, Reasoning: 1, Calls: 3, Results: 3, System: 2,
		Requests: 1, Input: 107, Output: 58, CacheRead: 300, CacheWrite: 2000, Cost: 10300},
	"qwen-code/planned": {Runs: 1, Conversations: 1, User: 1},
	"qwen-code/session": {Runs: 3, Conversations: 3, User: 5, Assistant: 5, Reasoning: 2, Calls: 3, Results: 3, System: 7,
		Requests: 5, Input: 612, Output: 106, CacheRead: 1750},
	"qwen-code/forked-agent": {Conversations: 1, Links: 1, User: 1, Assistant: 2, Reasoning: 1, System: 3, Requests: 2, Input: 1700, Output: 350, CacheRead: 400},
	"qwen-code/branch":       {Runs: 4, Conversations: 4, Links: 3, User: 5, Assistant: 4, System: 2, Requests: 3, Input: 550, Output: 33, CacheRead: 500},
	"qwen-code/subagents": {Runs: 1, Conversations: 3, Links: 2, Problems: 1, User: 3, Assistant: 2, Reasoning: 1, Calls: 2, Results: 2, System: 1,
		Requests: 3, Input: 369, Output: 39, CacheRead: 20},
	"qwen-code/broken": {Runs: 3, Conversations: 3, Problems: 4, User: 5, Assistant: 2, Calls: 1, Results: 1, Requests: 1},
	"kimi/code": {Runs: 1, Conversations: 3, Links: 2, User: 2, Assistant: 4, Reasoning: 1, Calls: 2, Results: 2, System: 4,
		Requests: 6, Input: 205, Output: 44, CacheRead: 710, CacheWrite: 50},
	"kimi/manifest": {Runs: 1, Conversations: 2, Links: 1, User: 2, Assistant: 2, Calls: 1, System: 2, Requests: 2, Input: 150, Output: 29, CacheRead: 300},
	"kimi/desktop":  {Runs: 1, Conversations: 1, User: 1, Requests: 2, Input: 3100, Output: 120, CacheRead: 400},
	"kimi/fork": {Runs: 5, Conversations: 7, Links: 4, User: 7, Assistant: 4, Reasoning: 1, Calls: 2, Results: 2, System: 3,
		Requests: 9, Input: 219, Output: 46, CacheRead: 1205, CacheWrite: 50},
	"kimi/broken": {Runs: 1, Conversations: 1, Problems: 5, User: 2, Assistant: 1, Results: 1, Requests: 2, Input: 2, Output: 2},
	"kimi/cli": {Runs: 9, Conversations: 11, Links: 4, User: 12, Assistant: 8, Reasoning: 2, Calls: 5, Results: 4,
		Requests: 8, Input: 466, Output: 39, CacheRead: 50},
	"qwen-code/past":          {Runs: 2, Conversations: 2, User: 2, Assistant: 2, Requests: 2, Input: 120, Output: 18, CacheRead: 60},
	"chatgpt-export/tree":     {Runs: 3, Conversations: 3, Links: 1, User: 4, Assistant: 4, Reasoning: 2, Calls: 2, Results: 3, System: 2},
	"chatgpt-export/odd":      {Runs: 2, Conversations: 2, Problems: 4, User: 2, Assistant: 1, Calls: 1, Results: 1, System: 1},
	"chatgpt-export/twice":    {Runs: 3, Conversations: 3, User: 5, Assistant: 3},
	"chatgpt-export/broken":   {Runs: 2, Conversations: 2, Problems: 2, User: 2},
	"claude-ai-export/blocks": {Runs: 3, Conversations: 3, User: 4, Assistant: 2, Reasoning: 1, Calls: 3, Results: 3},
	"claude-ai-export/spoken": {Runs: 1, Conversations: 1, User: 2, Assistant: 1},
	"claude-ai-export/twice":  {Runs: 2, Conversations: 2, User: 4, Assistant: 1, Reasoning: 1, Calls: 1},
	"claude-ai-export/design": {Runs: 1, Conversations: 1, Problems: 1, User: 3, Assistant: 1, Reasoning: 1, Calls: 2, Results: 1, System: 2},
	"deepseek-export/tree":    {Runs: 3, Conversations: 3, User: 3, Assistant: 4, Reasoning: 2, Calls: 3, Results: 1},
	"deepseek-export/odd":     {Runs: 3, Conversations: 3, Problems: 4, User: 3, Assistant: 2, Calls: 1, Results: 1},
	"deepseek-export/twice":   {Runs: 2, Conversations: 2, User: 3, Assistant: 1, Reasoning: 1},
	"grok-export/tree":        {Runs: 2, Conversations: 2, User: 3, Assistant: 4, Reasoning: 4, Calls: 2, Results: 2},
	"grok-export/odd":         {Runs: 2, Conversations: 2, Problems: 6, User: 1, Assistant: 3, Reasoning: 1, Calls: 2, Results: 5},
	"grok-export/twice":       {Runs: 2, Conversations: 2, User: 3, Assistant: 1},
	"claude-ai-export/broken": {Runs: 1, Conversations: 1, Problems: 5, User: 1, Assistant: 2, Results: 2, System: 1},
	"pi/tree": {Runs: 1, Conversations: 1, Problems: 2, User: 2, Assistant: 4, Reasoning: 2, Calls: 5, Results: 7, System: 4,
		Requests: 7, Input: 1039, Output: 160, CacheRead: 6000, CacheWrite: 200, CacheWrite1h: 50, Cost: 20900},
	"pi/harness": {Runs: 1, Conversations: 1, Links: 1, User: 1, Assistant: 2, Calls: 1, Results: 1, System: 1,
		Requests: 3, Input: 61, Output: 10, CacheRead: 10, Cost: 31},
	"pi/fork":    {Runs: 3, Conversations: 3, Links: 1, User: 4, Assistant: 4, Requests: 4, Input: 47, Output: 15, Cost: 70000},
	"pi/collide": {Runs: 2, Conversations: 2, Links: 1, User: 1, Assistant: 2, System: 4, Requests: 1, Input: 3, Output: 2, Cost: 10000},
	"pi/first": {Runs: 2, Conversations: 2, Links: 1, User: 3, Assistant: 3, System: 1,
		Requests: 3, Input: 66, Output: 21, Cost: 150000},
	"pi/omp": {Runs: 2, Conversations: 3, Links: 1, User: 3, Assistant: 3, Reasoning: 1, Calls: 4, Results: 4,
		Requests: 6, Input: 1819, Output: 166, CacheRead: 37838, CacheWrite: 700, CacheWrite1h: 600, Cost: 12087},
	"pi/gajae": {Runs: 1, Conversations: 2, Links: 1, User: 2, Assistant: 1, Reasoning: 1, Calls: 1, Results: 1,
		Requests: 2, Input: 50, Output: 25, CacheRead: 300, CacheWrite: 100, Cost: 325},
	"pi/prime": {Runs: 2, Conversations: 4, Links: 3, User: 4, Assistant: 1, Calls: 1, Results: 1, Requests: 2, Input: 70, Output: 14, Cost: 140},
	"pi/output": {Runs: 2, Conversations: 2, Problems: 4, User: 4, Assistant: 3, Reasoning: 1, Calls: 1, Results: 1,
		Requests: 4, Input: 160, Output: 22, CacheRead: 500, CacheWrite: 5, Cost: 16000},
	"pi/odd": {Runs: 2, Conversations: 2, Problems: 4, User: 2, Assistant: 2, Calls: 4, Results: 2, System: 3,
		Requests: 2, Input: 6, Output: 2},
	"openclaw/chats": {Runs: 3, Conversations: 4, Links: 2, Problems: 1, User: 6, Assistant: 6, Calls: 1, Results: 1,
		Requests: 6, Input: 233, Output: 35, Cost: 2100000},
	"openclaw/store": {Runs: 1, Conversations: 1, Links: 1, User: 1, Assistant: 1, Calls: 1, Requests: 1, Input: 12, Output: 5, Cost: 10000},
	"openclaw/aside": {Runs: 2, Conversations: 2, User: 2, Assistant: 1}, // what Codex has answered, its own session would count
	"openclaw/cold": {Runs: 2, Conversations: 2, Links: 1, Problems: 3, User: 2, Assistant: 1, Calls: 1, Results: 1,
		Requests: 1, Input: 20, Output: 7, CacheRead: 3, Cost: 20000},
	"openclaw/places":    {Runs: 4, Conversations: 4, Problems: 3, User: 4},
	"cursor/transcripts": {Runs: 4, Conversations: 5, Links: 1, Problems: 2, User: 7, Assistant: 6, Reasoning: 3, Calls: 5, Results: 2, System: 1},
	"cursor/rows": {Runs: 2, Conversations: 3, Links: 1, Problems: 1, User: 4, Assistant: 5, Reasoning: 2, Calls: 3, Results: 2,
		Requests: 3, Input: 1200, Output: 34, Cost: 80000},
	"cursor/acp":     {Runs: 1, Conversations: 2, Links: 1, User: 2, Assistant: 2, Calls: 1, Results: 1, System: 2},
	"cursor/chat":    {Runs: 1, Conversations: 1, User: 4, Assistant: 1, Reasoning: 2, Calls: 1, Results: 1, System: 2},
	"cursor/plans":   {},
	"cursor/between": {Runs: 2, Conversations: 2, User: 1, Assistant: 1, Results: 1},
	"cursor/both":    {Runs: 2, Conversations: 2, User: 2, Assistant: 3, Calls: 1, Results: 1},
	"amp/patch":      {Runs: 1, Conversations: 1, User: 1, Assistant: 1, Reasoning: 1, Calls: 2, Results: 2, Requests: 2, Input: 950, Output: 45, CacheRead: 1100},
	"amp/thread": {Runs: 3, Conversations: 3, User: 3, Assistant: 3, Reasoning: 2, Calls: 4, Results: 5, System: 4,
		Requests: 5, Input: 1215, Output: 146, CacheRead: 24072, CacheWrite: 986},
	"amp/ledger": {Runs: 2, Conversations: 3, Links: 2, User: 4, Assistant: 4, Calls: 2, Results: 2,
		Requests: 10, Input: 1231, Output: 168, CacheRead: 36930, CacheWrite: 1136},
	"amp/fork": {Runs: 4, Conversations: 4, Links: 4, User: 5, Assistant: 5, Calls: 1, Results: 1, System: 1,
		Requests: 6, Input: 123, Output: 35, CacheRead: 102, CacheWrite: 40},
	"amp/broken":    {Runs: 1, Conversations: 1, Problems: 6, User: 1, Results: 1, System: 1, Requests: 2, Input: 5, Output: 5},
	"aider/chat":    {Runs: 2, Conversations: 2, User: 4, Assistant: 4, Requests: 3, Input: 11412, Output: 1553, CacheRead: 9000, CacheWrite: 2100, Cost: 130000},
	"aider/plain":   {Runs: 2, Conversations: 2, User: 3, Assistant: 3, Requests: 2, Input: 4843, Output: 401, CacheRead: 567, Cost: 136667},
	"aider/trimmed": {Runs: 1, Conversations: 1, User: 1, Assistant: 1},
	"goose/files":   {Runs: 2, Conversations: 2, Problems: 2, User: 3, Assistant: 2, Calls: 1, Results: 1, Input: 380, Output: 40},
	"goose/rows": {Runs: 3, Conversations: 4, Links: 2, User: 6, Assistant: 3, Reasoning: 2, Calls: 2, Results: 2, System: 2,
		Requests: 2, Input: 710, Output: 106, CacheRead: 120, CacheWrite: 40, Cost: 500000},
	"goose/broken":    {Runs: 1, Conversations: 1, Problems: 2, Calls: 1, Results: 1, System: 1, Requests: 1, Input: 3, Output: 1, CacheRead: 9},
	"crush/rows":      {Runs: 1, Conversations: 2, Links: 1, User: 2, Assistant: 3, Reasoning: 1, Calls: 4, Results: 4, System: 2, Cost: 350000},
	"crush/early":     {Runs: 1, Conversations: 2, Links: 2, User: 2, Calls: 1, Results: 1},
	"crush/broken":    {Runs: 1, Conversations: 1, Links: 1, Problems: 2, Calls: 2, Results: 1, System: 1},
	"hermes/rows":     {Runs: 1, Conversations: 2, Links: 2, User: 3, Assistant: 2, System: 3, Requests: 1, Input: 90, Output: 9, Cost: 2000},
	"hermes/chain":    {Runs: 2, Conversations: 2, Links: 1, User: 4, Assistant: 4, Reasoning: 2, Calls: 2, Results: 2, System: 2, Requests: 6, Input: 2000, Output: 410, CacheRead: 9000, CacheWrite: 400, Cost: 12500},
	"hermes/early":    {Runs: 1, Conversations: 1, User: 1, Assistant: 1, Calls: 1, Results: 1, Input: 500, Output: 70},
	"hermes/files":    {Runs: 2, Conversations: 2, User: 2, Assistant: 3, Reasoning: 1, Calls: 1, Results: 1},
	"hermes/export":   {Runs: 1, Conversations: 2, Links: 1, Problems: 1, User: 2, Assistant: 1, Reasoning: 1, Calls: 1, Results: 1, Requests: 2, Input: 300, Output: 40, CacheRead: 1000, Cost: 900},
	"hermes/broken":   {Runs: 1, Conversations: 2, Problems: 6, User: 2, Assistant: 1, Calls: 3, Results: 2, System: 2, Input: 7, Output: 2},
	"lm-studio/chat":  {Runs: 1, Conversations: 1, User: 4, Assistant: 4, Reasoning: 1, Calls: 3, Results: 3, System: 1, Requests: 4, Input: 1777, Output: 145},
	"lm-studio/copy":  {Runs: 3, Conversations: 3, Links: 2, User: 3, Assistant: 3, Requests: 3, Input: 73, Output: 15},
	"lm-studio/odd":   {Runs: 2, Conversations: 2, Problems: 7, User: 4, Assistant: 2, Calls: 4, Results: 4, Requests: 2, Input: 5, Output: 4},
	"jan/chat":        {Runs: 1, Conversations: 1, User: 2, Assistant: 2, Reasoning: 1, Calls: 2, Results: 1, Requests: 2, Input: 1712, Output: 75},
	"jan/tree":        {Runs: 1, Conversations: 1, User: 3, Assistant: 5, Requests: 3, Input: 84, Output: 12},
	"jan/early":       {Runs: 1, Conversations: 1, User: 1, Assistant: 1, Calls: 3, Results: 3},
	"jan/odd":         {Runs: 1, Conversations: 1, Problems: 5, User: 2, Assistant: 3, Calls: 1, Results: 1, Requests: 2, Input: 2, Output: 4},
	"continue/ide":    {Runs: 1, Conversations: 1, User: 1, Assistant: 2, Reasoning: 2, Calls: 3, Results: 2, Requests: 2, Input: 1000, Output: 29, CacheRead: 700, CacheWrite: 50},
	"continue/cli":    {Runs: 1, Conversations: 1, User: 1, Assistant: 1, Calls: 2, Results: 1, Input: 1200, Output: 80, CacheRead: 5000, CacheWrite: 300, Cost: 12500},
	"continue/early":  {Runs: 1, Conversations: 1, User: 1, Assistant: 1, Calls: 1, Results: 1, System: 1, Requests: 2, Input: 610, Output: 10, CacheRead: 400},
	"continue/logs":   {Problems: 2},
	"continue/broken": {Runs: 1, Conversations: 1, Problems: 3, Assistant: 1, Calls: 3, Results: 2},
	"vibe/code": {Runs: 2, Conversations: 3, Links: 2, User: 3, Assistant: 4, Reasoning: 1, Calls: 5, Results: 5, System: 3,
		Input: 3200, Output: 190, CacheRead: 1100, Cost: 2080},
	"vibe/first":     {Runs: 2, Conversations: 2, User: 2, Assistant: 3, Calls: 1, Results: 1, System: 1, Input: 800, Output: 55, Cost: 380},
	"vibe/compacted": {Runs: 3, Conversations: 3, Links: 2, User: 4, Assistant: 3, Input: 17000, Output: 950, Cost: 8700},
	"vibe/requests":  {Runs: 1, Conversations: 1, User: 2, Assistant: 2, Requests: 2, Input: 220, Output: 17, CacheRead: 800, Cost: 100},
	"vibe/unified": {Runs: 4, Conversations: 5, Links: 3, User: 7, Assistant: 8, Reasoning: 2, Calls: 5, Results: 5, System: 1,
		Requests: 3, Input: 4200, Output: 560, CacheRead: 3300},
	"vibe/unified-broken": {Runs: 1, Conversations: 1, Problems: 6, User: 1, Calls: 1, Results: 1, Output: 2},
	"vibe/broken":         {Runs: 2, Conversations: 2, Problems: 6, User: 3, Assistant: 1, Calls: 4, Results: 3, Output: 2},
	"droid/session": {Runs: 1, Conversations: 2, Links: 1, User: 3, Assistant: 4, Reasoning: 4, Calls: 3, Results: 3, System: 4,
		Input: 1000, Output: 270, CacheRead: 5000, CacheWrite: 300},
	"droid/forks": {Runs: 4, Conversations: 4, Links: 3, User: 5, Assistant: 5, System: 1, Input: 1550, Output: 165, CacheRead: 180},
	"droid/old":   {Runs: 1, Conversations: 1, User: 2, Assistant: 1, Calls: 1, System: 1, Input: 70, Output: 7},
	"grok/session": {Runs: 1, Conversations: 2, User: 6, Assistant: 6, Reasoning: 1, Calls: 3, Results: 3, System: 3,
		Requests: 6, Input: 1200, Output: 95, CacheRead: 2100, CacheWrite: 100, Cost: 17446},
	"grok/subagents": {Runs: 1, Conversations: 3, Links: 2, User: 3, Assistant: 4, Calls: 2, Results: 2, System: 1, Requests: 7, Input: 2600, Output: 260},
	"grok/fork":      {Runs: 2, Conversations: 2, Links: 1, User: 3, Assistant: 3, Requests: 3, Input: 3300, Output: 330},
	"grok/old":       {Runs: 2, Conversations: 2, User: 2, Assistant: 2, Reasoning: 1, Calls: 4, Results: 4, System: 1},
	"grok/broken":    {Runs: 1, Conversations: 1, Problems: 3, User: 1, Results: 1, Output: 14, CacheRead: 10},
	"droid/broken":   {Runs: 1, Conversations: 1, Problems: 5, User: 1, Results: 1, Output: 1 << 40},
	"zed/rows": {Runs: 2, Conversations: 3, Links: 1, User: 4, Assistant: 5, Reasoning: 1, Calls: 3, Results: 3, System: 2,
		Input: 172, Output: 93, CacheRead: 4100, CacheWrite: 700},
	"zed/usage": {Runs: 5, Conversations: 5, User: 10, Assistant: 9, Requests: 4, Input: 662, Output: 75, CacheRead: 1150, CacheWrite: 190},
	"zed/early": {Runs: 3, Conversations: 3, User: 3, Assistant: 5, Reasoning: 1, Calls: 3, Results: 3, System: 2,
		Input: 70, Output: 30, CacheRead: 600, CacheWrite: 50},
	"zed/texts":  {Runs: 3, Conversations: 3, Problems: 2, User: 3, Assistant: 4, System: 1},
	"zed/broken": {Runs: 2, Conversations: 2, Problems: 5, User: 3, Assistant: 1, Results: 1},
	"warp/rows": {Runs: 1, Conversations: 3, Links: 2, User: 7, Assistant: 3, Reasoning: 1, Calls: 10, Results: 7, System: 3,
		Input: 900, Output: 120, CacheRead: 4000, CacheWrite: 300, Cost: 75000},
	"warp/forks":   {Runs: 3, Conversations: 3, Links: 2, User: 2, Assistant: 1, Reasoning: 1, Cost: 45000},
	"warp/prompts": {Runs: 1, Conversations: 1, User: 2},
	"warp/broken":  {Runs: 1, Conversations: 1, Links: 1, Problems: 5, User: 1, Calls: 3, Results: 2},
	"gptme/chat": {Runs: 1, Conversations: 3, User: 3, Assistant: 4, Reasoning: 1, Calls: 3, Results: 3, System: 2,
		Requests: 4, Input: 182, Output: 138, CacheRead: 34550, CacheWrite: 500, Cost: 15100},
	"gptme/tools": {Runs: 3, Conversations: 4, Links: 2, User: 4, Assistant: 3, Reasoning: 1, Calls: 5, Results: 5, System: 4,
		Requests: 4, Input: 1350, Output: 54, CacheRead: 2050, Cost: 3600},
	"gptme/broken":       {Runs: 1, Conversations: 1, Problems: 3, User: 2, Assistant: 2, Results: 1, System: 1, Requests: 2, Output: 2, Cost: 1000},
	"zencoder/session":   {Runs: 2, Conversations: 3, Links: 2, User: 3, Assistant: 4, Reasoning: 1, Calls: 2, Results: 2, System: 3},
	"zencoder/broken":    {Runs: 1, Conversations: 1, Problems: 2, User: 1, Calls: 1, Results: 1},
	"codebuff/chat":      {Runs: 1, Conversations: 1, User: 1, Assistant: 3, Reasoning: 1, Calls: 8, Results: 6},
	"codebuff/continued": {Runs: 2, Conversations: 2, Links: 1, User: 2, Assistant: 2},
	"codebuff/broken":    {Runs: 1, Conversations: 1, Problems: 4, User: 1, Assistant: 1},
	"codewhale/session":  {Runs: 2, Conversations: 2, User: 3, Assistant: 4, Reasoning: 1, Calls: 4, Results: 4, System: 2, Cost: 14845},
	"codewhale/journal":  {Runs: 1, Conversations: 1, User: 4, Assistant: 3, Calls: 2, Results: 2, System: 3, Cost: 500000},
	"codewhale/forks":    {Runs: 5, Conversations: 5, Links: 4, User: 6, Assistant: 4, System: 1, Cost: 1500000},
	"codewhale/broken":   {Runs: 2, Conversations: 2, Problems: 4, User: 4, Calls: 1, Results: 1},
	"reasonix/early": {Runs: 2, Conversations: 2, User: 5, Assistant: 6, Reasoning: 1, Calls: 2, Results: 2, System: 2,
		Requests: 6, Input: 2302, Output: 255, CacheRead: 4648, Cost: 420},
	"reasonix/native": {Runs: 2, Conversations: 3, Links: 1, User: 5, Assistant: 6, Reasoning: 1, Calls: 2, Results: 2, System: 5,
		Requests: 7, Input: 1592, Output: 175, CacheRead: 1508, Cost: 1180},
	"reasonix/forks":      {Runs: 3, Conversations: 3, Links: 2, User: 4, Assistant: 4, System: 2},
	"reasonix/migrated":   {Runs: 1, Conversations: 1, User: 3, Assistant: 4, Reasoning: 1, Calls: 2, Results: 2},
	"reasonix/broken":     {Runs: 1, Conversations: 1, Problems: 8, User: 1, Assistant: 1, Calls: 1, Results: 2},
	"cortex-code/session": {Runs: 2, Conversations: 2, User: 3, Assistant: 4, Reasoning: 2, Calls: 3, Results: 3, System: 3},
	"cortex-code/inside":  {Runs: 2, Conversations: 2, Links: 1, User: 2, Assistant: 2},
	"cortex-code/broken":  {Runs: 1, Conversations: 1, Problems: 5, User: 1, Calls: 1, Results: 1, System: 1},
	"rovodev/session": {Runs: 1, Conversations: 1, User: 2, Assistant: 3, Reasoning: 1, Calls: 4, Results: 4, System: 5,
		Requests: 4, Input: 116, Output: 111, CacheRead: 3720, CacheWrite: 701},
	"rovodev/forks":  {Runs: 4, Conversations: 4, Links: 1, User: 4, Assistant: 5, Requests: 7, Input: 270, Output: 107, CacheRead: 880, CacheWrite: 130},
	"rovodev/broken": {Runs: 2, Conversations: 2, Links: 1, Problems: 5, User: 3, Assistant: 3, Requests: 1, Input: 30, Output: 3, CacheRead: 40},
	"shelley/rows": {Runs: 3, Conversations: 4, Links: 4, User: 4, Assistant: 5, Reasoning: 2, Calls: 4, Results: 4, System: 4,
		Requests: 9, Input: 5637, Output: 8386, CacheRead: 4210, CacheWrite: 200, Cost: 33500},
	"shelley/broken": {Runs: 1, Conversations: 1, Links: 1, Problems: 5, Results: 1, Requests: 1, Input: 3, Output: 2},
	"ibm-bob/rows": {Runs: 2, Conversations: 4, Links: 2, User: 5, Assistant: 6, Reasoning: 1, Calls: 4, Results: 5,
		Requests: 7, Input: 2500, Output: 145, CacheRead: 1320, CacheWrite: 200},
	"ibm-bob/broken": {Runs: 1, Conversations: 9, Links: 8, Problems: 3, User: 1, Reasoning: 1, Calls: 1, Results: 11, Requests: 1, Input: 5, Output: 2, CacheRead: 9},
	"neovate/session": {Runs: 1, Conversations: 2, Links: 1, User: 7, Assistant: 6, Reasoning: 1, Calls: 5, Results: 5, System: 4,
		Requests: 8, Input: 11400, Output: 229},
	"neovate/old": {Runs: 1, Conversations: 3, User: 2, Assistant: 2, Calls: 3, Results: 2,
		Requests: 4, Input: 325, Output: 63, CacheRead: 670, CacheWrite: 100},
	"neovate/broken": {Runs: 2, Conversations: 2, Problems: 4, User: 2, Reasoning: 1, Calls: 1, Results: 2, System: 1},
	"aider-desk/tasks": {Runs: 3, Conversations: 4, Links: 2, User: 6, Assistant: 6, Reasoning: 1, Calls: 6, Results: 6,
		Requests: 11, Input: 5875, Output: 556, CacheRead: 1700, CacheWrite: 200, Cost: 49500},
	"aider-desk/sessions": {Runs: 2, Conversations: 4, Links: 1, User: 3, Assistant: 2, Calls: 2, Results: 2, Requests: 2, Input: 101, Output: 10, Cost: 3000},
	"aider-desk/broken":   {Runs: 1, Conversations: 1, Problems: 4, Calls: 1, Results: 1, System: 1, Requests: 2, Input: 9, Output: 2},
	"google-adk/documents": {Runs: 2, Conversations: 2, Links: 1, User: 4, Assistant: 5, Reasoning: 1, Calls: 4, Results: 4, System: 1,
		Requests: 7, Input: 895, Output: 118, CacheRead: 64},
	"google-adk/columns": {Runs: 3, Conversations: 3, User: 3, Assistant: 2, Calls: 2, Results: 2, Requests: 4, Input: 117, Output: 14},
	"google-adk/broken":  {Runs: 1, Conversations: 1, Problems: 2, Calls: 1, Results: 1, Requests: 1, Output: 3, CacheRead: 70},
	"strands/session": {Runs: 2, Conversations: 2, Links: 1, User: 3, Assistant: 4, Reasoning: 2, Calls: 2, Results: 2,
		Requests: 3, Input: 180, Output: 28, CacheRead: 280, CacheWrite: 10},
	"strands/broken":         {Runs: 1, Conversations: 1, Problems: 3, Calls: 1, Results: 1},
	"openai-agents/items":    {Runs: 3, Conversations: 3, User: 3, Assistant: 3, Reasoning: 1, Calls: 8, Results: 6, System: 1},
	"openai-agents/branches": {Runs: 1, Conversations: 2, User: 3, Assistant: 3, Requests: 4, Input: 292, Output: 35, CacheRead: 228, CacheWrite: 30},
	"openai-agents/broken":   {Runs: 1, Conversations: 1, Problems: 2, Calls: 1, Results: 1},
	"command-code/session": {Runs: 1, Conversations: 1, User: 2, Assistant: 2, Reasoning: 1, Calls: 2, Results: 2, System: 3,
		Requests: 2, Input: 1240, Output: 110, CacheRead: 11500, CacheWrite: 300, CacheWrite1h: 100, Cost: 2081},
	"command-code/fork":     {Runs: 3, Conversations: 3, Links: 2, User: 4, Assistant: 4, Requests: 4, Input: 160, Output: 25, CacheRead: 330, Cost: 500},
	"command-code/flat":     {Runs: 1, Conversations: 1, User: 1, Assistant: 1, Reasoning: 1, Calls: 2, Results: 2, System: 1},
	"command-code/exported": {Runs: 1, Conversations: 1, User: 1, Assistant: 1, Requests: 1, Input: 100, Output: 10, Cost: 200},
	"command-code/broken":   {Runs: 1, Conversations: 1, Links: 1, Problems: 5, User: 1, Calls: 1, Results: 1, Requests: 1, Input: 4, Output: 1},
	"mux/session": {Runs: 1, Conversations: 2, Links: 2, User: 4, Assistant: 3, Reasoning: 1, Calls: 6, Results: 5, System: 2,
		Input: 1760, Output: 201, CacheRead: 12140, CacheWrite: 300, Cost: 1250},
	"mux/early":  {Runs: 2, Conversations: 2, Links: 2, User: 2, Assistant: 2, Input: 512, Output: 56, CacheRead: 4000},
	"mux/moved":  {Runs: 1, Conversations: 1, User: 1, Assistant: 1},
	"mux/broken": {Runs: 1, Conversations: 1, Links: 1, Problems: 4, User: 2, Calls: 2, Results: 2, Input: 4},
	"junie/session": {Runs: 1, Conversations: 1, User: 3, Assistant: 3, Reasoning: 1, Calls: 6, Results: 6,
		Requests: 4, Input: 2315, Output: 545, CacheRead: 18631, CacheWrite: 23457, Cost: 334128},
	"junie/broken": {Runs: 2, Conversations: 2, Problems: 5, User: 2, Assistant: 1, Calls: 1, Results: 1, Requests: 3, Input: 2138, Output: 150, Cost: 3043},
	"auggie/session": {Runs: 1, Conversations: 3, Links: 2, User: 5, Assistant: 5, Reasoning: 1, Calls: 3, Results: 3, System: 1,
		Requests: 8, Input: 1234, Output: 179, CacheRead: 2180, CacheWrite: 1510, Cost: 24500},
	"auggie/credits": {Runs: 1, Conversations: 1, User: 1, Assistant: 2, Reasoning: 1, System: 2, Requests: 2, Input: 10, Output: 5},
	"auggie/broken":  {Runs: 1, Conversations: 1, Problems: 3, User: 1, Assistant: 1, Calls: 1, Results: 2},
	"devin/rows": {Runs: 1, Conversations: 2, Links: 1, User: 3, Assistant: 5, Reasoning: 1, Calls: 3, Results: 3, System: 4,
		Requests: 7, Input: 6997, Output: 269, CacheRead: 67712, CacheWrite: 200},
	"devin/early":           {Runs: 1, Conversations: 1, User: 1, Assistant: 1, Reasoning: 1, Calls: 1, Results: 1, Requests: 1, Input: 10, Output: 5},
	"devin/broken":          {Runs: 1, Conversations: 1, Problems: 4, User: 1, Calls: 2, Results: 1, Requests: 1, Output: 7},
	"windsurf/conversation": {Runs: 1, Conversations: 1, User: 2, Assistant: 3, Calls: 11, Results: 11},
	"windsurf/odd":          {Runs: 2, Conversations: 2, Problems: 3, User: 2, Assistant: 1, Calls: 3, Results: 1},
	"forge/rows": {Runs: 1, Conversations: 2, Links: 1, User: 3, Assistant: 4, Reasoning: 1, Calls: 3, Results: 3, System: 2,
		Requests: 4, Input: 2200, Output: 162, CacheRead: 2200, Cost: 12200},
	"forge/usage":     {Runs: 1, Conversations: 1, User: 1, Assistant: 7, Requests: 7, Input: 1390, Output: 325, CacheRead: 1120, Cost: 250000},
	"forge/compacted": {Runs: 1, Conversations: 1, User: 3, Assistant: 2, System: 2, Requests: 2, Input: 500, Output: 146, CacheRead: 5000, Cost: 10200},
	"forge/clone":     {Runs: 2, Conversations: 2, Links: 1, User: 2, Assistant: 2, System: 1, Requests: 2, Input: 120, Output: 14, CacheRead: 100},
	"forge/early": {Runs: 2, Conversations: 2, User: 2, Assistant: 2, Calls: 1, Results: 1, System: 1,
		Requests: 2, Input: 250, Output: 25},
	"forge/broken": {Runs: 1, Conversations: 1, Problems: 4, User: 1, Results: 1},
	"openhands/cli": {Runs: 1, Conversations: 2, Links: 1, User: 2, Assistant: 2, Reasoning: 3, Calls: 7, Results: 6, System: 3,
		Requests: 8, Input: 2300, Output: 245, CacheRead: 6650, CacheWrite: 300, Cost: 55000},
	"openhands/servers": {Runs: 4, Conversations: 4, Links: 1, User: 4, Assistant: 4, Calls: 2, Results: 2,
		Requests: 5, Input: 180, Output: 49, CacheRead: 11130, CacheWrite: 400, Cost: 375000},
	"openhands/first": {Runs: 4, Conversations: 4, User: 4, Assistant: 7, Reasoning: 1, Calls: 10, Results: 7, System: 3,
		Requests: 2, Input: 4455, Output: 470, CacheRead: 3400, CacheWrite: 950, Cost: 81000},
	"openhands/exports": {Runs: 3, Conversations: 4, Links: 2, User: 3, Assistant: 2, Calls: 1, Results: 1,
		Requests: 1, Input: 130, Output: 16, CacheRead: 30, Cost: 750000},
	"openhands/broken": {Runs: 3, Conversations: 3, Problems: 6, User: 2, Assistant: 1, Calls: 2, Requests: 2, Input: 3, Output: 1<<40 + 1, CacheRead: 16},
	"inspect/eval": {Runs: 2, Conversations: 2, User: 4, Assistant: 7, Reasoning: 1, Calls: 4, Results: 4, System: 4,
		Requests: 7, Input: 420, Output: 88, CacheRead: 2630, CacheWrite: 30, Cost: 1250},
	"inspect/document": {Runs: 2, Conversations: 2, User: 4, Assistant: 7, Reasoning: 1, Calls: 4, Results: 4, System: 4,
		Requests: 7, Input: 420, Output: 88, CacheRead: 2630, CacheWrite: 30, Cost: 1250},
	"inspect/retried": {Runs: 3, Conversations: 3, User: 5, Assistant: 8, Reasoning: 1, Calls: 5, Results: 5, System: 4,
		Requests: 8, Input: 430, Output: 92, CacheRead: 2630, CacheWrite: 30, Cost: 1250},
	"inspect/early":  {Runs: 4, Conversations: 3, User: 4, Assistant: 4, Reasoning: 1, Requests: 2, Input: 370, Output: 66, CacheRead: 100},
	"inspect/broken": {Runs: 5, Conversations: 5, Problems: 8, User: 4, Calls: 1, Results: 1, Requests: 4, Input: 12, Output: 4},
	"kiro/rows": {Runs: 1, Conversations: 1, User: 5, Assistant: 5, Reasoning: 1, Calls: 3, Results: 3, System: 2,
		Requests: 1, Input: 120, Output: 17, CacheRead: 900},
	"kiro/saved": {Runs: 2, Conversations: 2, User: 3, Assistant: 3, Reasoning: 1, Calls: 3, Results: 3, System: 3,
		Requests: 1, Input: 120, Output: 17, CacheRead: 900},
	"kiro/log": {Runs: 1, Conversations: 2, Links: 1, User: 5, Assistant: 4, Reasoning: 1, Calls: 2, Results: 2, System: 2,
		Requests: 2, Input: 100, Output: 50, CacheRead: 30},
	"kiro/converted": {Runs: 1, Conversations: 1, Links: 1, User: 2, Assistant: 4, Reasoning: 1, Calls: 1, Results: 1, System: 1},
	"kiro/exported": {Runs: 2, Conversations: 2, User: 3, Assistant: 3, Reasoning: 1, Calls: 2, Results: 2, System: 2,
		Requests: 2, Input: 100, Output: 50, CacheRead: 30},
	"kiro/rewound": {Runs: 1, Conversations: 1, Links: 1, User: 2, Assistant: 2, Reasoning: 1, Calls: 2, Results: 2, System: 1,
		Requests: 2, Input: 100, Output: 50},
	"kiro/messages":       {Runs: 1, Conversations: 3, Links: 2, User: 4, Assistant: 2, Calls: 2, Results: 2, System: 2},
	"kiro/editor":         {Runs: 2, Conversations: 2, Problems: 1, User: 4, Assistant: 6, Calls: 3, Results: 4, System: 1},
	"kiro/broken":         {Runs: 1, Conversations: 1, Problems: 7, User: 2, Calls: 1},
	"amazon-q-ide/agent":  {Runs: 2, Conversations: 2, User: 4, Assistant: 5, Calls: 3, Results: 3, System: 3},
	"amazon-q-ide/early":  {Runs: 2, Conversations: 2, User: 4, Assistant: 4, Calls: 1, Results: 1, System: 1},
	"amazon-q-ide/broken": {Runs: 2, Conversations: 2, Problems: 7, User: 3, Assistant: 2, Calls: 2},
	"amazon-q-ide/loki":   {Runs: 1, Conversations: 1, User: 1, Assistant: 1},
	"atif/harbor": {Runs: 1, Conversations: 2, Links: 1, User: 2, Assistant: 3, Reasoning: 1, Calls: 3, Results: 3, System: 1,
		Requests: 3, Input: 2800, Output: 95, CacheRead: 500, Cost: 33000},
	"atif/converted": {Runs: 4, Conversations: 2, User: 2, Assistant: 2, Calls: 1, Results: 1, Input: 410, Output: 31, CacheRead: 100, Cost: 2000},
	"atif/linear":    {Runs: 1, Conversations: 3, Links: 2, User: 2, Assistant: 3, Requests: 2, Input: 230, Output: 22, CacheRead: 20, Cost: 3000},
	"atif/embedded": {Runs: 1, Conversations: 5, Links: 4, User: 5, Assistant: 5, Calls: 2, Results: 3, System: 2,
		Requests: 5, Input: 679, Output: 74, CacheRead: 100, Cost: 7000},
	"atif/lists":  {Runs: 5, Conversations: 5, User: 5, Assistant: 5, Requests: 4, Input: 117, Output: 14, CacheRead: 30, Cost: 330},
	"atif/broken": {Runs: 4, Conversations: 4, Problems: 6, User: 3, Assistant: 3, Requests: 3, Input: 210, Output: 21},
	"open-webui/rows": {Runs: 3, Conversations: 4, Links: 2, User: 9, Assistant: 11, Reasoning: 2, Calls: 8, Results: 6,
		Requests: 6, Input: 4062, Output: 450, CacheRead: 2500, CacheWrite: 150, Cost: 4250},
	"open-webui/exports": {Runs: 7, Conversations: 7, Links: 1, User: 8, Assistant: 7, Calls: 5, Results: 4,
		Requests: 3, Input: 14, Output: 8},
	"open-webui/broken": {Runs: 4, Conversations: 4, Problems: 6, User: 4, Results: 1},
	"llm-logs/rows": {Runs: 6, Conversations: 6, Links: 1, User: 7, Assistant: 6, Reasoning: 3, Calls: 3, Results: 4, System: 3,
		Requests: 9, Input: 326, Output: 60, CacheRead: 132, CacheWrite: 300, CacheWrite1h: 100},
	"llm-logs/broken": {Runs: 1, Conversations: 1, Problems: 3, User: 1, Assistant: 1, Calls: 2, System: 1, Requests: 2, Input: 8, Output: 1},
	"ollama/rows":     {Runs: 2, Conversations: 2, User: 6, Assistant: 4, Reasoning: 2, Calls: 3, Results: 4, System: 1},
	"ollama/broken":   {Runs: 1, Conversations: 1, Problems: 5, Assistant: 1, Calls: 1, Results: 1},
	"swe-agent/full":  {Runs: 1, Conversations: 1, User: 1, Assistant: 3, Reasoning: 1, Calls: 3, Results: 3, System: 2, Requests: 4, Input: 5120, Output: 211, Cost: 62500},
	"swe-agent/first": {Runs: 3, Conversations: 3, User: 2, Assistant: 6, Calls: 6, Results: 6, System: 4,
		Requests: 15, Input: 90300, Output: 1530, Cost: 1750000},
	"swe-agent/retry": {Runs: 2, Conversations: 2, User: 2, Assistant: 2, Calls: 2, Results: 2, System: 2, Requests: 4, Input: 3400, Output: 34, Cost: 875000},
	"swe-agent/mini": {Runs: 2, Conversations: 2, User: 3, Assistant: 4, Reasoning: 2, Calls: 6, Results: 4, System: 3,
		Requests: 5, Input: 260, Output: 49, CacheRead: 220, CacheWrite: 10, Cost: 38500},
	"swe-agent/mini-first": {Runs: 3, Conversations: 3, User: 5, Assistant: 7, Calls: 5, Results: 5, System: 3,
		Requests: 6, Input: 2800, Output: 80, CacheRead: 400, CacheWrite: 300, CacheWrite1h: 200, Cost: 375000},
	"swe-agent/mini-human": {Runs: 2, Conversations: 2, User: 3, Assistant: 1, Calls: 4, Results: 3, System: 2, Requests: 1, Input: 100, Output: 9, Cost: 10000},
	"swe-agent/broken":     {Runs: 2, Conversations: 2, Problems: 2, User: 1, Assistant: 2, Calls: 2, Results: 2, System: 5},
	"chat-jsonl/sets":      {Runs: 10, Conversations: 10, User: 11, Assistant: 10, Reasoning: 2, Calls: 4, Results: 4, System: 8},
	"chat-jsonl/growing": {Runs: 8, Conversations: 8, User: 13, Assistant: 13, Reasoning: 1, Calls: 1, Results: 1, System: 4,
		Requests: 12, Input: 486, Output: 144, CacheRead: 758, CacheWrite: 50, CacheWrite1h: 30},
	"chat-jsonl/messages": {Runs: 6, Conversations: 6, User: 7, Assistant: 6, Reasoning: 1, Calls: 1, Results: 1, System: 2,
		Requests: 2, Input: 50, Output: 11, CacheRead: 70},
	"chat-jsonl/late":   {Runs: 1, Conversations: 1, Problems: 1, User: 1, Assistant: 1, Requests: 1, Input: 4, Output: 3},
	"chat-jsonl/lists":  {Runs: 2, Conversations: 2, User: 2, Assistant: 1, Calls: 1, Results: 2},
	"chat-jsonl/broken": {Runs: 2, Conversations: 2, Problems: 4, User: 2, Assistant: 1, Calls: 2, Results: 1, Requests: 2, Input: 1},
}

// alone are cases that do not share an archive, with the reason.
var alone = map[string]string{
	"amp/broken": "a thread lies at the top of the source", "openclaw/places": "a session lies at the top of the source",
	"claude-code/layouts": "one log is of Qwen Code", "gemini-cli/log": "one log is of Claude Code",
}

// TestCasesOfAgents ingests the cases of the coding agents, some files before the others, and compares the totals. An archive has one case of
// each format, for most of the time goes into the archives. Of a third of them, others each time, it also expects a reindex to give the same;
// with -cases of all.
func TestCasesOfAgents(t *testing.T) {
	archives := map[string]map[string]string{} // cases, and their directories
	of := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(casesOfAgents)) {
		if alone[name] != "" {
			archives[name] = map[string]string{name: ""}
			continue
		}
		of[path.Dir(name)]++
		n := fmt.Sprint(of[path.Dir(name)])
		if archives[n] == nil {
			archives[n] = map[string]string{}
		}
		archives[n][name] = strings.ReplaceAll(name, "/", "-") + "/"
	}
	for n, dirs := range archives {
		t.Run(n, func(t *testing.T) {
			t.Parallel()
			l := newLife(t, "")
			for name, dir := range dirs {
				home := strings.ReplaceAll(strings.TrimSuffix(path.Dir(name), "-export"), "-", "")
				switch path.Dir(name) {
				case "continue": // a keyword of Go
					home = "continuedev"
				case "grok-export": // grok is Grok Build
					home = "grokexport"
				}
				if err := os.CopyFS(filepath.Join(l.dir, dir), os.DirFS(filepath.Join("format", home, "testdata", path.Base(name), "in"))); err != nil {
					t.Fatal(err)
				}
			}
			l.ingestSomeOf(dirs)
			l.world.ingest("home", l.dir, ".")
			for name := range dirs {
				if got, want := l.totals(path.Dir(name)), casesOfAgents[name]; got != want {
					t.Errorf("%s\n got %+v\nwant %+v", name, got, want)
				}
			}
			if *cases != 1 || l.rand.IntN(3) == 0 {
				l.world.checkReindex(n)
			}
		})
	}
}

// ingestSomeOf ingests one random file of each directory, up to three times.
func (l *life) ingestSomeOf(dirs map[string]string) {
	l.t.Helper()
	all := slices.Sorted(maps.Keys(l.files()))
	for range l.rand.IntN(4) {
		var some []source.Root
		for _, name := range slices.Sorted(maps.Keys(dirs)) {
			files := slices.DeleteFunc(slices.Clone(all), func(p string) bool { return !strings.HasPrefix(p, dirs[name]) })
			some = append(some, source.Root{Source: "home", Dir: l.dir, Below: files[l.rand.IntN(len(files))]})
		}
		if _, err := l.world.Run(l.t.Context(), some); err != nil {
			l.t.Fatal(err)
		}
	}
}

// totals returns the totals of a format.
func (l *life) totals(format string) (s caseTotals) {
	l.t.Helper()
	sums := l.world.totals().Formats[format]
	s = caseTotals{Runs: sums.Runs, Conversations: sums.Conversations, Links: sums.Links, Problems: sums.Problems,
		Calls: sums.ToolCalls, Results: sums.ToolResults, Input: value(sums.Input), Output: value(sums.Output),
		CacheRead: value(sums.CacheRead), CacheWrite: value(sums.CacheCreation), Cost: value(sums.ReportedCost)}
	rows := l.query(`SELECT coalesce(sum(kind = 'message' AND role = 'user'), 0), coalesce(sum(kind = 'message' AND role = 'assistant'), 0),
		coalesce(sum(kind = 'reasoning'), 0), coalesce(sum(role IN ('system', 'developer')), 0), count(*) FROM v_events WHERE counted = 1 AND format = ?`, format)
	events := int64(0)
	fmt.Sscan(rows[0], &s.User, &s.Assistant, &s.Reasoning, &s.System, &events)
	if sum := s.User + s.Assistant + s.Reasoning + s.System + s.Calls + s.Results; events != sum || events != sums.Events {
		l.t.Errorf("%s: %d events, %d by kind, %d in stats", format, events, sum, sums.Events)
	}
	rows = l.query(`SELECT coalesce(sum(requests), 0), coalesce(sum(cache_creation_1h_tokens), 0) FROM v_usage WHERE counted = 1 AND format = ?`, format)
	fmt.Sscan(rows[0], &s.Requests, &s.CacheWrite1h)
	return s
}
