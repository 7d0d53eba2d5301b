package post

import "context"

// CheckURL returns why an endpoint may not have this URL, or "" if it may.
func (p *Poster) CheckURL(ctx context.Context, text string) string {
	return p.targets.Problem(ctx, text)
}
