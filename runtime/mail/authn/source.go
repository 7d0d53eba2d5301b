package authn

import (
	"context"
	"fmt"
	"net"
	"net/netip"

	"github.com/mjl-/mox/dns"

	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/mail/spf"
)

// source is a resolver in the form that SPF needs.
type source struct{ dns.Resolver }

var _ spf.Source = source{}

func (s source) LookupTXT(ctx context.Context, name string) ([]string, error) {
	values, _, err := s.Resolver.LookupTXT(ctx, absolute(name))
	return values, missing(err)
}

func (s source) LookupMX(ctx context.Context, name string) ([]*net.MX, error) {
	hosts, _, err := s.Resolver.LookupMX(ctx, absolute(name))
	return hosts, missing(err)
}

func (s source) LookupIP(ctx context.Context, name string) ([]netip.Addr, error) {
	found, _, err := s.Resolver.LookupIP(ctx, "ip", absolute(name))
	addrs := make([]netip.Addr, 0, len(found))
	for _, ip := range found {
		if addr, ok := netip.AddrFromSlice(ip); ok {
			addrs = append(addrs, addr)
		}
	}
	return addrs, missing(err)
}

func (s source) LookupAddr(ctx context.Context, addr string) ([]string, error) {
	names, _, err := s.Resolver.LookupAddr(ctx, addr)
	return names, missing(err)
}

// absolute ends with a dot, so that no search list is tried.
func absolute(name string) string {
	if len(name) > 0 && name[len(name)-1] == '.' {
		return name
	}
	return name + "."
}

// missing says in the words of our resolver that a name is not there.
func missing(err error) error {
	if dns.IsNotFound(err) {
		return fmt.Errorf("%w: %w", dnsx.ErrNotFound, err)
	}
	return err
}
