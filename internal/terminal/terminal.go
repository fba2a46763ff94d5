// Package terminal is what a program that talks to people on a terminal needs, and knows nothing of archives: it makes untrusted text
// harmless, measures, shortens and wraps text by columns, formats numbers, prints tables that fit the terminal, shows progress, and
// runs a pager. What it returns for a width of 0 is whole: so a pipe gets it.
package terminal
