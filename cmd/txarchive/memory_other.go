//go:build !linux

package main

func useHugePages() {} // other systems have no way to ask for them, or need none
