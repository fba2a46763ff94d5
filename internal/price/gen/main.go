// Command gen makes the dated price table that package price embeds, from a copy of LiteLLM's
// model_prices_and_context_window.json (MIT, Berri AI; https://github.com/BerriAI/litellm):
//
//	go run ./internal/price/gen -in FILE -date YYYY-MM-DD -out internal/price/prices_YYYY-MM-DD.tsv
//
// The date is the day on which the copy was taken. The same input gives the same output.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"

	"github.com/txarchive/txarchive/internal/price"
)

func main() {
	in := flag.String("in", "", "LiteLLM price file")
	date := flag.String("date", "", "day of the prices, YYYY-MM-DD")
	out := flag.String("out", "", "table to write")
	flag.Parse()
	if err := run(*in, *date, *out); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(in, date, out string) error {
	if in == "" || date == "" || out == "" {
		return fmt.Errorf("-in, -date and -out are needed")
	}
	f, err := os.Open(in)
	if err != nil {
		return err
	}
	defer f.Close()
	table, skipped, err := price.FromLiteLLM(f, date)
	if err != nil {
		return err
	}
	for _, s := range skipped {
		fmt.Fprintln(os.Stderr, "skipped", s)
	}
	var b bytes.Buffer
	if err := price.Encode(&b, table); err != nil {
		return err
	}
	return os.WriteFile(out, b.Bytes(), 0o644)
}
