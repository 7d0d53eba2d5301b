package webhooks

import (
	"context"

	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/bus"
)

// endpointsChannel is woken when an endpoint is created or enabled.
const endpointsChannel = "webhook_endpoints"

// newInterest tracks how many enabled endpoints each account has.
func newInterest(d *db.DB, signals Signals) *bus.Interest {
	type owner struct {
		account   string
		endpoints int
	}
	return bus.NewInterest("webhooks", endpointsChannel, signals, func(ctx context.Context) (map[string]int, error) {
		list, err := db.All(ctx, d.SQL, func(o *owner) []any { return []any{&o.account, &o.endpoints} },
			`SELECT account_id, count(*) FROM webhooks WHERE enabled GROUP BY 1`)
		accounts := make(map[string]int, len(list))
		for _, o := range list {
			accounts[o.account] = o.endpoints
		}
		return accounts, err
	})
}
