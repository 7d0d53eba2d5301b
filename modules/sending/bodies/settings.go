package bodies

import (
	"errors"
	"time"

	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/storage/blob"
)

// SentAfter is how old an email is when its body moves; zero: it stays in the database.
var SentAfter = setting.Declare(setting.Setting[time.Duration]{
	Name: "POSTRIDER_BLOBS_SENT_AFTER", Group: blob.Chapter, Form: setting.Duration(leastAge, 400*24*time.Hour), DefaultText: "never: they stay in the database",
	Help: "Move the bodies and files of sent emails to POSTRIDER_BLOBS as well, once nothing of the email waits and it is so old, as 1h. Every process needs the same store to read them, and the version before cannot.",
	Check: func(v setting.Values, after time.Duration) error {
		if after > 0 && blob.At.Of(v).Bucket == "" {
			return errors.New("is given without POSTRIDER_BLOBS")
		}
		return nil
	},
})

// leastAge is more than a transaction that accepts an email takes. The walk would pass an email
// whose commit comes later than itself, and never look at it again.
const leastAge = 10 * time.Second

// Config of the moves.
type Config struct {
	After      time.Duration // age from which on bodies move; 0: never
	AcceptOnly bool          // this process moves and deletes nothing
}

// ConfigOf takes what the room needs from the installation's configuration.
func ConfigOf(v setting.Values) Config {
	return Config{After: SentAfter.Of(v), AcceptOnly: config.DeliveryConcurrency.Of(v) == 0}
}
