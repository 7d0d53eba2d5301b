package post

import "context"

// Refusal returns what is wrong with the URL of an endpoint and with where it leads, or "".
func (p *Poster) Refusal(ctx context.Context, text string) string {
	return p.targets.Problem(ctx, text)
}
