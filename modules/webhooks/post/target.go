package post

import "context"

// Refusal returns why the URL of an endpoint is not allowed, or "".
func (p *Poster) Refusal(ctx context.Context, text string) string {
	return p.targets.Problem(ctx, text)
}
