package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/price"
	"github.com/txarchive/txarchive/internal/terminal"
)

// maxTable is how many bytes a price table may have. That of LiteLLM has two megabytes.
const maxTable = 64 << 20

// fetchTime is the timeout of a download.
const fetchTime = time.Minute

func newPricesUpdateCommand(a *app) *cobra.Command {
	var date string
	cmd := &cobra.Command{
		Use: "update FILE|URL", Short: "Add a newer price table",
		Long: "Add a price table of all models that applies from a given day on. It can be a copy of LiteLLM's\n" +
			"model_prices_and_context_window.json, or a table written by internal/price/gen. Requests before that day keep their\n" +
			"prices. A URL is fetched once, by curl; txarchive itself has no network code. The table is published at\n" +
			"https://raw.githubusercontent.com/BerriAI/litellm/main/model_prices_and_context_window.json" + pricesKept +
			exitCodes("4 no such file", changesPrices, "11 another txarchive is writing"),
		Example: "  txarchive prices update model_prices_and_context_window.json --date 2026-11-01\n" +
			"  txarchive prices update https://raw.githubusercontent.com/BerriAI/litellm/main/model_prices_and_context_window.json",
		Args: argCount(1, 1),
		RunE: func(cmd *cobra.Command, v []string) error {
			day, err := parseDay(date, a.Now())
			if err != nil {
				return err
			}
			body, err := readTable(cmd.Context(), v[0])
			if err != nil {
				return err
			}
			table, err := a.parseTable(body, v[0], day.Format(time.DateOnly))
			if err != nil {
				return err
			}
			return runPricesChange(cmd.Context(), a, func(*archive.Archive) ([]blob.Fact, error) {
				var text strings.Builder
				if err := price.Encode(&text, table); err != nil {
					return nil, err
				}
				f, err := a.newFact(index.FactPriceTable, table.Date, index.PriceTable{Table: text.String()})
				return []blob.Fact{f}, err
			})
		},
	}
	cmd.Flags().StringVar(&date, "date", "", "apply the prices from this `DAY` on, YYYY-MM-DD in UTC (default today, or the date in the table)")
	return cmd
}

// parseTable parses a table in either format.
func (a *app) parseTable(body []byte, from, day string) (table price.Table, err error) {
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) {
		var skipped []string
		if table, skipped, err = price.FromLiteLLM(bytes.NewReader(body), day); err == nil && len(skipped) > 0 {
			a.Note("skipped %s that cannot be used, the first is %s", terminal.Plural(len(skipped), "model", "models"), skipped[0])
		}
	} else {
		table, err = price.Parse(bytes.NewReader(body))
	}
	if err != nil {
		return table, failure.Usage(fmt.Sprintf("%s: %v", from, err), "prices update takes LiteLLM's model_prices_and_context_window.json; for prices of your own use `prices import`")
	}
	return table, nil
}

// readTable reads a file, or downloads a URL.
func readTable(ctx context.Context, from string) ([]byte, error) {
	if u, err := url.Parse(from); err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" {
		return fetch(ctx, u)
	}
	file, err := os.Open(from)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readBounded(file, from)
}

// fetch downloads a URL with curl, which every system has or can have. The program itself has no network code: that makes it easier to
// trust with an archive, and every command starts a sixth sooner.
func fetch(ctx context.Context, u *url.URL) ([]byte, error) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		return nil, failure.Usage("curl, which is needed to fetch prices, was not found", "fetch "+u.Redacted()+" yourself and name the file")
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	redirects := "=https"
	if u.Scheme == "http" {
		redirects = "=http,https"
	}
	cmd := exec.CommandContext(ctx, curl, "-q", "--fail", "--silent", "--show-error", "--location", "--globoff", "--proto", "=http,https", "--proto-redir", redirects, "--config", "-")
	cmd.Stdin = strings.NewReader(`url = "` + curlEscape.Replace(u.String()) + `"` + "\n") // not as an argument: a list of processes would show a password in it
	var body, said limitedBuffer
	cmd.Stdout, cmd.Stderr = &body, &said
	cmd.WaitDelay = time.Second // for children of curl that keep the pipe open, if curl is a wrapper script
	err = cmd.Run()
	if body.over {
		return nil, tooLarge(u.Redacted())
	}
	if err != nil {
		password, _ := u.User.Password()
		why := strings.ReplaceAll(strings.TrimSpace(said.String()), u.String(), u.Redacted())
		if password != "" {
			why = strings.ReplaceAll(why, password, "xxxxx")
		}
		return nil, fmt.Errorf("fetch prices: %s: %w: %s", u.Redacted(), cmp.Or(ctx.Err(), err), why)
	}
	return body.Bytes(), nil
}

// limitedBuffer is a buffer for at most maxTable bytes.
type limitedBuffer struct {
	bytes.Buffer
	over bool
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	if b.over = b.Len()+len(p) > maxTable; b.over {
		return 0, io.ErrShortWrite
	}
	return b.Buffer.Write(p)
}

func tooLarge(from string) error {
	return failure.Usage(fmt.Sprintf("%s is larger than %d MB", from, maxTable>>20), "a price table is a few megabytes")
}

// curlEscape escapes text for quotes in a config file of curl.
var curlEscape = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

func readBounded(r io.Reader, from string) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, maxTable+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", from, err)
	}
	if len(body) > maxTable {
		return nil, tooLarge(from)
	}
	return body, nil
}
