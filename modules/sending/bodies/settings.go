package bodies

import (
	"errors"
	"time"

	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/storage/blob"
)

// SentAfter is the age at which the body of an email moves; zero: never.
var SentAfter = setting.Declare(setting.Setting[time.Duration]{
	Name: "POSTRIDER_BLOBS_SENT_AFTER", Group: blob.Chapter, Form: setting.Duration(leastAge, 400*24*time.Hour),
	DefaultText: "never (bodies stay in the database)",
	Help:        "Age at which the bodies and attachments of sent emails move to POSTRIDER_BLOBS, such as 1h. Emails with pending deliveries stay. Every process must use the same store; versions without this setting cannot read moved bodies.",
	Check: func(v setting.Values, after time.Duration) error {
		if after > 0 && blob.StoreURL.Get(v).Bucket == "" {
			return errors.New("requires POSTRIDER_BLOBS")
		}
		return nil
	},
})

// leastAge exceeds the duration of a transaction that accepts an email. Otherwise the walk could pass the id of
// an email before the email is committed, and miss it.
const leastAge = 10 * time.Second

// Config configures the moves.
type Config struct {
	After      time.Duration // age at which bodies move; 0: never
	AcceptOnly bool          // this process neither moves nor deletes
}

// ConfigOf returns the Config from the installation's settings.
func ConfigOf(v setting.Values) Config {
	return Config{After: SentAfter.Get(v), AcceptOnly: config.DeliveryConcurrency.Get(v) == 0}
}
