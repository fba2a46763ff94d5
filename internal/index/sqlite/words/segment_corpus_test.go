package words

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/lexicon"
	"github.com/txarchive/txarchive/internal/index/sqlite/write"
)

// corpus makes rows of words for the full-text index.
type corpus struct {
	*rand.Rand
	words []string
	zipf  *rand.Zipf
	used  map[int64]bool
	terms [2]*lexicon.Interner // rows have the numbers of one or of the other
}

func newCorpus(seed uint64, words int) *corpus {
	c := &corpus{Rand: rand.New(rand.NewPCG(seed, 1)), used: map[int64]bool{}}
	for i := range c.terms {
		c.terms[i] = lexicon.NewInterner(&lexicon.Lexicon{})
		c.terms[i].Start()
	}
	c.zipf = rand.NewZipf(c.Rand, 1.1, 3, uint64(words-1))
	for i := range words {
		c.words = append(c.words, c.word(i))
	}
	return c
}

// word gives terms of every kind: short and long, sharing their first eight bytes or all but the last, beyond ASCII.
func (c *corpus) word(i int) string {
	switch c.IntN(9) {
	case 0:
		return fmt.Sprint(i)
	case 1:
		return fmt.Sprintf("internal%d", i%40)
	case 2:
		return fmt.Sprintf("internationalisation%d", i)
	case 3:
		return string(rune(0x4e00 + i%5000))
	case 4:
		return "größe" + fmt.Sprint(i%100)
	case 5:
		return ":tool:" + fmt.Sprintf("%x", i*7919)
	case 6:
		return "abcdefgh"[:1+i%8]
	case 7:
		return "abcdefgh" + strings.Repeat("i", i%9)
	}
	b := make([]byte, 1+c.IntN(12))
	for i := range b {
		b[i] = byte('a' + c.IntN(26))
	}
	return string(b)
}

func (c *corpus) text(words int) string {
	var b strings.Builder
	for i := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(c.words[c.zipf.Uint64()])
	}
	return b.String()
}

// odd gives texts as no original is likely to.
func (c *corpus) odd() string {
	switch c.IntN(4) {
	case 0:
		return strings.Repeat("x", 32766+c.IntN(3)) + " " + strings.Repeat("é", 16000)
	case 1:
		return strings.Repeat("same ", 1+c.IntN(3000)) + "end"
	case 2:
		return c.text(1) + " " + c.text(20000)
	}
	return ""
}

// row makes a row of words.
func (c *corpus) row(id int64, t, x string) write.Row {
	r := write.Row{Row: &index.Row{}, ID: id}
	terms := c.terms[c.IntN(2)]
	r.T, r.Words = terms.Append(terms.Append(nil, []byte(x)), []byte(t)), terms.Words()
	return r
}

// rows gives n rows with free ids in rising order, some of them below those of earlier rows.
func (c *corpus) rows(n int) []write.Row {
	id := int64(c.IntN(3)) * int64(c.IntN(500000)) << 20
	var rows []write.Row
	for range n {
		step := int64(1)
		if c.IntN(20) == 0 {
			step += c.Int64N(1 << 20)
		}
		if c.IntN(400) == 0 {
			step += c.Int64N(1 << 32)
		}
		for id += step; c.used[id]; id++ {
		}
		c.used[id] = true
		t, x := c.text(c.IntN(60)), ":format:claude :kind:message"
		if n := c.IntN(15); 0 < n && n < 5 {
			x += " " + c.text(n)
		}
		switch c.IntN(300) {
		case 0:
			t = c.odd()
		case 1:
			t, x = "", ""
		}
		rows = append(rows, c.row(id, t, x))
	}
	return rows
}

// query gives something to MATCH: terms, phrases, prefixes, columns and their combinations.
func (c *corpus) query() string {
	w := func() string { return `"` + c.words[c.zipf.Uint64()] + `"` }
	switch c.IntN(8) {
	case 0:
		return w() + " + " + w()
	case 1:
		p := c.words[c.zipf.Uint64()]
		if p[0] < 0x80 {
			p = p[:1+c.IntN(len(p))]
		}
		return `"` + p + `" *`
	case 2:
		return "t: " + w() + " AND t: \":kind:message\""
	case 3:
		return w() + " NOT " + w()
	case 4:
		return "t: " + w() + " OR " + w()
	case 5:
		return "NEAR(" + w() + " " + w() + ", 3)"
	case 6:
		return "^ " + w()
	}
	return w()
}
