package post

import "context"

// CheckURL returns why the URL of an endpoint is not allowed, or "".
func (p *Poster) CheckURL(ctx context.Context, text string) string {
	return p.targets.Problem(ctx, text)
}
