//go:build race

package main

// raced says that the tests, and the program that they build, look for data races.
const raced = true
