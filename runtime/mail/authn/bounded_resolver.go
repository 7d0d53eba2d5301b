package authn

import (
	"context"
	"slices"

	"github.com/mjl-/adns"
	"github.com/mjl-/mox/dns"
)

// Bounds on the DNS data of a sender.
const (
	maxNames = 10      // reverse names that are resolved, as in RFC 7208 section 5.5
	maxTXT   = 4 << 10 // bytes of a record: enough for a key of 16,384 bits
)

// boundedResolver is a resolver that limits the size of its answers.
type boundedResolver struct{ dns.Resolver }

func (b boundedResolver) LookupAddr(ctx context.Context, addr string) ([]string, adns.Result, error) {
	names, result, err := b.Resolver.LookupAddr(ctx, addr)
	return names[:min(len(names), maxNames)], result, err
}

func (b boundedResolver) LookupTXT(ctx context.Context, name string) ([]string, adns.Result, error) {
	records, result, err := b.Resolver.LookupTXT(ctx, name)
	modest := slices.DeleteFunc(slices.Clone(records), func(s string) bool { return len(s) > maxTXT })
	if err == nil && len(modest) == 0 {
		err = &adns.DNSError{Err: "records are too long", Name: name, IsNotFound: true}
	}
	return modest, result, err
}
