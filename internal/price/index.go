package price

import (
	"slices"
	"strings"
)

// Rule says how a model name matched its row. Earlier rules in the list below are closer matches.
type Rule string

// The rules, in the order in which they are tried.
const (
	RuleExact         Rule = "exact"
	RuleDashes        Rule = "dots as dashes"
	RuleCase          Rule = "case"
	RuleFast          Rule = "fast mode"             // Claude: the name is that of the row with -fast, and the row prices fast mode
	RuleCanonical     Rule = "punctuation"           // letters and digits agree, provider as asked or none
	RuleUndecorated   Rule = "without [...] suffix"  // as RuleCanonical; also without -thinking, -latest and the like of Claude
	RuleUndated       Rule = "without date"          // the name states a release date, the row none
	RuleDated         Rule = "dated row"             // the row states a release date, the name none
	RulePreview       Rule = "preview"               // Gemini: the row is that of the preview, which the name does not mention
	RuleMaker         Rule = "maker"                 // of several prices for an unqualified name, that of the model's maker
	RuleOtherProvider Rule = "other provider"        // the only price for an unqualified name is a reseller's, and not 0
	RuleRegion        Rule = "without region prefix" // Bedrock: the row is that of the model without its region
)

// table is a Table with its indexes. Values are positions in Entries.
type table struct {
	Table
	exact    map[string]int32
	lower    map[string][]int32
	canon    map[string][]int32
	dateless map[string][]int32 // canonical form without its date, only keys that have one
}

func newTable(t Table) *table {
	n := len(t.Entries)
	x := &table{Table: t, exact: make(map[string]int32, n), lower: make(map[string][]int32, n),
		canon: make(map[string][]int32, n), dateless: make(map[string][]int32)}
	slab := make([]int32, 2*n) // most lists have one element
	for i := range t.Entries {
		key, id := t.Entries[i].Key, int32(i)
		x.exact[key] = id
		add(x.lower, strings.ToLower(key), id, slab[2*i:2*i+1:2*i+1])
		add(x.canon, canonical(key), id, slab[2*i+1:2*i+2:2*i+2])
		if u, ok := undated(key); ok {
			add(x.dateless, canonical(u), id, make([]int32, 1))
		}
	}
	return x
}

// add appends id to the list of key. slot is the memory for a new list, of length one.
func add(m map[string][]int32, key string, id int32, slot []int32) {
	if have, ok := m[key]; ok {
		m[key] = append(have, id)
		return
	}
	slot[0] = id
	m[key] = slot
}

// found is the result of looking up a name in a table.
type found struct {
	entry     *Entry
	rule      Rule
	ambiguous []string // keys that match equally well but differ in price
	region    int64    // for RuleRegion: factor in millionths
}

func (f found) none() bool { return f.entry == nil && f.ambiguous == nil }

// find resolves a name by the rules in order. It stops at the first rule that finds anything: two different prices
// under one rule leave the name unresolved rather than guessed.
func (x *table) find(model, provider string) found {
	qualified := qualify(model, provider)
	asked := canonicalProvider(qualified)
	if key, ok := providerKeys[asked]; ok {
		asked = alnum(key)
	}
	if qualified != model {
		if f := x.literal(qualified); !f.none() {
			return f
		}
		if f := x.byCanon(qualified, asked, sameProvider); !f.none() {
			return f
		}
	}
	if localProviders[alnum(provider)] {
		return found{}
	}
	if f := x.literal(model); !f.none() {
		return f
	}
	if base, ok := unhurried(model); ok {
		if f := x.find(base, provider); f.entry != nil && hasFastFactor(f.entry) {
			f.rule = RuleFast
			return f
		}
	}
	if f := x.byCanon(model, asked, sameProvider, unqualified, otherProvider); !f.none() {
		return f
	}
	return x.byRegion(model)
}

func (x *table) literal(name string) found {
	if i, ok := x.exact[name]; ok {
		return found{entry: &x.Entries[i], rule: RuleExact}
	}
	dashes := strings.ReplaceAll(name, ".", "-")
	if i, ok := x.exact[dashes]; ok {
		return found{entry: &x.Entries[i], rule: RuleDashes}
	}
	for _, n := range []string{name, dashes} {
		if f := x.pick(x.lower[strings.ToLower(n)], RuleCase, nil); !f.none() {
			return f
		}
	}
	return found{}
}

