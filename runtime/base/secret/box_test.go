package secret_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/postrider/postrider/runtime/base/secret"
)

func newBox(t testing.TB, keys ...secret.Key) *secret.Box {
	t.Helper()
	box, err := secret.NewBox(keys...)
	if err != nil {
		t.Fatal(err)
	}
	return box
}

func TestBoxOpensValuesOfTheSameRowOnly(t *testing.T) {
	t.Parallel()
	box := newBox(t, secret.NewKey())
	row := []byte("domains/dom_1")
	for _, plaintext := range [][]byte{{}, []byte("k"), bytes.Repeat([]byte("private key "), 200)} {
		sealed := box.Seal(plaintext, row)
		if len(plaintext) > 4 && bytes.Contains(sealed, plaintext[:4]) {
			t.Fatal("sealed value shows the plaintext")
		}
		if opened, err := box.Open(sealed, row); err != nil || !bytes.Equal(opened, plaintext) {
			t.Fatalf("open = %q, %v", opened, err)
		}
		if again := box.Seal(plaintext, row); bytes.Equal(again, sealed) {
			t.Error("sealing the same value twice returned the same bytes")
		}
		if _, err := box.Open(sealed, []byte("domains/dom_2")); !errors.Is(err, secret.ErrNotGenuine) {
			t.Errorf("open for another row: %v", err)
		}
		for i := range sealed {
			changed := slices.Clone(sealed)
			changed[i] ^= 0x40
			if _, err := box.Open(changed, row); err == nil {
				t.Fatalf("the value opens although byte %d was changed", i)
			}
			if _, err := box.Open(sealed[:i], row); !errors.Is(err, secret.ErrNotGenuine) {
				t.Fatalf("cut to %d bytes: %v", i, err)
			}
		}
	}
}

func TestBoxRotatesKeys(t *testing.T) {
	t.Parallel()
	older, newer := secret.NewKey(), secret.NewKey()
	before, during, after := newBox(t, older), newBox(t, newer, older), newBox(t, newer)
	sealed := before.Seal([]byte("x"), nil)
	if opened, err := during.Open(sealed, nil); err != nil || string(opened) != "x" {
		t.Fatalf("old value under both keys: %q, %v", opened, err)
	}
	fresh := during.Seal([]byte("x"), nil)
	if opened, err := after.Open(fresh, nil); err != nil || string(opened) != "x" {
		t.Fatalf("resealed value under the new key: %q, %v", opened, err)
	}
	if _, err := after.Open(sealed, nil); !errors.Is(err, secret.ErrUnknownKey) {
		t.Errorf("old value without the old key: %v", err)
	}
}

func TestDerivedKeysDifferByPurposeAndMasterKey(t *testing.T) {
	t.Parallel()
	first, second := secret.NewKey(), secret.NewKey()
	box := newBox(t, first)
	cursor := box.Derive("cursor")
	if len(cursor) != 32 || !bytes.Equal(cursor, newBox(t, first, second).Derive("cursor")) {
		t.Error("derivation is not stable under the same first key")
	}
	if bytes.Equal(cursor, box.Derive("link")) || bytes.Equal(cursor, newBox(t, second).Derive("cursor")) {
		t.Error("derivation ignores the purpose or the key")
	}
	each := newBox(t, first, second).DeriveEach("cursor")
	if len(each) != 2 || !bytes.Equal(each[0], cursor) || !bytes.Equal(each[1], newBox(t, second).Derive("cursor")) {
		t.Error("DeriveEach differs from what each key derives as the first")
	}
}

// A different format would make every stored secret unreadable.
func TestSealedFormatIsStable(t *testing.T) {
	t.Parallel()
	keys, err := secret.ParseKeys(secret.New("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="))
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := hex.DecodeString("0141ce33a574f0c214c6ecab4c57226a9f48622eea3ef1b09c180ec504172b1463a539a9ec7b0e00c60871732317d030")
	if err != nil {
		t.Fatal(err)
	}
	opened, err := newBox(t, keys...).Open(sealed, []byte("row"))
	if err != nil || string(opened) != "stored long ago" {
		t.Errorf("open = %q, %v", opened, err)
	}
}

func TestParseKeysReportsEveryInvalidKey(t *testing.T) {
	t.Parallel()
	good, other := secret.NewKey().Setting().Reveal(), secret.NewKey().Setting().Reveal()
	for setting, want := range map[string]int{
		good:                              1,
		strings.TrimRight(good, "="):      1,
		" " + good + " , " + other + "\n": 2,
		strings.NewReplacer("+", "-", "/", "_").Replace(good): 1,
	} {
		if keys, err := secret.ParseKeys(secret.New(setting)); err != nil || len(keys) != want {
			t.Errorf("%d keys, %v, want %d", len(keys), err, want)
		}
	}
	for setting, want := range map[string]string{
		"":                        "no master key",
		" \n":                     "no master key",
		good + ",":                "key 2 of 2 is empty",
		"not base64!":             "key 1 of 1 is not base64",
		"c2hvcnQ=":                "key 1 of 1 has 5 bytes, want 32",
		"c2hvcnQ=,*," + good:      "key 2 of 3 is not base64",
		good + "," + good:         "key 2 repeats key 1",
		other + "," + good + "=x": "key 2 of 2 is not base64",
	} {
		_, err := secret.ParseKeys(secret.New(setting))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the setting was rejected with %v, want %q", err, want)
		}
		if err != nil && strings.Contains(err.Error(), good) {
			t.Errorf("the error shows a key: %v", err)
		}
	}
	if _, err := secret.NewBox(); err == nil {
		t.Error("a box without keys")
	}
	if _, err := secret.NewBox(secret.Key{}); err == nil {
		t.Error("a box with an empty key")
	}
}

func TestKeyFileIsCreatedOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "master.key")
	var wait sync.WaitGroup
	got := make([]secret.String, 16)
	for i := range got {
		wait.Go(func() {
			setting, err := secret.KeyFile(path)
			if err != nil {
				t.Error(err)
			}
			got[i] = setting
		})
	}
	wait.Wait()
	for _, setting := range got {
		if !setting.Equal(got[0]) {
			t.Fatal("processes that start concurrently got different keys")
		}
	}
	if _, err := secret.ParseKeys(got[0]); err != nil {
		t.Error(err)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("files left: %v, %v", left, err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := secret.KeyFile(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("key file readable by all: %v", err)
	}
	if _, err := secret.KeyFile(filepath.Join(path, "below", "a-file")); err == nil {
		t.Error("no error for a missing folder")
	}
}

func FuzzOpen(f *testing.F) {
	box := newBox(f, secret.NewKey(), secret.NewKey())
	genuine := box.Seal([]byte("plain"), []byte("row"))
	f.Add(genuine, []byte("row"))
	f.Add(genuine[:8], []byte("row"))
	f.Add([]byte{}, []byte{})
	f.Add([]byte{1, 0, 0, 0, 0}, []byte{})
	f.Fuzz(func(t *testing.T, sealed, associatedData []byte) {
		opened, err := box.Open(sealed, associatedData)
		if err != nil {
			if !errors.Is(err, secret.ErrUnknownKey) && !errors.Is(err, secret.ErrNotGenuine) {
				t.Fatalf("unexpected error %v", err)
			}
			return
		}
		if !bytes.Equal(sealed, genuine) || string(associatedData) != "row" || string(opened) != "plain" {
			t.Fatalf("opened a forgery: %x for %q returned %q", sealed, associatedData, opened)
		}
	})
}
