//go:build linux && (amd64 || arm64) && !nolibcrypto

package signer

import (
	"runtime"
	"testing"
	"time"

	"github.com/ebitengine/purego"
)

// TestKeysAreFreed drops loaded keys and counts what libcrypto still holds.
func TestKeysAreFreed(t *testing.T) {
	t.Parallel()
	openLibcryptoEngine(t)
	lib := bindTestLibrary(t)
	engine := &Engine{native: lib.newNative()}
	for range 50 {
		if got := signature(t, loadKey(t, engine, testKey()), "x"); len(got) != 256 {
			t.Fatalf("the signature has %d bytes, want 256", len(got))
		}
	}
	deadline := time.Now().Add(2 * time.Minute)
	for lib.held.Load() > 0 && time.Now().Before(deadline) {
		runtime.GC() // cleanups run concurrently with the collector
		runtime.Gosched()
	}
	if held := lib.held.Load(); held != 0 {
		t.Errorf("libcrypto holds %d of 50 keys that were dropped, want 0", held)
	}
}

func TestDamagedKeysAreRefused(t *testing.T) {
	t.Parallel()
	openLibcryptoEngine(t)
	lib := bindTestLibrary(t)
	for name, der := range map[string][]byte{"no bytes": {}, "noise": []byte("not a key"),
		"cut": {0x30, 0x82, 0x04, 0xbd}} {
		if _, err := lib.loadKey(der); err == nil {
			t.Errorf("%s: was read as a key, want an error", name)
		}
	}
	if held := lib.held.Load(); held != 0 {
		t.Errorf("libcrypto holds %d keys after damaged ones only, want 0", held)
	}
}

func bindTestLibrary(t *testing.T) *libcrypto {
	t.Helper()
	for _, name := range sonames {
		handle, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err != nil {
			continue
		}
		lib, err := bindLibrary(handle)
		if err != nil {
			t.Fatalf("%s was opened but lacks a function: %s", name, err)
		}
		return lib
	}
	t.Fatal("libcrypto was opened before but is not found now")
	return nil
}
