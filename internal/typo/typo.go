// Package typo finds the word that a misspelt one was probably meant to be.
package typo

import "unicode/utf8"

// Nearest returns the known word that has the fewest edits to word, the first of several; "" if a third of the characters would have to be
// edited, or more.
func Nearest(word string, known []string) string {
	nearest, runes := "", []rune(word)
	least := (len(runes)+1)/3 + 1
	for _, k := range known {
		if n := utf8.RuneCountInString(k); n > len(runes)+least || len(runes) > n+least {
			continue
		}
		if d := Distance(runes, []rune(k)); d < least {
			nearest, least = k, d
		}
	}
	return nearest
}

// Distance returns the edit distance between a and b (optimal string alignment): how many characters must be
// inserted, deleted, replaced or swapped with their neighbour.
func Distance(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row = last, row, before
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
