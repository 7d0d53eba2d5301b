package blob

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
)

// PutGetter is the part of a store that PutVerified needs.
type PutGetter interface {
	Put(ctx context.Context, key string, data io.ReaderAt, size int64) error
	Get(ctx context.Context, key string) (io.ReadCloser, error)
}

// PutVerified stores an object and reads it back. If it returns nil, the store has returned exactly the bytes
// sent, so other copies may be deleted. After an error the state of the object is unknown.
func PutVerified(ctx context.Context, in PutGetter, key string, data io.ReaderAt, size int64) error {
	if err := in.Put(ctx, key, data, size); err != nil {
		return err
	}
	object, err := in.Get(ctx, key)
	if err != nil {
		return fmt.Errorf("read back: %w", err)
	}
	stored, sent := sha256.New(), sha256.New()
	n, err := io.Copy(stored, io.LimitReader(object, size+1))
	if err = errors.Join(err, object.Close()); err == nil {
		_, err = io.Copy(sent, io.NewSectionReader(data, 0, size))
	}
	if err != nil {
		return fmt.Errorf("read back: %w", err)
	}
	if n != size || !bytes.Equal(stored.Sum(nil), sent.Sum(nil)) {
		return fmt.Errorf("read back: got %d bytes that differ from the %d that were sent", n, size)
	}
	return nil
}
