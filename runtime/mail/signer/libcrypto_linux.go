//go:build linux && (amd64 || arm64) && !nolibcrypto

package signer

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/ebitengine/purego"
)

// sonames are the versions of libcrypto that have all functions, the newest first.
var sonames = []string{"libcrypto.so.3", "libcrypto.so.1.1"}

// libcrypto holds the OpenSSL functions for signing. Pointers owned by OpenSSL are uintptr, because the
// garbage collector must not follow them.
type libcrypto struct {
	versionText func(kind int32) string

	readKey  func(out uintptr, der *unsafe.Pointer, length int) uintptr // d2i_AutoPrivateKey
	freeKey  func(key uintptr)
	newCtx   func(key, engine uintptr) uintptr
	freeCtx  func(ctx uintptr)
	initSign func(ctx uintptr) int32
	control  func(ctx uintptr, name, value string) int32
	sign     func(ctx uintptr, signature *byte, length *uint, digest *byte, digestLength uint) int32
	forget   func() // drops the errors that OpenSSL queued for this thread

	held atomic.Int64 // loaded keys that are not freed yet
}

// openLibcrypto opens the machine's libcrypto. The error lists the names that were tried.
func openLibcrypto() (*native, error) {
	var failed []error
	for _, name := range sonames {
		handle, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		lib, err := bindLibrary(handle)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", name, err))
			continue
		}
		return lib.newNative(), nil
	}
	return nil, errors.Join(failed...)
}

func bindLibrary(handle uintptr) (*libcrypto, error) {
	lib := &libcrypto{}
	for name, function := range map[string]any{
		"OpenSSL_version":       &lib.versionText,
		"d2i_AutoPrivateKey":    &lib.readKey,
		"EVP_PKEY_free":         &lib.freeKey,
		"EVP_PKEY_CTX_new":      &lib.newCtx,
		"EVP_PKEY_CTX_free":     &lib.freeCtx,
		"EVP_PKEY_sign_init":    &lib.initSign,
		"EVP_PKEY_CTX_ctrl_str": &lib.control,
		"EVP_PKEY_sign":         &lib.sign,
		"ERR_clear_error":       &lib.forget,
	} {
		symbol, err := purego.Dlsym(handle, name)
		if err != nil {
			return nil, err
		}
		purego.RegisterFunc(function, symbol)
	}
	return lib, nil
}

func (l *libcrypto) newNative() *native {
	return &native{name: l.versionText(0), load: func(der []byte) (handle, error) { return l.loadKey(der) }}
}

// opensslKey is an EVP_PKEY. OpenSSL only reads it, so many threads may sign with it concurrently.
type opensslKey struct {
	lib *libcrypto
	key uintptr
}

func (l *libcrypto) loadKey(der []byte) (*opensslKey, error) {
	// OpenSSL gets the address of a pointer to the bytes: neither may move.
	var pin runtime.Pinner
	defer pin.Unpin()
	start := new(unsafe.Pointer)
	*start = unsafe.Pointer(unsafe.SliceData(der)) //nolint:gosec // pinned until the return
	pin.Pin(*start)
	pin.Pin(start)
	key := l.readKey(0, start, len(der))
	if key == 0 {
		l.forgetErrors()
		return nil, errors.New("libcrypto cannot read the key")
	}
	l.held.Add(1)
	k := &opensslKey{lib: l, key: key}
	runtime.AddCleanup(k, func(key uintptr) {
		l.freeKey(key)
		l.held.Add(-1)
	}, key)
	return k, nil
}

// signDigest returns the PKCS #1 v1.5 signature, size bytes, of a SHA-256 digest.
func (k *opensslKey) signDigest(digest []byte, size int) ([]byte, error) {
	defer runtime.KeepAlive(k) // otherwise the key could be freed during the call
	signature, err := k.lib.signWith(k.key, digest, size)
	if err != nil {
		k.lib.forgetErrors()
	}
	return signature, err
}

func (l *libcrypto) signWith(key uintptr, digest []byte, size int) ([]byte, error) {
	ctx := l.newCtx(key, 0)
	if ctx == 0 {
		return nil, errors.New("libcrypto has no context for the key")
	}
	defer l.freeCtx(ctx)
	if l.initSign(ctx) <= 0 || l.control(ctx, "rsa_padding_mode", "pkcs1") <= 0 ||
		l.control(ctx, "digest", "sha256") <= 0 {
		return nil, errors.New("libcrypto does not sign with PKCS #1 v1.5 and SHA-256")
	}
	signature, length := make([]byte, size), uint(size)
	if l.sign(ctx, unsafe.SliceData(signature), &length, unsafe.SliceData(digest), uint(len(digest))) <= 0 { //nolint:gosec // both outlive the call and have the lengths passed
		return nil, errors.New("libcrypto failed to sign")
	}
	if length != uint(size) {
		return nil, fmt.Errorf("libcrypto made a signature of %d bytes, want %d", length, size)
	}
	return signature, nil
}

// forgetErrors empties the error queue of the current thread. Queues of other threads are harmless: nothing
// reads them, and OpenSSL limits their size.
func (l *libcrypto) forgetErrors() { l.forget() }
