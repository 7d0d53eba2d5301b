package graph

import (
	"context"

	"github.com/postrider/postrider/modules/notes"
)

// Notes reads notes.
type Notes interface {
	List(ctx context.Context, accountID string) ([]string, error)
}

var _ Notes = (*notes.Service)(nil)
