package billing

import (
	"context"

	"github.com/postrider/postrider/runtime/storage/db"
)

// PublishUsage publishes the events about usage that are due.
func PublishUsage(ctx context.Context, d *db.DB, p Publisher) error {
	return (&usageEvents{d, p}).Run(ctx)
}
