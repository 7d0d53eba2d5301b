package faults

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// BinaryVariable names the program to test. If it is empty, the program is built.
const BinaryVariable = "POSTRIDER_TEST_BINARY"

// built is the program, in a folder that RemoveBinary deletes.
var built = sync.OnceValues(func() (string, error) {
	if given := os.Getenv(BinaryVariable); given != "" {
		return filepath.Abs(given)
	}
	folder, err := os.MkdirTemp("", "postrider-faults-")
	if err != nil {
		return "", err
	}
	file := filepath.Join(folder, "postrider")
	if output, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", file,
		"github.com/postrider/postrider/cmd/postrider").CombinedOutput(); err != nil {
		return file, fmt.Errorf("build postrider: %w: %s", err, output)
	}
	return file, nil
})

func binary(t testing.TB) string {
	t.Helper()
	file, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// RemoveBinary deletes the built program. TestMain calls it.
func RemoveBinary() error {
	file, err := built()
	if os.Getenv(BinaryVariable) != "" || file == "" {
		return err
	}
	return os.RemoveAll(filepath.Dir(file))
}
