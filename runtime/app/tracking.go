package app

import (
	"context"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/modules/tracking"
	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/storage/db"
)

// trackedLinks are the links that tracking serves, and its dependencies on a module that itself depends on
// tracking.
var trackedLinks = fx.Options(
	fx.Provide(certificatesOf, newAnnouncer),
	provideLinks(newTrackedLinks),
)

// newAnnouncer returns nil if nothing is sent.
func newAnnouncer(near module.Optional[records.Service]) tracking.Announcer {
	if near.Service == nil {
		return nil
	}
	return announcer{near.Service}
}

// announcer reports opens and clicks along with the data of the email, which it reads from the records.
type announcer struct{ records *records.Service }

func (a announcer) Announce(ctx context.Context, tx db.Execer, seen []tracking.Announcement) (int, error) {
	notices := make([]records.Notice, len(seen))
	for i, s := range seen {
		notices[i] = records.Notice{AccountID: s.AccountID, EmailID: s.EmailID, Type: s.Type, Fill: s.Fill}
	}
	return a.records.Announce(ctx, tx, notices...)
}
