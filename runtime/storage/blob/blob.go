// Package blob stores objects in an S3-compatible object store, by key.
//
// Put returns nil only if the store has confirmed its content: the bytes are sent with their MD5 and a
// signature over their SHA-256, and the entity tag must be that MD5 (stores that encrypt have other tags;
// there the object is read back and compared). After an error the state is unknown: the object may exist or
// not, and Put may be called again. An existing object is replaced as a whole.
//
// Delete of a missing object is not an error. Get distinguishes a missing object (ErrNotFound) from a failing
// store: a missing bucket, rejected credentials and network failures are other errors, so that an outage is
// never mistaken for data loss.
package blob

import (
	"context"
	"errors"
	"io"
)

// Store is an object store.
type Store interface {
	// Put stores the first size bytes of data, which it reads more than once.
	Put(ctx context.Context, key string, data io.ReaderAt, size int64) error
	// Get opens an object for reading; the caller must close it. If the object ends early, Read returns an
	// error.
	Get(ctx context.Context, key string) (io.ReadCloser, error)
	Delete(ctx context.Context, key string) error
	// Check reports whether the bucket exists and accepts the credentials.
	Check(ctx context.Context) error
}

// ErrNotFound is returned if the store has no object with the key.
var ErrNotFound = errors.New("no such object")
