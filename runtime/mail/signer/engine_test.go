package signer

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"errors"
	"strings"
	"sync"
	"testing"
)

var testKey = sync.OnceValue(func() *rsa.PrivateKey { return newKey(2048) })

func newKey(bits int) *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		panic(err)
	}
	return key
}

// openLibcryptoEngine returns an engine that uses libcrypto. It skips the test on a machine without libcrypto.
func openLibcryptoEngine(t testing.TB) *Engine {
	t.Helper()
	engine, err := Open(Libcrypto)
	if err != nil {
		t.Skipf("this machine signs with Go: %s", err)
	}
	return engine
}

func loadKey(t testing.TB, engine *Engine, key crypto.Signer) crypto.Signer {
	t.Helper()
	held, err := engine.Load(key)
	if err != nil {
		t.Fatalf("loading a key returned the error %s, want none", err)
	}
	return held
}

func signature(t testing.TB, key crypto.Signer, text string) []byte {
	t.Helper()
	digest := sha256.Sum256([]byte(text))
	made, err := key.Sign(rand.Reader, digest[:], crypto.SHA256)
	if err != nil {
		t.Fatalf("signing %q returned the error %s, want none", text, err)
	}
	return made
}

func TestEnginesProduceTheSameSignature(t *testing.T) {
	t.Parallel()
	engine := openLibcryptoEngine(t)
	for _, bits := range []int{1024, 2048, 3072, 4096} {
		key := newKey(bits)
		held := loadKey(t, engine, key)
		if _, native := held.(*nativeKey); !native {
			t.Fatalf("an RSA key of %d bits was loaded as %T, want libcrypto's", bits, held)
		}
		if got, want := signature(t, held, "hello"), signature(t, key, "hello"); !bytes.Equal(got, want) {
			t.Errorf("%d bits: libcrypto signed %x, Go signed %x", bits, got, want)
		}
		if public, ok := held.Public().(*rsa.PublicKey); !ok || !public.Equal(key.Public()) {
			t.Errorf("%d bits: the loaded key publishes %v, want the key's own", bits, held.Public())
		}
	}
}

func TestGoSignsWhereLibcryptoCannot(t *testing.T) {
	t.Parallel()
	key := testKey()
	held := loadKey(t, openLibcryptoEngine(t), key)
	digest := sha512.Sum512([]byte("x"))
	made, err := held.Sign(rand.Reader, digest[:], crypto.SHA512)
	if err != nil || rsa.VerifyPKCS1v15(&key.PublicKey, crypto.SHA512, digest[:], made) != nil {
		t.Errorf("signing with SHA-512 returned %v, want a signature that verifies", err)
	}
	short := sha256.Sum256([]byte("x"))
	made, err = held.Sign(rand.Reader, short[:], &rsa.PSSOptions{Hash: crypto.SHA256})
	if err != nil || rsa.VerifyPSS(&key.PublicKey, crypto.SHA256, short[:], made, nil) != nil {
		t.Errorf("signing with PSS returned %v, want a signature that verifies", err)
	}
	if _, err := held.Sign(rand.Reader, short[:5], crypto.SHA256); err == nil {
		t.Error("a digest of 5 bytes was signed, want an error")
	}
}

func TestOtherKeysAreUnchanged(t *testing.T) {
	t.Parallel()
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if got := loadKey(t, openLibcryptoEngine(t), ed); !ed.Equal(got) {
		t.Errorf("an Ed25519 key was loaded as %T, want itself", got)
	}
	for name, engine := range map[string]*Engine{"no engine": nil, "go": mustOpen(t, Go)} {
		if got := loadKey(t, engine, testKey()); got != crypto.Signer(testKey()) {
			t.Errorf("%s: an RSA key was loaded as %T, want itself", name, got)
		}
		if engine.Name() != "Go" || engine.Reason() == "" {
			t.Errorf("%s: the engine is %q and the reason %q, want Go and a reason", name, engine.Name(),
				engine.Reason())
		}
	}
}

