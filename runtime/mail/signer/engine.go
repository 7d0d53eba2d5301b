package signer

import (
	"bytes"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"sync"
)

// EngineMode selects the engine.
type EngineMode string

// The values of POSTRIDER_SIGNER.
const (
	Auto      EngineMode = "auto"      // libcrypto if it is found and agrees with Go, else Go
	Go        EngineMode = "go"        // Go alone
	Libcrypto EngineMode = "libcrypto" // libcrypto, or Open fails
)

// Modes lists the values of POSTRIDER_SIGNER.
var Modes = []EngineMode{Auto, Go, Libcrypto}

// Engine creates signatures. It is safe for concurrent use.
type Engine struct {
	native *native // nil if Go signs
	why    string  // why libcrypto is not used
}

// native is an RSA implementation outside of Go.
type native struct {
	name string // with its version
	// load loads a PKCS #8 key. The result signs SHA-256 digests with PKCS #1 v1.5.
	load func(der []byte) (handle, error)
}

// handle is a key held by a native implementation. It frees itself.
type handle interface {
	signDigest(digest []byte, size int) ([]byte, error)
}

// Open returns the engine for a mode. With Libcrypto it fails if libcrypto is not found or disagrees with Go.
// With Auto it falls back to Go, and Reason returns why.
func Open(mode EngineMode) (*Engine, error) {
	switch mode {
	case Go:
		return &Engine{why: "POSTRIDER_SIGNER is go"}, nil
	case Auto, Libcrypto:
	default:
		return nil, fmt.Errorf("signer %q must be one of auto, go, libcrypto", mode)
	}
	found, err := tested()
	switch {
	case err == nil:
		return &Engine{native: found}, nil
	case mode == Auto:
		return &Engine{why: err.Error()}, nil
	}
	return nil, fmt.Errorf("open libcrypto: %w", err)
}

// Name returns the name of the implementation, with the version of libcrypto.
func (e *Engine) Name() string {
	if e == nil || e.native == nil {
		return "Go"
	}
	return e.native.name
}

// Reason returns why Go signs; "" with libcrypto.
func (e *Engine) Reason() string {
	if e == nil {
		return "no engine was opened"
	}
	return e.why
}

// Load returns the key in the form that the engine uses. Keys other than RSA, and all keys if Go signs, are
// returned unchanged. A nil engine signs with Go.
func (e *Engine) Load(key crypto.Signer) (crypto.Signer, error) {
	private, ok := key.(*rsa.PrivateKey)
	if e == nil || e.native == nil || !ok {
		return key, nil
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, errors.New("load signing key: the key has no PKCS #8 form")
	}
	defer clear(der)
	held, err := e.native.load(der)
	if err != nil {
		return nil, fmt.Errorf("load signing key: %w", err)
	}
	return &nativeKey{PrivateKey: private, handle: held}, nil
}

// nativeKey signs DKIM digests with the native implementation, and everything else with Go.
type nativeKey struct {
	*rsa.PrivateKey

	handle handle
}

// Sign signs a digest with PKCS #1 v1.5. If the native implementation fails for a SHA-256 digest, Go signs
// it, so that mail is still sent.
func (k *nativeKey) Sign(random io.Reader, digest []byte, opts crypto.SignerOpts) ([]byte, error) {
	if _, pss := opts.(*rsa.PSSOptions); !pss && opts.HashFunc() == crypto.SHA256 && len(digest) == sha256.Size {
		if signature, err := k.handle.signDigest(digest, k.Size()); err == nil {
			return signature, nil
		}
	}
	return k.PrivateKey.Sign(random, digest, opts)
}

// tested is libcrypto after the self-test, which runs once per process.
var tested = sync.OnceValues(func() (*native, error) {
	found, err := openLibcrypto()
	if err == nil {
		err = selfTest(found)
	}
	return found, err
})

// selfTestKey is an RSA-2048 key in PKCS #8 that signs nothing but the self-test: generating a key would take
// up to half a second at each start.
//
//go:embed selftest.der
var selfTestKey []byte

// selfTest compares a signature of the native implementation with Go's.
func selfTest(n *native) error {
	parsed, err := x509.ParsePKCS8PrivateKey(selfTestKey)
	if err != nil {
		return err
	}
	key, ok := parsed.(*rsa.PrivateKey)
	if !ok {
		return fmt.Errorf("the key of the self-test is a %T", parsed)
	}
	held, err := n.load(selfTestKey)
	if err != nil {
		return fmt.Errorf("%s: %w", n.name, err)
	}
	digest := sha256.Sum256([]byte("both sign this"))
	got, err := held.signDigest(digest[:], key.Size())
	if err != nil {
		return fmt.Errorf("%s: %w", n.name, err)
	}
	want, err := rsa.SignPKCS1v15(nil, key, crypto.SHA256, digest[:])
	if err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("%s and Go produce different signatures", n.name)
	}
	return nil
}
