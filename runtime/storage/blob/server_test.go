package blob_test

import (
	"testing"

	"github.com/postrider/postrider/runtime/storage/blob"
	"github.com/postrider/postrider/runtime/storage/blob/blobtest"
)

// bucket returns a client of the store.
func bucket(t *testing.T, s *blobtest.Server, change func(*blob.Config)) *blob.Bucket {
	t.Helper()
	cfg := s.Config()
	if change != nil {
		change(&cfg)
	}
	b, err := blob.S3(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
