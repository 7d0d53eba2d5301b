// Package blob keeps octets in an object store that speaks S3, by key.
//
// Put returns nil only when the store has confirmed what it holds: the octets travel
// with their MD5 and a signature over their SHA-256, and the store's entity tag must be
// that MD5 (stores that encrypt have other tags; there the object is read back and
// compared). After an error nothing is known: the object may be there or not, and Put
// may be called again. Octets under a key are replaced as a whole.
//
// Delete of what is not there is no error. Get distinguishes what is not there
// (ErrNotFound) from a store that cannot say: a bucket that is missing, a key that is
// refused and a network that is away are other errors, so that nobody takes an outage
// for a loss.
package blob

import (
	"context"
	"errors"
	"io"
)

// Store is where blobs are kept.
type Store interface {
	// Put stores the first size octets of data, which it reads more than once.
	Put(ctx context.Context, key string, data io.ReaderAt, size int64) error
	// Get reads the whole object; the caller closes it. An object that ends early is an
	// error of Read.
	Get(ctx context.Context, key string) (io.ReadCloser, error)
	Delete(ctx context.Context, key string) error
	// Check asks whether the bucket is there and lets these credentials in.
	Check(ctx context.Context) error
}

// ErrNotFound says that the store has no object of that key.
var ErrNotFound = errors.New("no such object")
