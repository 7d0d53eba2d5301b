package dnsx

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/miekg/dns"
)

const resolvConf = "/etc/resolv.conf"

func withDefaults(cfg Config) Config {
	if cfg.Timeout <= 0 {
		cfg.Timeout = 3 * time.Second
	}
	if cfg.Rounds <= 0 {
		cfg.Rounds = 2
	}
	if cfg.MaxTTL <= 0 {
		cfg.MaxTTL = 15 * time.Minute
	}
	if cfg.MaxNegative <= 0 {
		cfg.MaxNegative = 2 * time.Minute
	}
	if cfg.CacheSize <= 0 {
		cfg.CacheSize = 20_000
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return cfg
}

func serversOf(setting string) ([]string, error) {
	if setting != "" {
		return oneServer(setting)
	}
	conf, err := dns.ClientConfigFromFile(resolvConf)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(conf.Servers) == 0 {
		return []string{"127.0.0.1:53", "[::1]:53"}, nil // as resolv.conf(5) says
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", resolvConf, err)
	}
	servers := make([]string, 0, len(conf.Servers))
	for _, s := range conf.Servers {
		servers = append(servers, net.JoinHostPort(s, conf.Port))
	}
	return servers, nil
}

// oneServer accepts IP addresses only: a host name would itself need a resolver.
func oneServer(setting string) ([]string, error) {
	if addr, err := netip.ParseAddr(setting); err == nil {
		return []string{netip.AddrPortFrom(addr, 53).String()}, nil
	}
	if _, err := netip.ParseAddrPort(setting); err != nil {
		return nil, fmt.Errorf("dns server %q: want an address or address:port such as 127.0.0.1:53", setting)
	}
	return []string{setting}, nil
}

func allLoopback(servers []string) bool {
	for _, s := range servers {
		addr, err := netip.ParseAddrPort(s)
		if err != nil || !addr.Addr().IsLoopback() {
			return false
		}
	}
	return len(servers) > 0
}