// rank reports whether a key is considered for a name whose provider is asked ("" for an unqualified name).
type rank func(asked, key string) bool

func sameProvider(asked, key string) bool  { return key != "" && key == asked }
func unqualified(_, key string) bool       { return key == "" }
func otherProvider(asked, key string) bool { return asked == "" && key != "" }

func (x *table) byCanon(name, asked string, ranks ...rank) found {
	plain := undecorated(name)
	short, dated := undated(plain)
	forms := []struct {
		name string
		rule Rule
		skip bool
	}{
		{name, RuleCanonical, false}, {plain, RuleUndecorated, plain == name}, {short, RuleUndated, !dated},
	}
	for _, form := range forms {
		c := canonical(form.name)
		if form.skip || c == "" {
			continue
		}
		for i, r := range ranks {
			rule := form.rule
			if i == 2 { // the vendor's own row of a release, a preview or an undecorated name is closer than a reseller's
				if f := x.datedRow(c, asked, dated); !f.none() {
					return f
				}
				if f := x.previewRow(c, asked); !f.none() {
					return f
				}
				if form.rule == RuleCanonical && plain != name {
					break
				}
				made := func(e *Entry) bool { return asked == "" && e.Priced() && isMaker(canonicalProvider(e.Key), c) }
				if f := x.pick(x.canon[c], RuleMaker, made); !f.none() {
					return f
				}
				rule = RuleOtherProvider
			}
			keep := func(e *Entry) bool {
				key := canonicalProvider(e.Key)
				if key == "" && ofBedrock(e, form.name) {
					return strings.HasPrefix(asked, "bedrock")
				}
				return r(asked, key)
			}
			f := x.pick(x.canon[c], rule, keep)
			if rule == RuleOtherProvider && f.entry != nil && f.entry.free() {
				return found{} // free there, or its price is unknown: not a price for other providers
			}
			if !f.none() {
				return f
			}
		}
	}
	return found{}
}

// datedRow matches an undated name to a row with a release date.
func (x *table) datedRow(c, asked string, dated bool) found {
	if dated {
		return found{} // one release must not be priced as another
	}
	for _, r := range []rank{sameProvider, unqualified} {
		keep := func(e *Entry) bool { return r(asked, canonicalProvider(e.Key)) }
		if f := x.pick(x.dateless[c], RuleDated, keep); !f.none() {
			return f
		}
	}
	return found{}
}

// previewRow matches the name of a Gemini model to the row of its preview, as which Google sells some for long.
func (x *table) previewRow(c, asked string) found {
	if !strings.HasPrefix(c, "gemini") {
		return found{}
	}
	for _, r := range []rank{sameProvider, unqualified} {
		if f := x.pick(x.canon[c+"preview"], RulePreview, func(e *Entry) bool { return r(asked, canonicalProvider(e.Key)) }); !f.none() {
			return f
		}
	}
	return found{}
}

// pick returns the only entry of ids that keep accepts. Several entries with the same prices count as one.
func (x *table) pick(ids []int32, rule Rule, keep func(*Entry) bool) found {
	var f found
	var keys []string
	same := true
	for _, i := range ids {
		e := &x.Entries[i]
		if keep != nil && !keep(e) {
			continue
		}
		keys = append(keys, e.Key)
		if f.entry == nil {
			f = found{entry: e, rule: rule}
		} else if !f.entry.samePrices(e) {
			same = false
		}
	}
	if !same {
		return found{ambiguous: slices.Sorted(slices.Values(keys))}
	}
	return f
}

// byRegion prices a Bedrock name whose region has no row by the row without region. The factor is that of a sibling
// region in the table, because only the newer models cost more in a region.
func (x *table) byRegion(model string) found {
	region, rest, ok := splitRegion(undecorated(model))
	if !ok {
		return found{}
	}
	i, ok := x.exact[rest]
	if !ok {
		return found{}
	}
	f := found{entry: &x.Entries[i], rule: RuleRegion, region: one}
	if region == "global" || region == "apac" {
		return f
	}
	base, _ := f.entry.rate(Input, Standard, 0)
	for _, sibling := range []string{"us.", "eu.", "jp.", "au."} {
		if j, ok := x.exact[sibling+rest]; ok {
			if in, ok := x.Entries[j].rate(Input, Standard, 0); ok && base > 0 {
				f.region, _ = mulDiv(in, one, base)
				return f
			}
		}
	}
	return f
}
