package sending

import (
	"context"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/clock"
)

// Preview validates a message as Send does and returns what Send would store, but stores nothing. It checks
// neither suppression nor caps. Errors: Invalid with all invalid fields, Forbidden by the policy.
func (s *Service) Preview(ctx context.Context, caller accounts.Caller, m Message) (Preview, error) {
	a, err := s.prepare(ctx, caller, m, clock.Now())
	if err != nil {
		return Preview{}, err
	}
	return previewOf(a.email), nil
}
