package programs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/rollcall-dev/rollcall/hack/localcluster/internal/lock"
)

// CacheVariable names the environment variable that moves the cache from the user's cache folder.
const CacheVariable = "ROLLCALL_CACHE"

// CacheRoot returns the folder below which everything that is built is kept.
func CacheRoot() (string, error) {
	if dir := os.Getenv(CacheVariable); dir != "" {
		return filepath.Abs(dir)
	}
	if dir := os.Getenv("XDG_CACHE_HOME"); dir != "" {
		return filepath.Join(dir, "rollcall", "localcluster"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the cache folder (or set %s): %w", CacheVariable, err)
	}
	return filepath.Join(home, ".cache", "rollcall", "localcluster"), nil
}

// Find returns the programs if they are there already: in the folder that AssetsVariable names, if it holds all of
// them, or in the cache. It builds nothing.
func Find() (Set, error) {
	if dir := os.Getenv(AssetsVariable); dir != "" {
		if set, err := In(dir); err == nil {
			return set, nil
		}
	}
	dir, _, err := cachePlace()
	if err != nil {
		return Set{}, err
	}
	return In(dir)
}

// Ensure returns the programs and builds them first where Find has none. Of several processes that come at once one
// builds and the others wait for it.
func Ensure(ctx context.Context, progress *Progress) (Set, error) {
	if set, err := Find(); err == nil {
		return set, nil
	}
	if dir := os.Getenv(AssetsVariable); dir != "" {
		_, err := In(dir)
		progress.Step("%s is not used: %v", AssetsVariable, err)
	}
	dir, source, err := cachePlace()
	if err != nil {
		return Set{}, err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return Set{}, fmt.Errorf("make the cache folder: %w", err)
	}
	held, err := lock.Acquire(ctx, dir+".lock", func() { progress.Running("another process is building; waiting for it") })
	if err != nil {
		return Set{}, err
	}
	defer held.Release()
	if set, err := In(dir); err == nil {
		return set, nil
	}
	if err := buildInto(ctx, source, dir, progress); err != nil {
		return Set{}, err
	}
	return In(dir)
}

// cachePlace returns the folder in which the present source's programs belong.
func cachePlace() (string, Source, error) {
	root, err := CacheRoot()
	if err != nil {
		return "", Source{}, err
	}
	source, err := FindSource()
	if err != nil {
		return "", Source{}, err
	}
	key, err := source.Key()
	if err != nil {
		return "", Source{}, err
	}
	return filepath.Join(root, key), source, nil
}

// buildInto builds beside dir and moves the result there when it is complete.
func buildInto(ctx context.Context, source Source, dir string, progress *Progress) error {
	unfinished := dir + ".unfinished"
	// Only the holder of the lock gets here, so what is left of an earlier attempt belongs to nobody.
	if err := errors.Join(os.RemoveAll(unfinished), os.RemoveAll(dir)); err != nil {
		return fmt.Errorf("clear the cache folder: %w", err)
	}
	if err := os.MkdirAll(unfinished, 0o755); err != nil {
		return fmt.Errorf("make the cache folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(unfinished) }()
	if err := build(ctx, source, unfinished, progress); err != nil {
		return err
	}
	if err := os.Rename(unfinished, dir); err != nil {
		return fmt.Errorf("move the programs into place: %w", err)
	}
	progress.Step("the programs are in %s", dir)
	return nil
}
