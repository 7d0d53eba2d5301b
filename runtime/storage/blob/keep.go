package blob

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
)

// Keeper is what Keep needs of a store.
type Keeper interface {
	Put(ctx context.Context, key string, data io.ReaderAt, size int64) error
	Get(ctx context.Context, key string) (io.ReadCloser, error)
}

// Keep puts an object and reads it back. After nil the store gives what was sent, and whoever
// has the octets elsewhere may delete them there. An error says nothing about the object.
func Keep(ctx context.Context, in Keeper, key string, data io.ReaderAt, size int64) error {
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
		return fmt.Errorf("read back: %d octets that are not the %d that were sent", n, size)
	}
	return nil
}
