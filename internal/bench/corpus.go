package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// corpus returns the directory of transcripts: the given one, or one that is generated once.
func (o options) corpus(ctx context.Context) (string, error) {
	if o.given != "" {
		_, err := os.Stat(o.given)
		return o.given, err
	}
	return o.generate(ctx, o.mb, o.seed)
}

// generate runs mkcorpus, unless the corpus exists already, and returns its directory.
func (o options) generate(ctx context.Context, mb int, seed uint64) (string, error) {
	if _, err := os.Stat(o.mkcorpus); err != nil {
		return "", fmt.Errorf("the corpus generator is not at %s: name its source directory with -mkcorpus, or a corpus with -corpus", o.mkcorpus)
	}
	text := "plain"
	if o.text != "" {
		text = fmt.Sprintf("%08x", pathHash(o.text))
	}
	dir := filepath.Join(o.dir, fmt.Sprintf("%s-%d-%d-%s", o.format, mb, seed, text))
	if _, err := os.Stat(dir + ".json"); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(o.dir, 0o700); err != nil {
		return "", err
	}
	generator := filepath.Join(o.dir, "mkcorpus")
	build := exec.CommandContext(ctx, "go", "build", "-o", generator, ".")
	build.Dir = o.mkcorpus
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build mkcorpus: %w\n%s", err, out)
	}
	fmt.Fprintf(os.Stderr, "writing %s ...\n", dir)
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	args := []string{"-out", dir, "-format", o.format, "-mb", fmt.Sprint(mb), "-seed", fmt.Sprint(seed)}
	if o.text != "" {
		args = append(args, "-text", o.text)
	}
	summary, err := exec.CommandContext(ctx, generator, args...).Output()
	if err != nil {
		return "", fmt.Errorf("mkcorpus: %w", err)
	}
	return dir, os.WriteFile(dir+".json", summary, 0o600)
}

// treeSize returns the total size of all files below a directory.
func treeSize(dir string) (size int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil {
				size += info.Size()
			}
		}
		return nil // ignore files that vanish meanwhile
	})
	return size
}