func mustOpen(t *testing.T, mode EngineMode) *Engine {
	t.Helper()
	engine, err := Open(mode)
	if err != nil {
		t.Fatalf("Open(%q) returned the error %s, want an engine", mode, err)
	}
	return engine
}

func TestAutoAlwaysOpens(t *testing.T) {
	t.Parallel()
	engine := mustOpen(t, Auto)
	if (engine.Name() == "Go") != (engine.Reason() != "") {
		t.Errorf("the engine is %q and the reason %q, want a reason exactly if Go signs", engine.Name(),
			engine.Reason())
	}
	if _, err := Open("openssl"); err == nil || !strings.Contains(err.Error(), "auto, go, libcrypto") {
		t.Errorf("opening the mode openssl returned %v, want an error that lists the modes", err)
	}
}

// broken is a native implementation that returns a wrong signature or an error.
type broken struct {
	signature []byte
	err       error
}

func (b broken) signDigest([]byte, int) ([]byte, error) { return b.signature, b.err }

func TestSelfTestRejectsAnEngineThatDisagrees(t *testing.T) {
	t.Parallel()
	refuses := errors.New("out of order")
	for name, n := range map[string]*native{
		"another signature": {load: func([]byte) (handle, error) { return broken{signature: make([]byte, 256)}, nil }},
		"no signature":      {load: func([]byte) (handle, error) { return broken{err: refuses}, nil }},
		"no key":            {load: func([]byte) (handle, error) { return nil, refuses }},
	} {
		if err := selfTest(n); err == nil {
			t.Errorf("%s: the self-test passed, want an error", name)
		}
	}
}

func TestGoSignsWhenTheEngineFails(t *testing.T) {
	t.Parallel()
	engine := &Engine{native: &native{load: func([]byte) (handle,
		error) {
		return broken{err: errors.New("out of order")}, nil
	}}}
	if got, want := signature(t, loadKey(t, engine, testKey()), "hello"), signature(t, testKey(),
		"hello"); !bytes.Equal(got, want) {
		t.Errorf("the signature of a failing engine is %x, want Go's %x", got, want)
	}
}

// TestRotationUnderLoad signs with keys that other goroutines load and drop.
func TestRotationUnderLoad(t *testing.T) {
	t.Parallel()
	engine, key := openLibcryptoEngine(t), testKey()
	want := signature(t, key, "hello")
	var current sync.Map
	current.Store("key", loadKey(t, engine, key))
	var signers sync.WaitGroup
	for range 4 {
		signers.Go(func() {
			for range 100 {
				held, _ := current.Load("key")
				digest := sha256.Sum256([]byte("hello"))
				got, err := held.(crypto.Signer).Sign(nil, digest[:], crypto.SHA256)
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("signing while keys rotate returned %x (%v), want %x", got, err, want)
					return
				}
			}
		})
	}
	signers.Go(func() {
		for range 200 {
			held, err := engine.Load(key)
			if err != nil {
				t.Errorf("loading while others sign returned the error %s, want none", err)
				return
			}
			current.Store("key", held)
		}
	})
	signers.Wait()
}

func FuzzEnginesAgree(f *testing.F) {
	engine := openLibcryptoEngine(f)
	key := testKey()
	held := loadKey(f, engine, key)
	f.Add([]byte("hello"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, text []byte) {
		if got, want := signature(t, held, string(text)), signature(t, key, string(text)); !bytes.Equal(got, want) {
			t.Errorf("signing %q: libcrypto %x, Go %x", text, got, want)
		}
	})
}

func BenchmarkSign(b *testing.B) {
	digest := sha256.Sum256([]byte("x"))
	for _, mode := range []EngineMode{Go, Libcrypto} {
		b.Run(string(mode), func(b *testing.B) {
			engine, err := Open(mode)
			if err != nil {
				b.Skip(err)
			}
			key := loadKey(b, engine, testKey())
			b.ReportAllocs()
			for b.Loop() {
				if _, err := key.Sign(nil, digest[:], crypto.SHA256); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
