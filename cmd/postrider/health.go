package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/ops/config"
)

// healthTimeout is longer than /readyz may take.
const healthTimeout = 4 * time.Second

type healthCommand struct {
	settingFlags `settings:"POSTRIDER_CONFIG,POSTRIDER_HTTP_ADDR"`

	Live bool `help:"Report only whether it runs, as GET /healthz does."`
}

func (c *healthCommand) Run(s *session) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(config.HTTPAddr.Of(cfg))
	if err != nil {
		return err
	}
	if addr, err := netip.ParseAddr(host); host == "" || err == nil && addr.IsUnspecified() {
		host = "localhost" // the service listens on all addresses
	}
	path := "/readyz"
	if c.Live {
		path = "/healthz"
	}
	ctx, cancel := context.WithTimeout(s.ctx, healthTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+path, nil)
	if err != nil {
		return err
	}
	client := http.Client{Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("the service does not respond: %w", err)
	}
	defer response.Body.Close() //nolint:errcheck // nothing was written
	body, err := io.ReadAll(io.LimitReader(response.Body, 64<<10))
	if err != nil {
		return fmt.Errorf("the service does not respond: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %s", path, response.Status, strings.TrimSpace(string(body)))
	}
	_, err = s.out.Write(body)
	return err
}
