package postgres

import (
	"path/filepath"
	"syscall"
	"testing"
)

// A program that is being started has a copy of each open file until its own code begins. The copies do not
// lock a data directory that was released, whether by the service or by a command that checked its holder.
func TestInheritedLockDoesNotBlock(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	for range 2 {
		lock, err := acquireLock(filepath.Join(data, "postgres.lock"))
		if err != nil {
			t.Fatal(err)
		}
		copied, err := syscall.Dup(int(lock.file.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = syscall.Close(copied) })
		if err := lock.release(); err != nil {
			t.Fatal(err)
		}
		if holder, _, err := Holder(data); holder != 0 || err != nil {
			t.Errorf("the data directory is held by %d, %v", holder, err)
		}
	}
}
